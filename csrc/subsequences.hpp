// Tensor Sketch of the subsequences of strings. Included inside the namespace of one instruction set.

// What is added and taken away again to clear entries that would become subnormal, whose arithmetic is a hundred times
// slower. An entry changes by at most this number times the unit of rounding.
template <class T>
constexpr T kFlush = sizeof(T) == sizeof(float) ? T(1e-28) : T(1e-280);

// target = keep * target + add * source; without kFlushed, keep is 1.
template <bool kFlushed, class T>
MERCER_INLINE void scale_and_add(T* MERCER_RESTRICT target, const T* MERCER_RESTRICT source, int64_t n, T keep, T add) {
    for (int64_t k = 0; k < n; ++k) {
        if constexpr (kFlushed) {
            target[k] = (target[k] * keep + (source[k] * add + kFlush<T>)) - kFlush<T>;
        } else {
            target[k] += source[k] * add;
        }
    }
}

template <class T>
MERCER_INLINE void scale(T* target, int64_t n, T keep) {
    for (int64_t k = 0; k < n; ++k) target[k] = (target[k] * keep + kFlush<T>) - kFlush<T>;
}

// Sums of the subsequences that end before the next letter, for each number of letters: those of one letter by letter,
// the others as sketches, one after the other.
template <class T>
struct Subsequent {
    T* sums;         // of j letters from j * stride on, for 2 <= j < length
    int64_t stride;
    T* of_letter;    // (256,) sums of the subsequences of one letter
    uint8_t* met;    // letters in the order in which they are met
    int64_t n_met;
};

// Sketches of j letters whose last one is `code`, added to `target`.
template <class T, bool kLast>
void append_letter(const Subsequent<T>& state, const HashTable& hashes, const Subsequences& parts, int64_t j,
                   uint8_t code, T* target) {
    const int64_t at = (j - 1) * hashes.n_columns + code, width = parts.widths[j], shift = hashes.index[at];
    const T decay = static_cast<T>(parts.decay), add = decay * static_cast<T>(hashes.sign[at]);
    if (j == 1) {
        target[shift] += add;  // the last one too: sums of one letter are kept by letter
        return;
    }
    if (j == 2) {  // few letters: their places are added one by one
        if (!kLast) scale(target, width, decay);
        for (int64_t i = 0; i < state.n_met; ++i) {
            const uint8_t first = state.met[i];
            int64_t place = shift + hashes.index[first];
            if (place >= width) place -= width;
            target[place] += add * state.of_letter[first];
        }
        return;
    }
    const T* source = state.sums + (j - 1) * state.stride;
    const int64_t n = parts.widths[j - 1], before = n < width - shift ? n : width - shift;
    if (n == width) {
        scale_and_add<!kLast>(target + shift, source, before, decay, add);
        scale_and_add<!kLast>(target, source + before, n - before, decay, add);
    } else {  // a column for each subsequence: the shift leaves room for all of the source
        if (!kLast) scale(target, width, decay);
        scale_and_add<false>(target + shift, source, n, T(1), add);
    }
}

template <class T>
void sketch_string(const uint8_t* letters, int64_t size, const uint8_t* codes, const HashTable& hashes,
                   const Subsequences& parts, Subsequent<T>& state, T* out) {
    const int64_t length = hashes.n_factors;
    const T decay = static_cast<T>(parts.decay);
    for (int64_t j = 2; j < length; ++j) std::memset(state.sums + j * state.stride, 0, parts.widths[j] * sizeof(T));
    for (int c = 0; c < 256; ++c) state.of_letter[c] = 0;
    state.n_met = 0;
    for (int64_t t = 0; t < size; ++t) {
        const uint8_t code = codes[letters[t]];
        if (code != kNoLetter) append_letter<T, true>(state, hashes, parts, length, code, out);
        for (int64_t j = length - 1; j >= 2; --j) {
            T* target = state.sums + j * state.stride;
            if (code == kNoLetter) {
                scale(target, parts.widths[j], decay);
            } else {
                append_letter<T, false>(state, hashes, parts, j, code, target);
            }
        }
        for (int64_t i = 0; i < state.n_met; ++i) scale(state.of_letter + state.met[i], 1, decay);
        if (code == kNoLetter) continue;
        if (state.of_letter[code] == 0) {  // not met yet, or too long ago to count
            bool known = false;
            for (int64_t i = 0; i < state.n_met; ++i) known |= state.met[i] == code;
            if (!known) state.met[state.n_met++] = code;
        }
        state.of_letter[code] += decay * static_cast<T>(hashes.sign[code]);
    }
}

template <class T>
void subsequence_sketch(const Text& text, const HashTable& hashes, const Subsequences& parts, const Matrix<T>& out) {
    const int64_t stride = (out.n_columns + 15) / 16 * 16;
    auto* sums = static_cast<T*>(scratch(Slot::product, hashes.n_factors * stride * static_cast<int64_t>(sizeof(T))));
    T of_letter[256];
    uint8_t met[256];
    Subsequent<T> state = {sums, stride, of_letter, met, 0};
    for (int64_t i = 0; i < text.n_strings; ++i) {
        T* target = out.data + i * out.stride;
        std::memset(target, 0, out.n_columns * sizeof(T));
        const int64_t first = text.offsets[i];
        sketch_string(text.letters + first, text.offsets[i + 1] - first, text.codes, hashes, parts, state, target);
    }
}
