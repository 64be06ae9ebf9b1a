// Buckets and signs of keys, several side by side: the polynomial of KeyHash in products of 32 bits. Included inside the
// namespace of one instruction set. Lanes of 16 bytes hold two keys, which gain nothing on products of 64 bits.

#if MERCER_LANE_BYTES == 32 && defined(__GNUC__) && !defined(MERCER_PLAIN_LANES) && defined(__AVX2__)

typedef Lanes<uint64_t> Words;

// The products of the lower halves.
MERCER_INLINE Words multiply_lower(const Words& a, const Words& b) {
#if defined(__clang__)
    return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
#else
    return (Words)__builtin_ia32_pmuludq256((Lanes<int32_t>)a, (Lanes<int32_t>)b);
#endif
}

constexpr uint64_t kKeyPrime = (uint64_t(1) << 61) - 1;

// a x + c mod 2^61 - 1, up to a multiple: at most 2^61 + 7, for a that is itself such a result and x, c below 2^61.
MERCER_INLINE Words times_plus(const Words& a, const Words& x, const Words& x_upper, uint64_t c) {
    const Words a_upper = a >> 32;
    const Words middle = multiply_lower(a_upper, x) + multiply_lower(a, x_upper), lower = multiply_lower(a, x);
    // 2^64 is 8, and 2^61 is 1: the middle part counts 2^32, of which 29 bits stay below 2^61
    Words sum = (multiply_lower(a_upper, x_upper) << 3) + (middle >> 29) + ((middle << 35) >> 3);
    sum += (lower >> 61) + (lower & kKeyPrime) + c;
    return (sum >> 61) + (sum & kKeyPrime);
}

// Columns of keys below 2^61, and the highest bit where their sign is negative, else 0.
inline void hash_keys(const uint64_t* keys, int64_t n_keys, const KeyPolynomial& hash, uint32_t* columns,
                      uint64_t* signs) {
    constexpr int64_t n_lanes = kLanes<uint64_t>;
    const uint64_t c0 = hash.coefficients[0], c1 = hash.coefficients[1], c2 = hash.coefficients[2];
    const Words c3 = all_lanes<uint64_t>(hash.coefficients[3]), n_buckets = all_lanes<uint64_t>(hash.n_buckets);
    const Words prime = all_lanes<uint64_t>(kKeyPrime);
    for (int64_t j = 0; j < n_keys; j += n_lanes) {
        const int64_t n = n_keys - j < n_lanes ? n_keys - j : n_lanes;
        Words x = {};
        if (n == n_lanes) {
            x = load<uint64_t>(keys + j);
        } else {
            for (int64_t i = 0; i < n; ++i) x[i] = keys[j + i];
        }
        const Words x_upper = x >> 32;
        Words value = times_plus(c3, x, x_upper, c2);
        value = times_plus(value, x, x_upper, c1);
        value = times_plus(value, x, x_upper, c0);
        value -= prime & (Words)((Lanes<int64_t>)value >= (Lanes<int64_t>)prime);
        const Words sign = (value << 63) ^ (uint64_t(1) << 63), half = value >> 1;
        const Words bucket =
            (multiply_lower(half >> 32, n_buckets) + (multiply_lower(half, n_buckets) >> 32)) >> 28;
        if (n == n_lanes) {
            store<uint64_t>(signs + j, sign);
            MERCER_UNROLL for (int64_t i = 0; i < n_lanes; ++i) columns[j + i] = static_cast<uint32_t>(bucket[i]);
        } else {
            for (int64_t i = 0; i < n; ++i) {
                signs[j + i] = sign[i];
                columns[j + i] = static_cast<uint32_t>(bucket[i]);
            }
        }
    }
}
constexpr HashKeys* kHashKeys = hash_keys;

#else

constexpr HashKeys* kHashKeys = nullptr;

#endif
