// Sums of slopes and weights of rows: integers, and vectors of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mercer {
namespace symmetric_tree {

// A power of two that makes numbers of at most `largest` integers whose sums over n rows are below 2^31.
inline double integer_unit(double largest, int64_t n) {
    if (!(largest > 0)) return 1.0;
    return std::ldexp(1.0, std::min(29 - std::ilogb(largest * static_cast<double>(n)), 1000));
}

// The nearest integer, the even one of two, of a number below 2^31: the sum with 1.5 2^52 has it in its low bits.
inline int32_t nearest(double x) {
    const double shifted = x + 6755399441055744.0;
    int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return static_cast<int32_t>(bits);
}

// A slope and a weight; four sums of several targets, and their squares: vectors, where the compiler has them.
#if defined(__GNUC__) && !defined(MERCER_PLAIN_LANES)
typedef int32_t Pair __attribute__((vector_size(8)));
typedef int32_t Four __attribute__((vector_size(16)));
typedef float FourFloats __attribute__((vector_size(16)));

inline FourFloats squares(const Four& sums) {
    const FourFloats numbers = __builtin_convertvector(sums, FourFloats);
    return numbers * numbers;
}
#else
template <class T, int N>
struct Lanes {
    T lane[N];
    T operator[](int l) const { return lane[l]; }
    template <class Operation>
    Lanes with(const Lanes& other, Operation operation) const {
        Lanes out;
        for (int l = 0; l < N; ++l) out.lane[l] = operation(lane[l], other.lane[l]);
        return out;
    }
    Lanes operator+(const Lanes& other) const { return with(other, [](T a, T b) { return a + b; }); }
    Lanes operator-(const Lanes& other) const { return with(other, [](T a, T b) { return a - b; }); }
    Lanes operator*(const Lanes& other) const { return with(other, [](T a, T b) { return a * b; }); }
};
typedef Lanes<int32_t, 2> Pair;
typedef Lanes<int32_t, 4> Four;
typedef Lanes<float, 4> FourFloats;

inline FourFloats squares(const Four& sums) {
    FourFloats out;
    for (int l = 0; l < 4; ++l) out.lane[l] = static_cast<float>(sums[l]) * static_cast<float>(sums[l]);
    return out;
}
#endif

template <class Vector, class T>
Vector loaded(const T* numbers) {
    Vector vector;
    std::memcpy(&vector, numbers, sizeof vector);
    return vector;
}

template <class Vector>
void add(int32_t* target, const Vector& sums) {
    const Vector total = loaded<Vector>(target) + sums;
    std::memcpy(target, &total, sizeof total);
}

inline float total(const FourFloats& four) { return (four[0] + four[1]) + (four[2] + four[3]); }

}  // namespace symmetric_tree
}  // namespace mercer
