// SIMD lanes: kLanes<T> rows side by side. Included inside the namespace of one instruction set.

#if defined(__GNUC__)
#define MERCER_BUILTIN(function) __builtin_##function
#define MERCER_RESTRICT __restrict__
#define MERCER_PREFETCH(address) __builtin_prefetch(address)
#else
#define MERCER_BUILTIN(function) function
#define MERCER_RESTRICT __restrict
#define MERCER_PREFETCH(address) static_cast<void>(address)
#endif

#if defined(__GNUC__) && !defined(MERCER_PLAIN_LANES)
#define MERCER_INLINE inline __attribute__((always_inline))
// Arrays of lanes live in registers only once every loop over them is unrolled.
#if defined(__clang__)
#define MERCER_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MERCER_UNROLL _Pragma("GCC unroll 16")
#endif

template <class T>
struct LanesOf {
    typedef T type __attribute__((vector_size(MERCER_LANE_BYTES)));
};

#else  // a compiler without vector extensions: arrays that it may or may not vectorise
#if defined(_MSC_VER)
#define MERCER_INLINE __forceinline
#else
#define MERCER_INLINE inline
#endif
#define MERCER_UNROLL

template <class T>
struct LanesOf {
    struct type {
        T lane[MERCER_LANE_BYTES / sizeof(T)];
        T& operator[](int64_t i) { return lane[i]; }
        T operator[](int64_t i) const { return lane[i]; }

#define MERCER_LANEWISE(op)                                                                              \
    friend type operator op(const type& a, const type& b) {                                              \
        type c;                                                                                          \
        for (unsigned i = 0; i < MERCER_LANE_BYTES / sizeof(T); ++i) c.lane[i] = a.lane[i] op b.lane[i]; \
        return c;                                                                                        \
    }                                                                                                    \
    friend type operator op(const type& a, T b) {                                                        \
        type c;                                                                                          \
        for (unsigned i = 0; i < MERCER_LANE_BYTES / sizeof(T); ++i) c.lane[i] = a.lane[i] op b;         \
        return c;                                                                                        \
    }
        MERCER_LANEWISE(+)
        MERCER_LANEWISE(-)
        MERCER_LANEWISE(*)
#undef MERCER_LANEWISE
        type operator-() const { return *this * T(-1); }
    };
};
#endif

template <class T>
using Lanes = typename LanesOf<T>::type;

template <class T>
constexpr int64_t kLanes = MERCER_LANE_BYTES / sizeof(T);

template <class T>
MERCER_INLINE Lanes<T> load(const T* p) {
    Lanes<T> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

template <class T>
MERCER_INLINE void store(T* p, const Lanes<T>& v) {
    std::memcpy(p, &v, sizeof v);
}

// a < b ? x : y, lane by lane
template <class T>
MERCER_INLINE Lanes<T> where_less(const Lanes<T>& a, const Lanes<T>& b, const Lanes<T>& x, const Lanes<T>& y) {
#if defined(__GNUC__) && !defined(MERCER_PLAIN_LANES)
    return a < b ? x : y;
#else
    Lanes<T> chosen;
    for (int64_t i = 0; i < kLanes<T>; ++i) chosen[i] = a[i] < b[i] ? x[i] : y[i];
    return chosen;
#endif
}

template <class T>
MERCER_INLINE Lanes<T> all_lanes(T value) {
    return Lanes<T>{} + value;
}

template <class T>
struct Complex {
    Lanes<T> re, im;
};

// A complex element of a buffer is kLanes real parts followed by kLanes imaginary parts.
template <class T>
MERCER_INLINE Complex<T> load_complex(const T* buffer, int64_t element) {
    const T* p = buffer + element * 2 * kLanes<T>;
    return {load<T>(p), load<T>(p + kLanes<T>)};
}

template <class T>
MERCER_INLINE void store_complex(T* buffer, int64_t element, const Complex<T>& z) {
    T* p = buffer + element * 2 * kLanes<T>;
    store<T>(p, z.re);
    store<T>(p + kLanes<T>, z.im);
}

template <class T>
MERCER_INLINE Complex<T> add(const Complex<T>& a, const Complex<T>& b) {
    return {a.re + b.re, a.im + b.im};
}

template <class T>
MERCER_INLINE Complex<T> subtract(const Complex<T>& a, const Complex<T>& b) {
    return {a.re - b.re, a.im - b.im};
}

template <class T>
MERCER_INLINE Complex<T> multiply(const Complex<T>& a, const Complex<T>& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// a * (cosine + i sine), the same factor in every lane.
template <class T>
MERCER_INLINE Complex<T> rotate(const Complex<T>& a, T cosine, T sine) {
    return {a.re * cosine - a.im * sine, a.im * cosine + a.re * sine};
}

template <class T>
MERCER_INLINE Complex<T> conjugate(const Complex<T>& a) {
    return {a.re, -a.im};
}

template <class T>
MERCER_INLINE Complex<T> times_minus_i(const Complex<T>& a) {
    return {a.im, -a.re};
}
