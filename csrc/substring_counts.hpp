// Counts of substrings of several lengths: the counts of the longer ones give those of the shorter ones.
#pragma once

#include <cstdint>
#include <vector>

#include "key_counts.hpp"
#include "string_keys.hpp"

namespace mercer {

// Counts packed substrings of one string. Every substring is the end of a longer one, unless it begins a run of letters:
// so the distinct substrings of a length are looked up, and not all windows.
class SubstringCounts {
  public:
    SubstringCounts(const Text& text, const Substrings& parts) : text_(text), parts_(parts) {}

    // Writes the distinct substrings of string i, longest first, and returns their number.
    int64_t write(int64_t i, uint64_t* keys, double* values) {
        read_windows(i);
        int64_t from = 0, end = sums_.write(windows_.data(), n_windows_, [](int64_t) { return 1.0; }, keys, values);
        for (int64_t length = parts_.longest - 1; length >= parts_.least; --length) {
            const uint64_t mark = uint64_t(1) << (parts_.bits * length);
            const int64_t n_longer = end - from;
            for (int64_t j = 0; j < n_longer; ++j) {
                windows_[static_cast<std::size_t>(j)] = (keys[from + j] & (mark - 1)) | mark;
            }
            int64_t n = n_longer;
            for (const uint64_t key : early_) {
                windows_[static_cast<std::size_t>(n)] = key;
                n += key >> (parts_.bits * length) == 1;
            }
            const double* longer = values + from;
            from = end;
            const auto weight = [longer, n_longer](int64_t j) { return j < n_longer ? longer[j] : 1.0; };
            end += sums_.write(windows_.data(), n, weight, keys + end, values + end);
        }
        return end;
    }

  private:
    // The windows of the longest length; `early_` receives the shorter ones at the beginning of each run of letters.
    void read_windows(int64_t i) {
        const int64_t longest = parts_.longest, size = text_.offsets[i + 1] - text_.offsets[i];
        // one more than there are substrings of any length: the last place is written, and not kept
        if (windows_.size() < static_cast<std::size_t>(size) + 1) windows_.resize(static_cast<std::size_t>(size) + 1);
        const uint64_t mark = uint64_t(1) << (parts_.bits * longest);
        uint64_t window = 0;
        int64_t run = 0, n = 0;
        early_.clear();
        for (int64_t t = text_.offsets[i]; t < text_.offsets[i + 1]; ++t) {
            const uint8_t code = text_.codes[text_.letters[t]];
            if (code == kNoLetter) {
                run = 0;
                continue;
            }
            window = (window << parts_.bits) | code;
            if (++run >= longest) {
                windows_[static_cast<std::size_t>(n++)] = (window & (mark - 1)) | mark;
            } else if (run >= parts_.least) {  // all of the run so far; its shorter ends are ends of this one
                const uint64_t own = uint64_t(1) << (parts_.bits * run);
                early_.push_back((window & (own - 1)) | own);
            }
        }
        n_windows_ = n;
    }

    const Text& text_;
    const Substrings& parts_;
    KeySums sums_;
    std::vector<uint64_t> windows_, early_;
    int64_t n_windows_ = 0;
};

inline void count_substrings(const Text& text, const Substrings& parts, const CountedRows& out) {
    SubstringCounts counts(text, parts);
    int64_t end = out.pointers[0] = 0;
    for (int64_t i = 0; i < text.n_strings; ++i) {
        const int64_t start = end;
        end += counts.write(i, out.keys + end, out.values + end);
        out.squares[i] = sum_of_squares(out.values + start, end - start);
        out.pointers[i + 1] = end;
    }
}

}  // namespace mercer
