#define MERCER_LEVEL level_v2
#define MERCER_LEVEL_NAME "x86-64-v2"
#define MERCER_LANE_BYTES 16
#include "level.hpp"
