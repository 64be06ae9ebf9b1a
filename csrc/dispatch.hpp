// Which instruction set runs.
#pragma once

#include <string>
#include <vector>

#include "table.hpp"

namespace mercer {

// Names of the levels that this build has and this processor runs, the best one last.
std::vector<std::string> level_names();

// The level in use: the best one, unless use_level chose another.
const Level& current_level();

// Whether the processor has registers that no level here uses: another library's products may then be faster.
bool has_wider_registers();

// Returns false, and changes nothing, if `name` is not one of level_names().
bool use_level(const std::string& name);

}  // namespace mercer
