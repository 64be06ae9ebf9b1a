#define MERCER_LEVEL level_plain
#define MERCER_LEVEL_NAME "plain"
#define MERCER_LANE_BYTES 16
#include "level.hpp"
