// One thin function for each primitive of strings and of keys. These are integer loops, and one version serves all
// instruction sets; only the hash of keys has a faster version where lanes are wide.

#include <limits>

#include "bind_structures.hpp"
#include "dispatch.hpp"
#include "hashed_columns.hpp"
#include "key_counts.hpp"
#include "string_keys.hpp"
#include "subsequence_values.hpp"
#include "substring_counts.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

KeyedRows keyed_rows(const Array<const int64_t, 1>& pointers, const Array<const uint64_t, 1>& keys,
                     const Array<const double, 1>& weights, bool weighted) {
    const int64_t n_keys = length(keys);
    const bool given = weighted || length(weights) > 0;
    if (given) require_equal("len(weights)", length(weights), "len(keys)", n_keys);
    const int64_t* ends = ascending("pointers", pointers, n_keys);
    if (n_keys > std::numeric_limits<uint32_t>::max() / 2) fail("keys must hold fewer than 2^31 keys; work on fewer rows.");
    return {ends, vector<const uint64_t>("keys", keys), given ? vector<const double>("weights", weights) : nullptr,
            length(pointers) - 1};
}

KeyHash key_hash(const Array<const uint64_t, 1>& coefficients, int64_t n_buckets) {
    require_equal("len(coefficients)", length(coefficients), "4", 4);
    if (n_buckets < 1 || n_buckets > std::numeric_limits<int32_t>::max()) fail("n_buckets must lie in [1, 2^31).");
    const uint64_t* given = vector<const uint64_t>("coefficients", coefficients);
    KeyHash hash = {{{}, static_cast<uint64_t>(n_buckets)}};
    for (int i = 0; i < 4; ++i) {
        if (given[i] >= kPrime) fail("coefficients must be below 2^61 - 1.");
        hash.coefficients[i] = given[i];
    }
    return hash;
}

void py_count_keys(const Array<const int64_t, 1>& pointers, const Array<const uint64_t, 1>& keys,
                   const Array<const double, 1>& weights, int64_t counts, const Array<int64_t, 1>& out_pointers,
                   const Array<uint64_t, 1>& out_keys, const Array<double, 1>& out_values,
                   const Array<double, 1>& out_squares) {
    const KeyedRows rows = keyed_rows(pointers, keys, weights, false);
    const int64_t n_used = rows.pointers[rows.n_rows] - rows.pointers[0];
    if (counts < 0 || counts > 2) fail("counts must be 0, 1 or 2.");
    require_equal("len(out_pointers)", length(out_pointers), "len(pointers)", rows.n_rows + 1);
    require_at_least("len(out_keys)", length(out_keys), n_used);
    require_at_least("len(out_values)", length(out_values), n_used);
    require_equal("len(out_squares)", length(out_squares), "len(pointers) - 1", rows.n_rows);
    const CountedRows out = {vector<int64_t>("out_pointers", out_pointers), vector<uint64_t>("out_keys", out_keys),
                             vector<double>("out_values", out_values), vector<double>("out_squares", out_squares)};
    const nb::gil_scoped_release released;
    count_keys(rows, static_cast<Counts>(counts), out);
}

template <class T>
void py_hash_columns(const Array<const int64_t, 1>& pointers, const Array<const uint64_t, 1>& keys,
                     const Array<const double, 1>& values, const Array<const uint64_t, 1>& coefficients,
                     int64_t n_buckets, const Array<int64_t, 1>& out_pointers, const Array<int32_t, 1>& out_columns,
                     const Array<T, 1>& out_data) {
    const KeyedRows rows = keyed_rows(pointers, keys, values, true);
    const int64_t n_used = rows.pointers[rows.n_rows] - rows.pointers[0];
    const KeyHash hash = key_hash(coefficients, n_buckets);
    require_equal("len(out_pointers)", length(out_pointers), "len(pointers)", rows.n_rows + 1);
    require_at_least("len(out_columns)", length(out_columns), n_used);
    require_at_least("len(out_data)", length(out_data), n_used);
    int64_t* ends = vector<int64_t>("out_pointers", out_pointers);
    int32_t* columns = vector<int32_t>("out_columns", out_columns);
    T* data = vector<T>("out_data", out_data);
    const nb::gil_scoped_release released;
    hash_columns(rows, hash, current_level().hash_keys, ends, columns, data);
}

template <class T>
void py_sketch_keys(const Array<const int64_t, 1>& pointers, const Array<const uint64_t, 1>& keys,
                    const Array<const double, 1>& values, const Array<const uint64_t, 1>& coefficients,
                    const Array<T, 2>& out) {
    const KeyedRows rows = keyed_rows(pointers, keys, values, true);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const KeyHash hash = key_hash(coefficients, target.n_columns);
    require_equal("out.shape[0]", target.n_rows, "len(pointers) - 1", rows.n_rows);
    const nb::gil_scoped_release released;
    sketch_keys(rows, hash, target.data, target.stride);
}

template <class T>
void py_segment_sum(const Array<const T, 2>& values, const Array<const int64_t, 1>& pointers, const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("values", values);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const int64_t* ends = ascending("pointers", pointers, rows.n_rows);
    require_equal("out.shape[0]", target.n_rows, "len(pointers) - 1", length(pointers) - 1);
    require_equal("out.shape[1]", target.n_columns, "values.shape[1]", rows.n_columns);
    const nb::gil_scoped_release released;
    segment_sum(rows.data, rows.stride, ends, target.n_rows, target.n_columns, target.data, target.stride);
}

Text text_rows(const Array<const uint8_t, 1>& text, const Array<const int64_t, 1>& offsets,
               const Array<const uint8_t, 1>& codes) {
    require_equal("len(codes)", length(codes), "256", 256);
    return {vector<const uint8_t>("text", text), ascending("offsets", offsets, length(text)), length(offsets) - 1,
            vector<const uint8_t>("codes", codes)};
}

Substrings substrings(int64_t least, int64_t longest, int64_t bits, uint64_t base, bool placed) {
    if (least < 1 || longest < least) fail("least must be at least 1, and longest at least least.");
    if (bits < 0 || bits > 8 || (bits && (bits * longest > 60))) fail("bits * longest must be at most 60.");
    if (base >= kPrime) fail("base must be below 2^61 - 1.");
    return {least, longest, static_cast<int>(bits), base, placed};
}

// The number of substrings of strings whose letters all count.
int64_t most_substrings(const int64_t* offsets, int64_t n_strings, const Substrings& parts) {
    int64_t n = 0;
    for (int64_t i = 0; i < n_strings; ++i) {
        for (int64_t j = parts.least; j <= parts.longest && j <= offsets[i + 1] - offsets[i]; ++j) {
            n += offsets[i + 1] - offsets[i] - j + 1;
        }
    }
    return n;
}

void require_codes(const Text& rows, int64_t bits) {
    for (int64_t c = 0; c < 256; ++c) {
        if (rows.codes[c] != kNoLetter && rows.codes[c] >> bits) fail("codes must be below 2^bits, or 255 for no letter.");
    }
}

int64_t py_string_keys(const Array<const uint8_t, 1>& text, const Array<const int64_t, 1>& offsets,
                       const Array<const uint8_t, 1>& codes, int64_t least, int64_t longest, int64_t bits,
                       uint64_t base, bool placed, const Array<int64_t, 1>& out_pointers,
                       const Array<uint64_t, 1>& out_keys, const Array<uint8_t, 1>& out_lengths) {
    const Text rows = text_rows(text, offsets, codes);
    const Substrings parts = substrings(least, longest, bits, base, placed);
    const int64_t most = most_substrings(rows.offsets, rows.n_strings, parts);
    require_equal("len(out_pointers)", length(out_pointers), "len(offsets)", rows.n_strings + 1);
    require_at_least("len(out_keys)", length(out_keys), most);
    if (length(out_lengths)) require_at_least("len(out_lengths)", length(out_lengths), most);
    if (bits) require_codes(rows, bits);
    int64_t* ends = vector<int64_t>("out_pointers", out_pointers);
    uint64_t* keys = vector<uint64_t>("out_keys", out_keys);
    uint8_t* lengths = length(out_lengths) ? vector<uint8_t>("out_lengths", out_lengths) : nullptr;
    const nb::gil_scoped_release released;
    if (bits) return packed_keys(rows, parts, ends, keys, lengths);
    const auto letter = [&rows](int64_t t) {
        const uint8_t code = rows.codes[rows.letters[t]];
        return code == kNoLetter ? uint64_t(0) : uint64_t(code) + 1;
    };
    return polynomial_keys(rows.offsets, rows.n_strings, letter, parts, ends, keys, lengths);
}

void py_count_substrings(const Array<const uint8_t, 1>& text, const Array<const int64_t, 1>& offsets,
                         const Array<const uint8_t, 1>& codes, int64_t least, int64_t longest, int64_t bits,
                         const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys,
                         const Array<double, 1>& out_values, const Array<double, 1>& out_squares) {
    const Text rows = text_rows(text, offsets, codes);
    const Substrings parts = substrings(least, longest, bits, 0, false);
    if (!bits) fail("bits must be at least 1.");
    const int64_t most = most_substrings(rows.offsets, rows.n_strings, parts);
    if (most > std::numeric_limits<uint32_t>::max() / 2) fail("text must have fewer than 2^31 substrings; work on fewer rows.");
    require_equal("len(out_pointers)", length(out_pointers), "len(offsets)", rows.n_strings + 1);
    require_at_least("len(out_keys)", length(out_keys), most);
    require_at_least("len(out_values)", length(out_values), most);
    require_equal("len(out_squares)", length(out_squares), "len(offsets) - 1", rows.n_strings);
    require_codes(rows, bits);
    const CountedRows out = {vector<int64_t>("out_pointers", out_pointers), vector<uint64_t>("out_keys", out_keys),
                             vector<double>("out_values", out_values), vector<double>("out_squares", out_squares)};
    const nb::gil_scoped_release released;
    count_substrings(rows, parts, out);
}

int64_t py_token_keys(const Array<const int64_t, 1>& tokens, const Array<const int64_t, 1>& offsets, int64_t least,
                      int64_t longest, uint64_t base, const Array<int64_t, 1>& out_pointers,
                      const Array<uint64_t, 1>& out_keys) {
    const int64_t* ends = ascending("offsets", offsets, length(tokens));
    const int64_t* given = vector<const int64_t>("tokens", tokens);
    const Substrings parts = substrings(least, longest, 0, base, false);
    const int64_t n_rows = length(offsets) - 1;
    require_equal("len(out_pointers)", length(out_pointers), "len(offsets)", n_rows + 1);
    require_at_least("len(out_keys)", length(out_keys), most_substrings(ends, n_rows, parts));
    int64_t* pointers = vector<int64_t>("out_pointers", out_pointers);
    uint64_t* keys = vector<uint64_t>("out_keys", out_keys);
    const nb::gil_scoped_release released;
    const auto letter = [given, base](int64_t t) {
        return as_key(joined(base, static_cast<uint64_t>(given[t]))) % (kPrime - 1) + 1;
    };
    return polynomial_keys(ends, n_rows, letter, parts, pointers, keys, nullptr);
}

const uint8_t* complement_of(const Array<const uint8_t, 1>& complement) {
    if (!length(complement)) return nullptr;
    require_equal("len(complement)", length(complement), "256", 256);
    return vector<const uint8_t>("complement", complement);
}

int64_t py_masked_keys(const Array<const uint8_t, 1>& text, const Array<const int64_t, 1>& offsets,
                       const Array<const uint8_t, 1>& codes, const Array<const int32_t, 2>& masks, int64_t window,
                       int64_t bits, uint64_t base, const Array<const uint8_t, 1>& complement,
                       const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys) {
    const Text rows = text_rows(text, offsets, codes);
    const Matrix<const int32_t> places = matrix<const int32_t, 2>("masks", masks);
    require_packed("masks", places);
    if (window < 1 || base >= kPrime || bits < 0 || bits * window > 60 ||
        (bits && places.n_rows >= (int64_t(1) << (61 - bits * window)))) {
        fail("bits * length must leave room for the number of a mask in 61 bits.");
    }
    for (int64_t i = 0; i < places.n_rows * places.n_columns; ++i) {
        if (places.data[i] < 0 || places.data[i] >= window) fail("masks must hold places in [0, length).");
    }
    const Masks asked = {places.data, places.n_rows, places.n_columns, window, static_cast<int>(bits), base,
                         complement_of(complement)};
    const int64_t windows = most_substrings(rows.offsets, rows.n_strings, {window, window, 0, 0, false});
    require_equal("len(out_pointers)", length(out_pointers), "len(offsets)", rows.n_strings + 1);
    require_at_least("len(out_keys)", length(out_keys), windows * places.n_rows * (asked.complement ? 2 : 1));
    int64_t* ends = vector<int64_t>("out_pointers", out_pointers);
    uint64_t* keys = vector<uint64_t>("out_keys", out_keys);
    const nb::gil_scoped_release released;
    return masked_keys(rows, asked, ends, keys);
}

void py_agreement_sums(const Array<const uint8_t, 1>& text, const Array<const int64_t, 1>& offsets,
                       const Array<const uint8_t, 1>& codes, const Array<const uint8_t, 1>& complement,
                       const Array<const double, 1>& values, const Array<double, 1>& out) {
    const Text rows = text_rows(text, offsets, codes);
    require_at_least("len(values)", length(values), 2);
    require_equal("len(out)", length(out), "len(offsets) - 1", rows.n_strings);
    const double* table = vector<const double>("values", values);
    double* sums = vector<double>("out", out);
    const uint8_t* turned = complement_of(complement);
    const nb::gil_scoped_release released;
    agreement_sums(rows, length(values) - 1, turned, table, sums);
}

template <class T>
void py_subsequence_sketch(const Array<const uint8_t, 1>& text, const Array<const int64_t, 1>& offsets,
                           const Array<const uint8_t, 1>& codes, const Array<const int32_t, 2>& index,
                           const Array<const int8_t, 2>& sign, const Array<const int64_t, 1>& widths, double decay,
                           const Array<T, 2>& out) {
    const Text rows = text_rows(text, offsets, codes);
    const HashTable hashes = hash_table(index, sign);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const int64_t* places = vector<const int64_t>("widths", widths);
    require_at_least("index.shape[0]", hashes.n_factors, 1);
    require_equal("index.shape[1]", hashes.n_columns, "256", 256);
    require_equal("len(widths)", length(widths), "len(index) + 1", hashes.n_factors + 1);
    require_equal("out.shape[0]", target.n_rows, "len(offsets) - 1", rows.n_strings);
    require_equal("widths[-1]", places[hashes.n_factors], "out.shape[1]", target.n_columns);
    for (int64_t j = 1; j <= hashes.n_factors; ++j) {
        if (places[j] < 1 || places[j] > target.n_columns) fail("widths must lie in [1, out.shape[1]].");
        // Shifts stay inside: either both have all places, and a shift is circular, or there is room for the largest one.
        const bool circular = places[j] == target.n_columns && (j == 1 || places[j - 1] == target.n_columns);
        const int64_t room = circular ? places[j] : places[j] - (j == 1 ? 1 : places[j - 1]) + 1;
        for (int64_t c = 0; c < 256; ++c) {
            const int32_t shift = hashes.index[(j - 1) * 256 + c];
            if (c != kNoLetter && (shift < 0 || shift >= room)) fail("index must hold shifts that stay in widths.");
        }
    }
    const nb::gil_scoped_release released;
    kernels<T>().subsequence_sketch(rows, hashes, {decay, places}, target);
}

void py_subsequence_values(const Array<const uint8_t, 1>& text, const Array<const int64_t, 1>& offsets,
                           const Array<const uint8_t, 1>& other_text, const Array<const int64_t, 1>& other_offsets,
                           const Array<const uint8_t, 1>& codes, int64_t size, double decay,
                           const Array<double, 2>& out) {
    const Text left = text_rows(text, offsets, codes), right = text_rows(other_text, other_offsets, codes);
    const Matrix<double> target = matrix<double, 2>("out", out);
    if (size < 1 || size > 64) fail("length must lie in [1, 64].");
    require_equal("out.shape[0]", target.n_rows, "len(offsets) - 1", left.n_strings);
    if (target.n_columns != 1) {
        require_equal("out.shape[1]", target.n_columns, "len(other_offsets) - 1", right.n_strings);
    }
    const bool paired = target.n_columns == 1 && right.n_strings != 1;
    if (paired) require_equal("len(other_offsets)", right.n_strings + 1, "len(offsets)", left.n_strings + 1);
    const nb::gil_scoped_release released;
    subsequence_values(left, right, {size, decay, paired}, target);
}

template <class T>
void bind(nb::module_& m) {
    m.def("hash_columns", &py_hash_columns<T>, "pointers"_a.noconvert(), "keys"_a.noconvert(), "values"_a.noconvert(),
          "coefficients"_a.noconvert(), "n_buckets"_a, "out_pointers"_a.noconvert(), "out_columns"_a.noconvert(),
          "out_data"_a.noconvert());
    m.def("sketch_keys", &py_sketch_keys<T>, "pointers"_a.noconvert(), "keys"_a.noconvert(), "values"_a.noconvert(),
          "coefficients"_a.noconvert(), "out"_a.noconvert());
    m.def("subsequence_sketch", &py_subsequence_sketch<T>, "text"_a.noconvert(), "offsets"_a.noconvert(),
          "codes"_a.noconvert(), "index"_a.noconvert(), "sign"_a.noconvert(), "widths"_a.noconvert(), "decay"_a,
          "out"_a.noconvert());
    m.def("segment_sum", &py_segment_sum<T>, "values"_a.noconvert(), "pointers"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_structures(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def("count_keys", &py_count_keys, "pointers"_a.noconvert(), "keys"_a.noconvert(), "weights"_a.noconvert(),
          "counts"_a, "out_pointers"_a.noconvert(), "out_keys"_a.noconvert(), "out_values"_a.noconvert(),
          "out_squares"_a.noconvert());
    m.def("string_keys", &py_string_keys, "text"_a.noconvert(), "offsets"_a.noconvert(), "codes"_a.noconvert(),
          "least"_a, "longest"_a, "bits"_a, "base"_a, "placed"_a, "out_pointers"_a.noconvert(),
          "out_keys"_a.noconvert(), "out_lengths"_a.noconvert());
    m.def("count_substrings", &py_count_substrings, "text"_a.noconvert(), "offsets"_a.noconvert(), "codes"_a.noconvert(),
          "least"_a, "longest"_a, "bits"_a, "out_pointers"_a.noconvert(), "out_keys"_a.noconvert(),
          "out_values"_a.noconvert(), "out_squares"_a.noconvert());
    m.def("token_keys", &py_token_keys, "tokens"_a.noconvert(), "offsets"_a.noconvert(), "least"_a, "longest"_a,
          "base"_a, "out_pointers"_a.noconvert(), "out_keys"_a.noconvert());
    m.def("masked_keys", &py_masked_keys, "text"_a.noconvert(), "offsets"_a.noconvert(), "codes"_a.noconvert(),
          "masks"_a.noconvert(), "length"_a, "bits"_a, "base"_a, "complement"_a.noconvert(),
          "out_pointers"_a.noconvert(), "out_keys"_a.noconvert());
    m.def("agreement_sums", &py_agreement_sums, "text"_a.noconvert(), "offsets"_a.noconvert(), "codes"_a.noconvert(),
          "complement"_a.noconvert(), "values"_a.noconvert(), "out"_a.noconvert());
    m.def("subsequence_values", &py_subsequence_values, "text"_a.noconvert(), "offsets"_a.noconvert(),
          "other_text"_a.noconvert(), "other_offsets"_a.noconvert(), "codes"_a.noconvert(), "length"_a, "decay"_a,
          "out"_a.noconvert());
}

}  // namespace mercer
