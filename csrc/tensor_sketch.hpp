// Circular convolutions of count sketches by FFT. Included inside the namespace of one instruction set.
//
// Even lengths D: two factors of a row are transformed as the real and imaginary parts of one complex sequence, an odd
// last factor and the inverse as one complex sequence of length D / 2. Rows never share a transform: packing two rows
// in one would leak the rounding error of a large row into a small one. Factors 1 / 2 are left out everywhere: the
// spectrum of p factors is 2^p times the true one, which the last multiplication takes back.

// Spectra at the frequencies k and D / 2 - k.
template <class T>
struct TwoFrequencies {
    Complex<T> at, other;
};

// From z = x + i y transformed, 4 X Y at a frequency, given Z there and at its mirror image.
template <class T>
MERCER_INLINE Complex<T> product_of_packed(const Complex<T>& z, const Complex<T>& mirror) {
    const Complex<T> x = {z.re + mirror.re, z.im - mirror.im};  // 2 X
    const Complex<T> y = {z.im + mirror.im, mirror.re - z.re};  // 2 Y
    return multiply<T>(x, y);
}

template <class T>
MERCER_INLINE TwoFrequencies<T> packed_product(const T* spectrum, const SpectrumPair<T>& pair) {
    return {product_of_packed<T>(load_complex<T>(spectrum, pair.full), load_complex<T>(spectrum, pair.full_mirror)),
            product_of_packed<T>(load_complex<T>(spectrum, pair.other), load_complex<T>(spectrum, pair.other_mirror))};
}

// From z[j] = x[2j] + i x[2j + 1] transformed, 2 X.
template <class T>
MERCER_INLINE TwoFrequencies<T> real_spectrum(const T* spectrum, const SpectrumPair<T>& pair) {
    const Complex<T> z = load_complex<T>(spectrum, pair.half);
    const Complex<T> mirror = conjugate<T>(load_complex<T>(spectrum, pair.half_other));
    const Complex<T> even = add<T>(z, mirror);
    const Complex<T> odd = times_minus_i<T>(rotate<T>(subtract<T>(z, mirror), pair.cosine, pair.sine));
    return {add<T>(even, odd), conjugate<T>(subtract<T>(even, odd))};
}

// The way back: the spectrum of x[2j] + i x[2j + 1], times 2, from X.
template <class T>
MERCER_INLINE TwoFrequencies<T> pack_real_spectrum(const TwoFrequencies<T>& x, const SpectrumPair<T>& pair) {
    const Complex<T> mirror = conjugate<T>(x.other);
    const Complex<T> even = add<T>(x.at, mirror);
    const Complex<T> odd = times_minus_i<T>(rotate<T>(subtract<T>(x.at, mirror), pair.cosine, -pair.sine));
    return {subtract<T>(even, odd), conjugate<T>(add<T>(even, odd))};
}

// Multiplies the new spectrum into `product`, which is stored by half-length positions. The first one is stored; the
// last one leaves the product packed for the inverse transform.
template <class T, int kFactors, bool kFirst, bool kLast>
void multiply_spectrum(const T* spectrum, const RealPlan<T>& plan, T* product) {
    for (int64_t i = 0; i < plan.n_pairs; ++i) {
        const SpectrumPair<T>& pair = plan.pairs[i];
        TwoFrequencies<T> x = kFactors == 2 ? packed_product<T>(spectrum, pair) : real_spectrum<T>(spectrum, pair);
        if (!kFirst) {
            x.at = multiply<T>(x.at, load_complex<T>(product, pair.half));
            x.other = multiply<T>(x.other, load_complex<T>(product, pair.half_other));
        }
        if (kLast) x = pack_real_spectrum<T>(x, pair);
        store_complex<T>(product, pair.half_other, x.other);
        store_complex<T>(product, pair.half, x.at);
    }
}

template <class T, int kFactors>
void multiply_spectrum(const T* spectrum, const RealPlan<T>& plan, bool first, bool last, T* product) {
    if (first && last) return multiply_spectrum<T, kFactors, true, true>(spectrum, plan, product);
    if (first) return multiply_spectrum<T, kFactors, true, false>(spectrum, plan, product);
    if (last) return multiply_spectrum<T, kFactors, false, true>(spectrum, plan, product);
    multiply_spectrum<T, kFactors, false, false>(spectrum, plan, product);
}

template <class T, class Source>
Status convolve_group_even(const Source& source, int64_t row, int64_t n_factors, const RealPlan<T>& plan, T* spectrum,
                           T* product) {
    for (int64_t factor = 0; factor < n_factors; factor += 2) {
        const bool first = factor == 0, last = factor + 2 >= n_factors;
        if (factor + 1 < n_factors) {
            const Status status = source.template fill<2>(row, factor, spectrum);
            if (status != Status::ok) return status;
            forward_fft<T>(plan.full, spectrum);
            multiply_spectrum<T, 2>(spectrum, plan, first, last, product);
        } else {
            const Status status = source.template fill<1>(row, factor, spectrum);
            if (status != Status::ok) return status;
            forward_fft<T>(plan.half, spectrum);
            store_complex<T>(spectrum, plan.half.length, load_complex<T>(spectrum, 0));  // a spectrum is periodic
            multiply_spectrum<T, 1>(spectrum, plan, first, last, product);
        }
    }
    inverse_fft<T>(plan.half, product);
    return Status::ok;
}

// Real numbers to complex ones, in place.
template <class T>
void widen(T* buffer, int64_t length) {
    for (int64_t j = length - 1; j >= 0; --j)
        store_complex<T>(buffer, j, {load<T>(buffer + j * kLanes<T>), Lanes<T>{}});
}

template <class T>
void keep_real(T* buffer, int64_t length) {
    for (int64_t j = 0; j < length; ++j) store<T>(buffer + j * kLanes<T>, load_complex<T>(buffer, j).re);
}

// Odd lengths are rare (3^a 5^b), so they take the plain way: one full complex transform for each factor.
template <class T, class Source>
Status convolve_group_odd(const Source& source, int64_t row, int64_t n_factors, const FftPlan<T>& plan, T* spectrum,
                          T* product) {
    for (int64_t factor = 0; factor < n_factors; ++factor) {
        T* target = factor == 0 ? product : spectrum;
        const Status status = source.template fill<1>(row, factor, target);
        if (status != Status::ok) return status;
        widen<T>(target, plan.length);
        forward_fft<T>(plan, target);
        if (factor == 0) continue;
        for (int64_t k = 0; k < plan.length; ++k) {
            store_complex<T>(product, k, multiply<T>(load_complex<T>(product, k), load_complex<T>(spectrum, k)));
        }
    }
    inverse_fft<T>(plan, product);
    keep_real<T>(product, plan.length);
    return Status::ok;
}

template <class T, class Source>
Status convolve_rows(const Source& source, int64_t n_factors, const RealPlan<T>& plan, const Matrix<T>& out) {
    if (n_factors == 1) return sketch_rows<T>(source, out);
    const int64_t length = plan.full.length;
    const bool even = length % 2 == 0;
    T* spectrum = static_cast<T*>(scratch(Slot::spectrum, 2 * length * MERCER_LANE_BYTES));
    T* product = static_cast<T*>(scratch(Slot::product, 2 * (even ? length / 2 + 1 : length) * MERCER_LANE_BYTES));
    T scale = T(1) / T(length);
    for (int64_t f = 0; even && f < n_factors; ++f) scale *= T(0.5);
    for (int64_t row = 0; row < out.n_rows; row += kLanes<T>) {
        const Status status = even ? convolve_group_even<T>(source, row, n_factors, plan, spectrum, product)
                                   : convolve_group_odd<T>(source, row, n_factors, plan.full, spectrum, product);
        if (status != Status::ok) return status;
        store_group<T>(product, scale, row, out);
    }
    return Status::ok;
}

template <class T>
void tensor_sketch(const Matrix<const T>& X, const HashTable& hashes, const Augmentation& augmentation,
                   const RealPlan<T>& plan, const Matrix<T>& out) {
    const double n_terms = power(double(hashes.n_columns), hashes.n_factors);
    if (hashes.n_factors > 1 && terms_are_fewer(n_terms, hashes.n_factors, out.n_columns)) {
        return tensor_sketch_by_terms<T>(X, hashes, augmentation, out);
    }
    const bool in_pairs = out.n_columns % 2 == 0;
    const DenseSource<T> source = {X, weighted_buckets<T>(hashes, augmentation, in_pairs), out.n_columns,
                                   hashes.n_columns};
    convolve_rows<T>(source, hashes.n_factors, plan, out);
}

// Transforms `count` <= kLanes chosen rows, ascending ones.
template <class T, class I>
Status convolve_chosen(const CsrRows<T, I>& X, const HashTable& hashes, const Augmentation& augmentation,
                       const RealPlan<T>& plan, const int64_t* chosen, int64_t count, const Matrix<T>& out) {
    if (count == 0) return Status::ok;
    const CsrSource<T, I> source = {X, hashes, augmentation, out.n_columns, chosen, count};
    const bool adjacent = chosen[count - 1] - chosen[0] == count - 1;
    T* beside = adjacent ? nullptr : static_cast<T*>(scratch(Slot::packed_rows, out.n_columns * MERCER_LANE_BYTES));
    const Matrix<T> target = {adjacent ? out.data + chosen[0] * out.stride : beside, count, out.n_columns,
                              adjacent ? out.stride : out.n_columns};
    const Status status = convolve_rows<T>(source, hashes.n_factors, plan, target);
    for (int64_t i = 0; !adjacent && i < count; ++i) {
        std::memcpy(out.data + chosen[i] * out.stride, beside + i * out.n_columns, out.n_columns * sizeof(T));
    }
    return status;
}

// Every row chooses for itself, so that its bits never depend on its neighbours: short ones go term by term, long ones
// are gathered until they fill the lanes of a transform.
template <class T, class I>
Status tensor_sketch_csr(const CsrRows<T, I>& X, const HashTable& hashes, const Augmentation& augmentation,
                         const RealPlan<T>& plan, const Matrix<T>& out) {
    int64_t chosen[kLanes<T>], count = 0;
    for (int64_t row = 0; row < out.n_rows; ++row) {
        Status status = Status::ok;
        if (is_short<T, I>(X, row, hashes, augmentation, out.n_columns)) {
            status = sketch_short_row<T, I>(X, row, hashes, augmentation, out.n_columns, out.data + row * out.stride);
        } else {
            chosen[count++] = row;
        }
        if (count == kLanes<T>) {
            status = convolve_chosen<T, I>(X, hashes, augmentation, plan, chosen, count, out);
            count = 0;
        }
        if (status != Status::ok) return status;
    }
    return convolve_chosen<T, I>(X, hashes, augmentation, plan, chosen, count, out);
}

template <class T>
void convolve(const Matrix<const T>* sketches, int64_t n_sketches, const RealPlan<T>& plan, const Matrix<T>& out) {
    convolve_rows<T>(SketchSource<T>{sketches}, n_sketches, plan, out);
}

// Transforms of real rows, in natural order: what the tests compare with another FFT.
template <class T>
void fft(const Matrix<const T>& X, const FftPlan<T>& plan, const Matrix<T>& out) {
    const SketchSource<T> source = {&X};
    T* spectrum = static_cast<T*>(scratch(Slot::spectrum, 2 * plan.length * MERCER_LANE_BYTES));
    T* ordered = static_cast<T*>(scratch(Slot::product, 2 * plan.length * MERCER_LANE_BYTES));
    for (int64_t row = 0; row < out.n_rows; row += kLanes<T>) {
        source.template fill<1>(row, 0, spectrum);
        widen<T>(spectrum, plan.length);
        forward_fft<T>(plan, spectrum);
        for (int64_t k = 0; k < plan.length; ++k)
            store_complex<T>(ordered, k, load_complex<T>(spectrum, plan.position[k]));
        store_group<T>(ordered, T(1), row, out);
    }
}
