// Keys of the substrings, masked windows and placed substrings of strings and of sequences of tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "hashing.hpp"
#include "types.hpp"

namespace mercer {

// Substrings of `least` to `longest` letters. Packed where a letter takes `bits` > 0 bits, which is injective; else
// polynomials in `base` mod 2^61 - 1. With `placed` the place of a substring is part of its key.
struct Substrings {
    int64_t least, longest;
    int bits;
    uint64_t base;
    bool placed;
};

inline uint64_t placed_key(uint64_t key, int64_t place, bool placed) {
    return placed ? as_key(joined(key, static_cast<uint64_t>(place))) : key;
}

// Writes keys and, unless null, lengths of all substrings; returns their number. `kSteps` is the number of lengths, where
// it is known beforehand: the loop over them is then unrolled.
template <int kSteps>
int64_t packed_keys(const Text& text, const Substrings& parts, int64_t* pointers, uint64_t* keys, uint8_t* lengths) {
    std::vector<uint64_t> ends;  // a 1 above the letters marks the length
    for (int64_t j = parts.least; j <= parts.longest; ++j) ends.push_back(uint64_t(1) << (parts.bits * j));
    const bool plain = !lengths && !parts.placed;
    int64_t n = pointers[0] = 0;
    for (int64_t i = 0; i < text.n_strings; ++i) {
        uint64_t window = 0;
        int64_t run = 0;
        for (int64_t t = text.offsets[i]; t < text.offsets[i + 1]; ++t) {
            const uint8_t code = text.codes[text.letters[t]];
            if (code == kNoLetter) {
                run = 0;
                continue;
            }
            window = (window << parts.bits) | code;
            if (++run >= parts.longest && plain) {
                const std::size_t steps = kSteps ? kSteps : ends.size();
                for (std::size_t j = 0; j < steps; ++j) keys[n++] = (window & (ends[j] - 1)) | ends[j];
                continue;
            }
            const int64_t most = run < parts.longest ? run : parts.longest;
            for (int64_t j = parts.least; j <= most; ++j) {
                const uint64_t end = ends[static_cast<std::size_t>(j - parts.least)];
                if (lengths) lengths[n] = static_cast<uint8_t>(j);
                keys[n++] = placed_key((window & (end - 1)) | end, t - j + 1 - text.offsets[i], parts.placed);
            }
        }
        pointers[i + 1] = n;
    }
    return n;
}

inline int64_t packed_keys(const Text& text, const Substrings& parts, int64_t* pointers, uint64_t* keys,
                           uint8_t* lengths) {
    switch (parts.longest - parts.least + 1) {
        case 1: return packed_keys<1>(text, parts, pointers, keys, lengths);
        case 2: return packed_keys<2>(text, parts, pointers, keys, lengths);
        case 3: return packed_keys<3>(text, parts, pointers, keys, lengths);
        default: return packed_keys<0>(text, parts, pointers, keys, lengths);
    }
}

// The same by polynomials: H_t = H_(t-1) base + c_t, and a window of j letters is H_t - H_(t-j) base^j. Letters are
// numbers above 0; `letter(t)` is 0 where a window ends.
template <class Letter>
int64_t polynomial_keys(const int64_t* offsets, int64_t n_strings, const Letter& letter, const Substrings& parts,
                        int64_t* pointers, uint64_t* keys, uint8_t* lengths) {
    std::vector<uint64_t> powers(static_cast<std::size_t>(parts.longest) + 1, 1), prefix;
    for (std::size_t j = 1; j < powers.size(); ++j) powers[j] = times_mod(powers[j - 1], parts.base);
    int64_t n = pointers[0] = 0;
    for (int64_t i = 0; i < n_strings; ++i) {
        prefix.assign(1, 0);
        int64_t run = 0;
        for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t) {
            const uint64_t code = letter(t);
            prefix.push_back(plus_mod(times_mod(prefix.back(), parts.base), code));
            run = code ? run + 1 : 0;
            const int64_t most = run < parts.longest ? run : parts.longest, here = t - offsets[i] + 1;
            for (int64_t j = parts.least; j <= most; ++j) {
                const uint64_t before = prefix[static_cast<std::size_t>(here - j)];
                const uint64_t key = minus_mod(prefix.back(), times_mod(before, powers[static_cast<std::size_t>(j)]));
                if (lengths) lengths[n] = static_cast<uint8_t>(j < 255 ? j : 255);
                keys[n++] = placed_key(key, here - j, parts.placed);
            }
        }
        pointers[i + 1] = n;
    }
    return n;
}

// Windows of `length` letters, each seen through masks of kept places (n_masks, n_kept). With `complement` (of codes)
// the reverse complements of the windows count too.
struct Masks {
    const int32_t* places;
    int64_t n_masks, n_kept, length;
    int bits;  // > 0: window and mask are packed into one key
    uint64_t base;
    const uint8_t* complement;
};

// Windows and masks of few bits: a letter moves the packed window, and its reverse complement, by one place.
inline int64_t packed_masked_keys(const Text& text, const Masks& masks, int64_t* pointers, uint64_t* keys) {
    const uint64_t letter = (uint64_t(1) << masks.bits) - 1, whole = (uint64_t(1) << (masks.bits * masks.length)) - 1;
    std::vector<uint64_t> kept(static_cast<std::size_t>(masks.n_masks), 0), numbers(kept.size());
    for (int64_t m = 0; m < masks.n_masks; ++m) {
        numbers[static_cast<std::size_t>(m)] = static_cast<uint64_t>(m + 1) << (masks.bits * masks.length);
        for (int64_t k = 0; k < masks.n_kept; ++k) {
            const int64_t place = masks.length - 1 - masks.places[m * masks.n_kept + k];
            kept[static_cast<std::size_t>(m)] |= letter << (masks.bits * place);
        }
    }
    const int top = static_cast<int>(masks.bits * (masks.length - 1));
    int64_t n = pointers[0] = 0;
    const auto write = [&](uint64_t window) {
        for (std::size_t m = 0; m < kept.size(); ++m) keys[n + static_cast<int64_t>(m)] = (window & kept[m]) | numbers[m];
        n += masks.n_masks;
    };
    for (int64_t i = 0; i < text.n_strings; ++i) {
        uint64_t window = 0, turned = 0;
        int64_t run = 0;
        for (int64_t t = text.offsets[i]; t < text.offsets[i + 1]; ++t) {
            const uint8_t code = text.codes[text.letters[t]];
            if (code == kNoLetter) {
                run = 0;
                continue;
            }
            window = ((window << masks.bits) | code) & whole;
            if (masks.complement) turned = (turned >> masks.bits) | (uint64_t(masks.complement[code]) << top);
            if (++run < masks.length) continue;
            write(window);
            if (masks.complement) write(turned);
        }
        pointers[i + 1] = n;
    }
    return n;
}

inline int64_t masked_keys(const Text& text, const Masks& masks, int64_t* pointers, uint64_t* keys) {
    if (masks.bits) return packed_masked_keys(text, masks, pointers, keys);
    const auto length = static_cast<std::size_t>(masks.length);
    std::vector<uint8_t> window(length), turned(length);
    int64_t n = pointers[0] = 0;
    const int strands = masks.complement ? 2 : 1;
    for (int64_t i = 0; i < text.n_strings; ++i) {
        int64_t run = 0;
        for (int64_t t = text.offsets[i]; t < text.offsets[i + 1]; ++t) {
            run = text.codes[text.letters[t]] == kNoLetter ? 0 : run + 1;
            if (run < masks.length) continue;
            for (std::size_t k = 0; k < length; ++k) {
                window[k] = text.codes[text.letters[t - masks.length + 1 + static_cast<int64_t>(k)]];
                if (strands == 2) turned[length - 1 - k] = masks.complement[window[k]];
            }
            for (int strand = 0; strand < strands; ++strand) {
                const std::vector<uint8_t>& letters = strand ? turned : window;
                for (int64_t m = 0; m < masks.n_masks; ++m) {
                    uint64_t key = static_cast<uint64_t>(m + 1);
                    for (int64_t k = 0; k < masks.n_kept; ++k) {
                        const int32_t place = masks.places[m * masks.n_kept + k];
                        key = plus_mod(times_mod(key, masks.base), uint64_t(letters[static_cast<std::size_t>(place)]) + 1);
                    }
                    keys[n++] = key;
                }
            }
        }
        pointers[i + 1] = n;
    }
    return n;
}

// Sums values[agreements] over all pairs of windows of a string with itself, reverse complements included where asked.
inline void agreement_sums(const Text& text, int64_t length, const uint8_t* complement, const double* values,
                           double* out) {
    std::vector<uint8_t> codes;
    for (int64_t i = 0; i < text.n_strings; ++i) {
        const int64_t size = text.offsets[i + 1] - text.offsets[i];
        codes.resize(static_cast<std::size_t>(size));
        for (int64_t t = 0; t < size; ++t) codes[static_cast<std::size_t>(t)] = text.codes[text.letters[text.offsets[i] + t]];
        // Pairs of places t and u(t): sliding sums of agreements along each line, reset where a letter is none.
        const auto along = [&](int64_t from, int64_t to, auto at) {
            double sum = 0;
            int64_t run = 0, agreeing = 0;
            for (int64_t t = from; t < to; ++t) {
                const uint8_t a = codes[static_cast<std::size_t>(t)], b = at(t);
                if (a == kNoLetter || b == kNoLetter) {
                    run = agreeing = 0;
                    continue;
                }
                agreeing += a == b;
                if (++run > length) agreeing -= codes[static_cast<std::size_t>(t - length)] == at(t - length);
                if (run >= length) sum += values[agreeing];
            }
            return sum;
        };
        double total = 0;
        for (int64_t d = 0; d + length <= size; ++d) {
            const double sum = along(0, size - d, [&](int64_t t) { return codes[static_cast<std::size_t>(t + d)]; });
            total += d ? 2 * sum : sum;
        }
        if (complement) {
            double crossed = 0;
            for (int64_t q = length - 1; q <= 2 * size - 1 - length; ++q) {  // u(t) = q - t
                const int64_t from = q - size + 1 > 0 ? q - size + 1 : 0, to = q + 1 < size ? q + 1 : size;
                crossed += along(from, to, [&](int64_t t) {
                    const uint8_t code = codes[static_cast<std::size_t>(q - t)];
                    return code == kNoLetter ? kNoLetter : complement[code];
                });
            }
            total = 2 * (total + crossed);
        }
        out[i] = total;
    }
}

}  // namespace mercer
