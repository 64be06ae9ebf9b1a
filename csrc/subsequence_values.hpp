// The subsequence kernel of pairs of strings, by dynamic programming.
#pragma once

#include <cstdint>
#include <vector>

#include "types.hpp"

namespace mercer {

struct SubsequencePairs {
    int64_t length;
    double decay;
    bool paired;  // string i of one side with string i of the other alone, not with all
};

// Sums over all pairs of equal subsequences decay^(span in x + span in y). Place v of y keeps, for each number j of
// letters, R_j(v) = the sum over pairs that end at or before the letters read of x and place v, each weighing
// decay^(distance from its first letters to here). All terms are positive: nothing cancels.
inline double subsequence_value(const uint8_t* x, int64_t n_x, const uint8_t* y, int64_t n_y, const uint8_t* codes,
                                const SubsequencePairs& asked, std::vector<double>& sums) {
    constexpr double kTiny = 1e-280;  // added and taken away: clears what would become subnormal, and slow
    const auto length = static_cast<std::size_t>(asked.length);
    const double decay = asked.decay, square = decay * decay;
    sums.assign((static_cast<std::size_t>(n_y) + 2) * length, 0.0);
    double* row = sums.data() + static_cast<std::size_t>(n_y) * length;
    double* before = row + length;
    double total = 0;
    for (int64_t t = 0; t < n_x; ++t) {
        const uint8_t code = codes[x[t]];
        for (std::size_t j = 0; j < length; ++j) row[j] = before[j] = 0;
        for (int64_t v = 0; v < n_y; ++v) {
            const double match = code != kNoLetter && code == codes[y[v]] ? square : 0.0;
            double* here = sums.data() + static_cast<std::size_t>(v) * length;
            total += match * (length == 1 ? 1.0 : before[length - 2]);
            for (std::size_t j = length - 1; j-- > 0;) {
                row[j] = row[j] * decay + match * (j == 0 ? 1.0 : before[j - 1]);
                before[j] = here[j];
                here[j] = (here[j] * decay + row[j] + kTiny) - kTiny;
            }
        }
    }
    return total;
}

inline void subsequence_values(const Text& left, const Text& right, const SubsequencePairs& asked,
                               const Matrix<double>& out) {
    std::vector<double> sums;
    for (int64_t i = 0; i < left.n_strings; ++i) {
        const uint8_t* x = left.letters + left.offsets[i];
        const int64_t n_x = left.offsets[i + 1] - left.offsets[i];
        for (int64_t k = 0; k < out.n_columns; ++k) {
            const int64_t j = asked.paired ? i : k;
            out.data[i * out.stride + k] = subsequence_value(x, n_x, right.letters + right.offsets[j],
                                                             right.offsets[j + 1] - right.offsets[j], left.codes, asked, sums);
        }
    }
}

}  // namespace mercer
