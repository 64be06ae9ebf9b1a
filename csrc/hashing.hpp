// Hashes of keys: integers alone, so that every core gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "types.hpp"

#if defined(_MSC_VER) && !defined(__SIZEOF_INT128__)
#include <intrin.h>
#endif

namespace mercer {

constexpr uint64_t kPrime = (uint64_t(1) << 61) - 1;

// The high and the low half of a product of 64-bit numbers.
inline uint64_t multiply(uint64_t a, uint64_t b, uint64_t& high) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    high = static_cast<uint64_t>(product >> 64);
    return static_cast<uint64_t>(product);
#elif defined(_MSC_VER) && defined(_M_X64)
    return _umul128(a, b, &high);
#else
    const uint64_t a0 = a & 0xFFFFFFFF, a1 = a >> 32, b0 = b & 0xFFFFFFFF, b1 = b >> 32;
    const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xFFFFFFFF);
    high = a1 * b1 + (middle >> 32) + (other >> 32);
    return (other << 32) | (low & 0xFFFFFFFF);
#endif
}

// Without a branch, whose outcome would be a coin.
inline uint64_t reduced(uint64_t a) { return a - (kPrime & (uint64_t(0) - uint64_t(a >= kPrime))); }

// a * b mod 2^61 - 1, for a and b of at most 61 bits.
inline uint64_t times_mod(uint64_t a, uint64_t b) {
    uint64_t high;
    const uint64_t low = multiply(a, b, high);
    return reduced((low & kPrime) + ((low >> 61) | (high << 3)));
}

inline uint64_t plus_mod(uint64_t a, uint64_t b) { return reduced(a + b); }
inline uint64_t minus_mod(uint64_t a, uint64_t b) { return a >= b ? a - b : a + kPrime - b; }

// Full avalanche (the finaliser of SplitMix64; Steele, Lea and Flood, 2014): sums of mixed labels tell multisets apart.
inline uint64_t mixed64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// A hash of an ordered pair.
inline uint64_t joined(uint64_t a, uint64_t b) { return mixed64(a * 0x9E3779B97F4A7C15u + mixed64(b)); }

inline uint64_t as_key(uint64_t hash) { return hash >> 3; }

// Bucket and sign of a key: a polynomial of degree 3 with drawn coefficients is 4-wise independent.
struct KeyHash : KeyPolynomial {
    // The key is taken times 8, so that the upper half of a product is its part above 2^61. Sums stay below 7 * 2^61 from
    // step to step: one reduction at the end is enough.
    uint64_t value(uint64_t key) const {
        key = reduced(key) << 3;
        uint64_t h = coefficients[3];
        for (int i = 2; i >= 0; --i) {
            uint64_t high;
            const uint64_t low = multiply(h, key, high);
            h = (low >> 3) + high + coefficients[i];
        }
        return reduced((h & kPrime) + (h >> 61));
    }
    // The bucket of a value, from its upper 60 bits; its lowest bit is the sign.
    int64_t bucket(uint64_t value) const {
        uint64_t high;
        multiply(value >> 1, n_buckets << 4, high);
        return static_cast<int64_t>(high);
    }
};

// A weight whose sign changes where the highest bit of `sign` is set, without a branch.
inline double with_sign(double weight, uint64_t sign) {
    uint64_t bits;
    std::memcpy(&bits, &weight, sizeof bits);
    bits ^= sign;
    std::memcpy(&weight, &bits, sizeof bits);
    return weight;
}

// A weight with the sign that the lowest bit of a value stands for.
inline double signed_by(uint64_t value, double weight) { return with_sign(weight, ~value << 63); }

}  // namespace mercer
