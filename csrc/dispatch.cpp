#include "dispatch.hpp"

#include <atomic>
#include <stdexcept>

#if defined(_MSC_VER) && defined(MERCER_X86_LEVELS)
#include <intrin.h>
#endif

namespace mercer {

#if defined(MERCER_X86_LEVELS)
namespace level_v2 {
extern const Level level;
}
namespace level_v3 {
extern const Level level;
}
#if defined(MERCER_V4_BUDGETS)
namespace level_v4 {
extern const BudgetKernels level;
}
#endif
#else
namespace level_plain {
extern const Level level;
}
#endif

namespace {

#if defined(MERCER_X86_LEVELS) && defined(_MSC_VER)
bool bit(int word, int position) { return (word >> position) & 1; }

bool has_v2() {
    int leaf[4];
    __cpuid(leaf, 1);
    return bit(leaf[2], 0) && bit(leaf[2], 9) && bit(leaf[2], 19) && bit(leaf[2], 20) && bit(leaf[2], 23);
}

// The operating system must also save the wide registers (XCR0, bits 1 and 2).
bool has_v3() {
    int leaf[4];
    __cpuid(leaf, 1);
    const bool saved = bit(leaf[2], 27) && (_xgetbv(0) & 6) == 6;
    const bool fma = bit(leaf[2], 12) && bit(leaf[2], 28);
    __cpuidex(leaf, 7, 0);
    return saved && fma && bit(leaf[1], 3) && bit(leaf[1], 5) && bit(leaf[1], 8);
}
#elif defined(MERCER_X86_LEVELS)
bool has_v2() {
    return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
           __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

bool has_v3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
#endif

#if defined(MERCER_V4_BUDGETS)
bool has_v4() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

// Wide registers for budgets of support vectors, x86-64-v3 for the rest.
const Level& level_with_wide_budgets() {
    static const Level level = [] {
        Level found = level_v3::level;
        found.name = "x86-64-v4";
        found.budget = level_v4::level;
        return found;
    }();
    return level;
}
#endif

// Ordered from the oldest to the newest.
std::vector<const Level*> supported_levels() {
    std::vector<const Level*> levels;
#if defined(MERCER_X86_LEVELS)
    if (has_v2()) levels.push_back(&level_v2::level);
    if (has_v2() && has_v3()) levels.push_back(&level_v3::level);
#if defined(MERCER_V4_BUDGETS)
    if (has_v2() && has_v3() && has_v4()) levels.push_back(&level_with_wide_budgets());
#endif
#else
    levels.push_back(&level_plain::level);
#endif
    if (levels.empty()) throw std::runtime_error("mercer._core needs a processor with at least x86-64-v2 (SSE4.2).");
    return levels;
}

std::atomic<const Level*>& selected() {
    static std::atomic<const Level*> level = supported_levels().back();
    return level;
}

}  // namespace

std::vector<std::string> level_names() {
    std::vector<std::string> names;
    for (const Level* level : supported_levels()) names.push_back(level->name);
    return names;
}

const Level& current_level() { return *selected().load(std::memory_order_relaxed); }

bool has_wider_registers() {
#if defined(MERCER_X86_LEVELS) && defined(_MSC_VER)
    int leaf[4];
    __cpuidex(leaf, 7, 0);
    return bit(leaf[1], 16);
#elif defined(MERCER_X86_LEVELS)
    return __builtin_cpu_supports("avx512f");
#else
    return true;  // unknown
#endif
}

bool use_level(const std::string& name) {
    for (const Level* level : supported_levels()) {
        if (name == level->name) {
            selected().store(level, std::memory_order_relaxed);
            return true;
        }
    }
    return false;
}

}  // namespace mercer
