// Mixed-radix complex FFT of kLanes<T> sequences at once. Included inside the namespace of one instruction set.
//
// The forward transform decimates in frequency and leaves frequency k at plan.position[k]; the inverse decimates in
// time and takes its input from there, so that a convolution never reorders anything.

template <class T>
MERCER_INLINE void dft(Complex<T> (&z)[2]) {
    const Complex<T> a = z[0], b = z[1];
    z[0] = add<T>(a, b);
    z[1] = subtract<T>(a, b);
}

template <class T>
MERCER_INLINE void dft(Complex<T> (&z)[3]) {
    constexpr T sine = T(0.866025403784438646763723170752936183);  // sin(2 pi / 3)
    const Complex<T> sum = add<T>(z[1], z[2]);
    const Complex<T> difference = subtract<T>(z[1], z[2]);
    const Complex<T> centre = {z[0].re - sum.re * T(0.5), z[0].im - sum.im * T(0.5)};
    const Complex<T> turned = {difference.im * sine, -(difference.re * sine)};
    z[0] = add<T>(z[0], sum);
    z[1] = add<T>(centre, turned);
    z[2] = subtract<T>(centre, turned);
}

template <class T>
MERCER_INLINE void dft(Complex<T> (&z)[4]) {
    const Complex<T> a = add<T>(z[0], z[2]), b = subtract<T>(z[0], z[2]);
    const Complex<T> c = add<T>(z[1], z[3]), d = times_minus_i<T>(subtract<T>(z[1], z[3]));
    z[0] = add<T>(a, c);
    z[1] = add<T>(b, d);
    z[2] = subtract<T>(a, c);
    z[3] = subtract<T>(b, d);
}

template <class T>
MERCER_INLINE void dft(Complex<T> (&z)[5]) {
    constexpr T c1 = T(0.309016994374947424102293417182819059), c2 = T(-0.809016994374947424102293417182819059);
    constexpr T s1 = T(0.951056516295153572116439333379382143), s2 = T(0.587785252292473129168705954639072769);
    const Complex<T> p = add<T>(z[1], z[4]), m = subtract<T>(z[1], z[4]);
    const Complex<T> q = add<T>(z[2], z[3]), n = subtract<T>(z[2], z[3]);
    const Complex<T> a = {z[0].re + p.re * c1 + q.re * c2, z[0].im + p.im * c1 + q.im * c2};
    const Complex<T> b = {z[0].re + p.re * c2 + q.re * c1, z[0].im + p.im * c2 + q.im * c1};
    const Complex<T> c = times_minus_i<T>({m.re * s1 + n.re * s2, m.im * s1 + n.im * s2});
    const Complex<T> d = times_minus_i<T>({m.re * s2 - n.re * s1, m.im * s2 - n.im * s1});
    z[0] = {z[0].re + p.re + q.re, z[0].im + p.im + q.im};
    z[1] = add<T>(a, c);
    z[2] = add<T>(b, d);
    z[3] = subtract<T>(b, d);
    z[4] = subtract<T>(a, c);
}

template <class T>
MERCER_INLINE void dft(Complex<T> (&z)[8]) {
    constexpr T half = T(0.707106781186547524400844362104849039);  // sqrt(1 / 2)
    Complex<T> even[4] = {z[0], z[2], z[4], z[6]}, odd[4] = {z[1], z[3], z[5], z[7]};
    dft<T>(even);
    dft<T>(odd);
    odd[1] = {(odd[1].re + odd[1].im) * half, (odd[1].im - odd[1].re) * half};
    odd[2] = times_minus_i<T>(odd[2]);
    odd[3] = {(odd[3].im - odd[3].re) * half, -((odd[3].re + odd[3].im) * half)};
    MERCER_UNROLL
    for (int k = 0; k < 4; ++k) {
        z[k] = add<T>(even[k], odd[k]);
        z[k + 4] = subtract<T>(even[k], odd[k]);
    }
}

enum class Direction { forward, inverse };

// An inverse transform is a forward one with real and imaginary parts exchanged, on the way in and on the way out.
template <class T, Direction kDirection>
MERCER_INLINE Complex<T> load_point(const T* p) {
    constexpr int64_t re = kDirection == Direction::forward ? 0 : kLanes<T>;
    return {load<T>(p + re), load<T>(p + kLanes<T> - re)};
}

template <class T, Direction kDirection>
MERCER_INLINE void store_point(T* p, const Complex<T>& z) {
    constexpr int64_t re = kDirection == Direction::forward ? 0 : kLanes<T>;
    store<T>(p + re, z.re);
    store<T>(p + kLanes<T> - re, z.im);
}

// One butterfly in place, on points `stride` apart. Decimation in frequency turns its outputs, in time its inputs.
template <class T, int kRadix, Direction kDirection, bool kTurn>
MERCER_INLINE void butterfly(T* p, int64_t stride, const T* twiddle) {
    Complex<T> z[kRadix];
    MERCER_UNROLL
    for (int q = 0; q < kRadix; ++q) {
        z[q] = load_point<T, kDirection>(p + q * stride);
        if (kTurn && kDirection == Direction::inverse && q > 0) {
            z[q] = rotate<T>(z[q], twiddle[2 * q - 2], twiddle[2 * q - 1]);
        }
    }
    dft<T>(z);
    MERCER_UNROLL
    for (int q = 0; q < kRadix; ++q) {
        if (kTurn && kDirection == Direction::forward && q > 0) {
            z[q] = rotate<T>(z[q], twiddle[2 * q - 2], twiddle[2 * q - 1]);
        }
        store_point<T, kDirection>(p + q * stride, z[q]);
    }
}

template <class T, int kRadix, Direction kDirection>
void radix_pass(T* z, int64_t n_blocks, int64_t span, const T* twiddle) {
    constexpr int64_t kPoint = 2 * kLanes<T>;
    const int64_t stride = span * kPoint;
    for (int64_t block = 0; block < n_blocks; ++block, z += kRadix * stride) {
        butterfly<T, kRadix, kDirection, false>(z, stride, nullptr);
        for (int64_t j = 1; j < span; ++j) {
            butterfly<T, kRadix, kDirection, true>(z + j * kPoint, stride, twiddle + j * 2 * (kRadix - 1));
        }
    }
}

template <class T, Direction kDirection>
void run_pass(const FftPass<T>& pass, T* z, int64_t n_blocks) {
    switch (pass.radix) {
        case 2: return radix_pass<T, 2, kDirection>(z, n_blocks, pass.span, pass.twiddle);
        case 3: return radix_pass<T, 3, kDirection>(z, n_blocks, pass.span, pass.twiddle);
        case 4: return radix_pass<T, 4, kDirection>(z, n_blocks, pass.span, pass.twiddle);
        case 5: return radix_pass<T, 5, kDirection>(z, n_blocks, pass.span, pass.twiddle);
        case 8: return radix_pass<T, 8, kDirection>(z, n_blocks, pass.span, pass.twiddle);
    }
}

// Blocks of at most this many bytes go through their passes one pass after the other; larger ones are split first,
// depth first, so that most passes run in the first-level cache.
constexpr int64_t kResidentBytes = 24 * 1024;

template <class T>
void forward_passes(const FftPass<T>* pass, int64_t n_passes, T* z) {
    if (n_passes == 0) return;
    const int64_t length = pass->radix * pass->span;
    if (length * 2 * MERCER_LANE_BYTES > kResidentBytes) {
        run_pass<T, Direction::forward>(*pass, z, 1);
        for (int64_t q = 0; q < pass->radix; ++q) {
            forward_passes<T>(pass + 1, n_passes - 1, z + q * pass->span * 2 * kLanes<T>);
        }
    } else {
        for (int64_t i = 0; i < n_passes; ++i) {
            run_pass<T, Direction::forward>(pass[i], z, length / (pass[i].radix * pass[i].span));
        }
    }
}

template <class T>
void inverse_passes(const FftPass<T>* pass, int64_t n_passes, T* z) {
    if (n_passes == 0) return;
    const int64_t length = pass->radix * pass->span;
    if (length * 2 * MERCER_LANE_BYTES > kResidentBytes) {
        for (int64_t q = 0; q < pass->radix; ++q) {
            inverse_passes<T>(pass + 1, n_passes - 1, z + q * pass->span * 2 * kLanes<T>);
        }
        run_pass<T, Direction::inverse>(*pass, z, 1);
    } else {
        for (int64_t i = n_passes - 1; i >= 0; --i) {
            run_pass<T, Direction::inverse>(pass[i], z, length / (pass[i].radix * pass[i].span));
        }
    }
}

template <class T>
void forward_fft(const FftPlan<T>& plan, T* z) {
    forward_passes<T>(plan.passes, plan.n_passes, z);
}

// Without the factor 1 / length.
template <class T>
void inverse_fft(const FftPlan<T>& plan, T* z) {
    inverse_passes<T>(plan.passes, plan.n_passes, z);
}
