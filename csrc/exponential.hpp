// Exponentials of numbers that are not positive. Included inside the namespace of one instruction set.

template <class T>
struct ExpConstants;

// 2^23 and 2^52 times 1.5: adding one leaves the nearest integer in the low bits. ln 2 in two parts, the first with
// zeros at its end, so that its product with that integer is exact. Below `lowest` the power of two would be subnormal.
template <>
struct ExpConstants<float> {
    typedef uint32_t bits;
    static constexpr float shift = 12582912.0f, ln2 = 0.693359375f, ln2_rest = -2.12194440e-4f, lowest = -87.0f;
    static constexpr int terms = 7, bias = 127, mantissa = 23;
};

template <>
struct ExpConstants<double> {
    typedef uint64_t bits;
    static constexpr double shift = 6755399441055744.0, ln2 = 6.93147180369123816490e-01;
    static constexpr double ln2_rest = 1.90821492927058770002e-10, lowest = -708.0;
    static constexpr int terms = 13, bias = 1023, mantissa = 52;
};

constexpr double kInverseFactorials[] = {1.0,
                                         1.0,
                                         1.0 / 2,
                                         1.0 / 6,
                                         1.0 / 24,
                                         1.0 / 120,
                                         1.0 / 720,
                                         1.0 / 5040,
                                         1.0 / 40320,
                                         1.0 / 362880,
                                         1.0 / 3628800,
                                         1.0 / 39916800,
                                         1.0 / 479001600,
                                         1.0 / 6227020800};

// e^min(x, 0), 0 below `lowest`; e^r by its Taylor series, whose rest is 5e-9 and 4e-18 for |r| <= ln(2) / 2.
template <class T>
MERCER_INLINE T exp_of_negative(T x) {
    typedef ExpConstants<T> C;
    const T capped = x > T(0) ? T(0) : x, inside = capped > C::lowest ? capped : C::lowest;
    const T shifted = inside * T(1.4426950408889634074) + C::shift, n = shifted - C::shift;
    const T r = (inside - n * C::ln2) - n * C::ln2_rest;
    T p = T(kInverseFactorials[C::terms]);
    MERCER_UNROLL
    for (int k = C::terms - 1; k >= 0; --k) p = p * r + T(kInverseFactorials[k]);
    typename C::bits power;
    std::memcpy(&power, &shifted, sizeof power);
    power = (power + C::bias) << C::mantissa;
    T scale;
    std::memcpy(&scale, &power, sizeof scale);
    const T value = p * scale;
    return capped > C::lowest ? value : (capped != capped ? capped : T(0));  // NaN stays
}

#if defined(__GNUC__) && !defined(MERCER_PLAIN_LANES)
// The same in lanes: compilers keep the scalar function's last choice as a jump.
template <class T>
MERCER_INLINE Lanes<T> exp_of_negative_lanes(const Lanes<T>& x) {
    typedef ExpConstants<T> C;
    typedef typename C::bits Bits __attribute__((vector_size(MERCER_LANE_BYTES)));
    const Lanes<T> zero = {}, lowest = all_lanes<T>(C::lowest);
    const Lanes<T> capped = x > zero ? zero : x, inside = capped > lowest ? capped : lowest;
    const Lanes<T> shifted = inside * T(1.4426950408889634074) + C::shift, n = shifted - C::shift;
    const Lanes<T> r = (inside - n * C::ln2) - n * C::ln2_rest;
    Lanes<T> p = zero + T(kInverseFactorials[C::terms]), scale;
    MERCER_UNROLL
    for (int k = C::terms - 1; k >= 0; --k) p = p * r + T(kInverseFactorials[k]);
    Bits power;
    std::memcpy(&power, &shifted, sizeof power);
    power = (power + static_cast<typename C::bits>(C::bias)) << C::mantissa;
    std::memcpy(&scale, &power, sizeof scale);
    const Lanes<T> value = capped > lowest ? p * scale : zero;
    return x == x ? value : x;  // NaN stays
}

template <class T>
void exp_all(T* MERCER_RESTRICT values, int64_t count) {
    const int64_t rest = count % kLanes<T>;  // a bound that compilers see
    for (; count >= kLanes<T>; count -= kLanes<T>, values += kLanes<T>) {
        store<T>(values, exp_of_negative_lanes<T>(load<T>(values)));
    }
    for (int64_t i = 0; i < rest; ++i) values[i] = exp_of_negative(values[i]);
}
#else
template <class T>
void exp_all(T* MERCER_RESTRICT values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) values[i] = exp_of_negative(values[i]);
}
#endif
