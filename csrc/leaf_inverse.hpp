// The inverse of the matrix of a leaf, by routines of BLAS and LAPACK that the caller brings.
//
// One call per leaf: threads that call each routine from Python wait for the lock of the interpreter between any two.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mercer {

template <class T>
struct LeafRoutines {
    void (*potrf)(char*, int*, T*, int*, int*);
    void (*trtri)(char*, char*, int*, T*, int*, int*);
    void (*trmm)(char*, char*, char*, char*, int*, int*, T*, T*, int*, T*, int*);
    void (*syrk)(char*, char*, int*, int*, T*, T*, int*, T*, T*, int*);
};

// A symmetric matrix S (n, n), of which the lower triangle is read, and rows B (m, n), column by column.
template <class T>
struct LeafMatrices {
    T *S, *B;
    int n, m;
    T* squares;        // (m, m), zeros
    double* diagonal;  // (n,)
};

namespace leaf_inverse {

// Triangles up to this size are inverted by LAPACK, whose own trtri goes by narrow panels (measured).
constexpr int kSmall = 64;
// Squares that a lane adds before the sum becomes a double.
constexpr int64_t kLanes = 16, kSummed = 8 * kLanes;

inline char* letter(const char& c) { return const_cast<char*>(&c); }

template <class T>
void multiply(const LeafRoutines<T>& use, char side, char trans, int rows, int columns, T factor, T* triangle,
              int n_triangle, T* B, int n_B) {
    const char lower = 'L', plain = 'N';
    use.trmm(&side, letter(lower), &trans, letter(plain), &rows, &columns, &factor, triangle, &n_triangle, B, &n_B);
}

// Halves, then -A_22^-1 A_21 A_11^-1 below the diagonal.
template <class T>
void invert(const LeafRoutines<T>& use, T* A, int size, int n) {
    if (size <= kSmall) {
        const char lower = 'L', plain = 'N';
        int info = 0;
        use.trtri(letter(lower), letter(plain), &size, A, &n, &info);
        return;
    }
    // A multiple of the width of a register: vectors begin where lines of the cache begin.
    const int half = (size + 31) / 32 * 16, rest = size - half;
    T *last = A + half + int64_t(half) * n, *below = A + half;
    invert(use, A, half, n);
    invert(use, last, rest, n);
    multiply(use, 'L', 'N', rest, half, T(-1), last, n, below, n);
    multiply(use, 'R', 'N', rest, half, T(1), A, n, below, n);
}

// The sum of the squares of some numbers: lanes of the precision T, and a double for each few of them.
template <class T>
double sum_of_squares(const T* numbers, int64_t count) {
    double total = 0;
    int64_t i = 0;
    for (; i + kLanes <= count;) {
        T lanes[kLanes] = {};
        for (const int64_t end = std::min(i + kSummed, count - kLanes + 1); i < end; i += kLanes) {
            for (int64_t l = 0; l < kLanes; ++l) lanes[l] += numbers[i + l] * numbers[i + l];
        }
        for (int64_t l = 0; l < kLanes; ++l) total += static_cast<double>(lanes[l]);
    }
    for (; i < count; ++i) total += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
    return total;
}

}  // namespace leaf_inverse

// Overwrite the lower triangle of S by the inverse of its Cholesky factor L, and B by B S^-1; write B S^-1 B', its lower
// triangle, and the diagonal of S^-1. Return whether S has a factor.
template <class T>
bool invert_leaf(const LeafRoutines<T>& use, const LeafMatrices<T>& leaf) {
    using namespace leaf_inverse;
    char lower = 'L', plain = 'N';
    int n = leaf.n, m = leaf.m, info = 0;
    use.potrf(&lower, &n, leaf.S, &n, &info);
    if (info != 0) return false;
    invert(use, leaf.S, n, n);
    for (int64_t j = 0; j < n; ++j) leaf.diagonal[j] = sum_of_squares(leaf.S + j * n + j, n - j);
    if (m == 0) return true;
    T one = 1;
    multiply(use, 'R', 'T', m, n, one, leaf.S, n, leaf.B, m);  // B L^-T
    use.syrk(&lower, &plain, &m, &n, &one, leaf.B, &m, &one, leaf.squares, &m);
    multiply(use, 'R', 'N', m, n, one, leaf.S, n, leaf.B, m);  // B S^-1
    return true;
}

}  // namespace mercer
