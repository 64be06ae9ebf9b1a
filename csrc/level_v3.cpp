#define MERCER_LEVEL level_v3
#define MERCER_LEVEL_NAME "x86-64-v3"
#define MERCER_LANE_BYTES 32
#include "level.hpp"
