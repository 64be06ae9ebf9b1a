// Cosines and sines of turns. Included inside the namespace of one instruction set.

MERCER_INLINE float nearest(float t) { return MERCER_BUILTIN(rintf)(t); }
MERCER_INLINE double nearest(double t) { return MERCER_BUILTIN(rint)(t); }
MERCER_INLINE float magnitude(float t) { return MERCER_BUILTIN(fabsf)(t); }
MERCER_INLINE double magnitude(double t) { return MERCER_BUILTIN(fabs)(t); }

MERCER_INLINE float with_sign_of(float t, float sign) { return MERCER_BUILTIN(copysignf)(t, sign); }
MERCER_INLINE double with_sign_of(double t, double sign) { return MERCER_BUILTIN(copysign)(t, sign); }

// sin(2 pi e) and cos(2 pi e) for 0 <= e <= 1/8: minimax polynomials of the absolute error, which before rounding is
// 1.2e-9 and 5.4e-11 in float32, 1.3e-18 and 3.3e-20 in float64.
MERCER_INLINE float sine_of_eighth(float e) {
    const float y = e * e;
    float p = -75.240064073139319f;
    p = p * y + 81.588124636752647f;
    p = p * y - 41.341628042664096f;
    p = p * y + 6.2831852203417141f;
    return p * e;
}

MERCER_INLINE float cosine_of_eighth(float e) {
    const float y = e * e;
    float p = 59.245964276248407f;
    p = p * y - 85.443741732555033f;
    p = p * y + 64.939326471701556f;
    p = p * y - 19.739208693655851f;
    return p * y + 1.0f;
}

MERCER_INLINE double sine_of_eighth(double e) {
    const double y = e * e;
    double p = 3.7780921623067407201;
    p = p * y - 15.093663194179196881;
    p = p * y + 42.058682265789940378;
    p = p * y - 76.705859678450507643;
    p = p * y + 81.605249275830336898;
    p = p * y - 41.341702240399406299;
    p = p * y + 6.2831853071795863288;
    return p * e;
}

MERCER_INLINE double cosine_of_eighth(double e) {
    const double y = e * e;
    double p = -1.6970200857398069502;
    p = p * y + 7.9031016383056265454;
    p = p * y - 26.426251140435830463;
    p = p * y + 60.244641331611732963;
    p = p * y - 85.456817206540052118;
    p = p * y + 64.939394022668013403;
    p = p * y - 19.739208802178717067;
    return p * y + 1.0;
}

template <class T>
struct CosSin {
    T cosine, sine;
};

// Folds to half, quarter and eighth turns are exact. No arithmetic stands in a branch, so that the loops below vectorise.
template <class T>
MERCER_INLINE CosSin<T> cos_sin_of_turns(T t) {
    const T r = t - nearest(t), a = magnitude(r);
    const T half = T(0.5) - a, b = half < a ? half : a;
    const T quarter = T(0.25) - b, e = quarter < b ? quarter : b;
    const T sine = sine_of_eighth(e), cosine = cosine_of_eighth(e);
    const bool swap = b > T(0.125);
    return {with_sign_of(swap ? sine : cosine, T(0.25) - a), with_sign_of(swap ? cosine : sine, r)};
}

// The same without the sine. A select would put a polynomial into each branch; a sum with weights 0 and 1 does not.
template <class T>
MERCER_INLINE T cosine_of_turns(T t) {
    const T a = magnitude(t - nearest(t));
    const T half = T(0.5) - a, b = half < a ? half : a;
    const T quarter = T(0.25) - b, e = quarter < b ? quarter : b;
    const T swap = b > T(0.125) ? T(1) : T(0);
    return with_sign_of(swap * sine_of_eighth(e) + (T(1) - swap) * cosine_of_eighth(e), T(0.25) - a);
}

// A turn that is neither infinite nor NaN differs from itself by nothing.
template <class T>
MERCER_INLINE int32_t strange(T t) {
    return t - t == T(0) ? 0 : 1;
}

// Plain loops over restricted pointers: the compiler makes lanes of them. They return 0 where all turns were finite.
template <class T>
int32_t turn_pairs(T* MERCER_RESTRICT cosines, T* MERCER_RESTRICT sines, int64_t n_pairs, T scale) {
    int32_t any = 0;
    for (int64_t j = 0; j < n_pairs; ++j) {
        any |= strange(cosines[j]);
        const CosSin<T> z = cos_sin_of_turns(cosines[j]);
        cosines[j] = scale * z.cosine;
        sines[j] = scale * z.sine;
    }
    return any;
}

template <class T>
int32_t turn_singles(T* MERCER_RESTRICT turns, const T* MERCER_RESTRICT offsets, int64_t count, T scale) {
    int32_t any = 0;
    for (int64_t j = 0; j < count; ++j) {
        const T t = turns[j];
        any |= strange(t);
        turns[j] = scale * cosine_of_turns((t - nearest(t)) + offsets[j]);
    }
    return any;
}

// Returns whether all turns were finite.
template <class T>
bool cos_sin(const Phases<T>& phases, const Matrix<T>& out) {
    const int64_t n_pairs = (out.n_columns - phases.n_offsets) / 2;
    int32_t any = 0;
    for (int64_t i = 0; i < out.n_rows; ++i) {
        T* row = out.data + i * out.stride;
        any |= turn_pairs<T>(row, row + n_pairs, n_pairs, T(phases.scale));
        any |= turn_singles<T>(row + 2 * n_pairs, phases.offsets, phases.n_offsets, T(phases.scale));
    }
    return any == 0;
}
