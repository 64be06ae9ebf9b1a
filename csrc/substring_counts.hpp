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

    // Writes the distinct substrings of string i from place `start` on, longest first, and returns the end.
    int64_t write(int64_t i, int64_t start, const CountedRows& out) {
        const int64_t size = text_.offsets[i + 1] - text_.offsets[i];
        int64_t from = start, end = start;
        for (int64_t length = parts_.longest; length >= parts_.least; --length) {
            const int64_t begin = end;
            places_.begin(begin, size);
            if (length == parts_.longest) {
                end = count_windows(i, end, out);
            } else {
                const uint64_t mark = uint64_t(1) << (parts_.bits * length);
                for (int64_t j = from; j < begin; ++j) {
                    end = add((out.keys[j] & (mark - 1)) | mark, out.values[j], end, out);
                }
                for (const uint64_t key : early_) {
                    if (key >> (parts_.bits * length) == 1) end = add(key, 1.0, end, out);
                }
            }
            from = begin;
        }
        return end;
    }

  private:
    int64_t add(uint64_t key, double number, int64_t end, const CountedRows& out) {
        const int64_t place = places_.find(key, out.keys, end);
        if (place != end) {
            out.values[place] += number;
            return end;
        }
        out.keys[end] = key;
        out.values[end] = number;
        return end + 1;
    }
    // The windows of the longest length; `early_` receives the shorter ones at the beginning of each run of letters.
    int64_t count_windows(int64_t i, int64_t end, const CountedRows& out) {
        const int64_t longest = parts_.longest;
        const uint64_t mark = uint64_t(1) << (parts_.bits * longest);
        uint64_t window = 0;
        int64_t run = 0;
        early_.clear();
        for (int64_t t = text_.offsets[i]; t < text_.offsets[i + 1]; ++t) {
            const uint8_t code = text_.codes[text_.letters[t]];
            if (code == kNoLetter) {
                run = 0;
                continue;
            }
            window = (window << parts_.bits) | code;
            if (++run >= longest) {
                end = add((window & (mark - 1)) | mark, 1.0, end, out);
            } else if (run >= parts_.least) {  // all of the run so far; its shorter ends are ends of this one
                const uint64_t own = uint64_t(1) << (parts_.bits * run);
                early_.push_back((window & (own - 1)) | own);
            }
        }
        return end;
    }

    const Text& text_;
    const Substrings& parts_;
    Places places_;
    std::vector<uint64_t> early_;
};

inline void count_substrings(const Text& text, const Substrings& parts, const CountedRows& out) {
    SubstringCounts counts(text, parts);
    int64_t end = out.pointers[0] = 0;
    for (int64_t i = 0; i < text.n_strings; ++i) {
        const int64_t start = end;
        end = counts.write(i, start, out);
        double square = 0;
        for (int64_t j = start; j < end; ++j) square += out.values[j] * out.values[j];
        out.squares[i] = square;
        out.pointers[i + 1] = end;
    }
}

}  // namespace mercer
