// Rows whose nearest centre a few directions do not tell; see reference/clusters.py. Included inside the namespace of
// one instruction set.

constexpr int64_t kHeadVectors = 2;
constexpr int64_t kHeadRows = kHeadVectors * kLanes<float>;  // lanes are rows
constexpr int kHeadCentres = 6;                              // 2 x 6 sums leave 4 of 16 registers for operands

// One batch of rows: their numbers, heads (width x kHeadRows) and scores |c|^2 - 2 <head, head of c>, centre by centre.
struct HeadBatch {
    int64_t rows[kHeadRows];
    int64_t size;
    float* heads;
    float* scores;
};

// heads[j * kHeadRows + r] = entry j of row r
inline void pack_heads(const Matrix<const float>& rows, const HeadBatch& batch) {
    const int64_t width = rows.n_columns, whole = width - width % kLanes<float>;
    for (int64_t v = 0; v < kHeadVectors; ++v) {
        const float* some[kLanes<float>];
        for (int64_t l = 0; l < kLanes<float>; ++l) {
            const int64_t r = v * kLanes<float> + l;
            some[l] = rows.data + batch.rows[r < batch.size ? r : batch.size - 1] * rows.stride;
        }
        float* packed = batch.heads + v * kLanes<float>;
        for (int64_t j = 0; j < whole; j += kLanes<float>) {
            Lanes<float> square[kLanes<float>];
            MERCER_UNROLL
            for (int64_t l = 0; l < kLanes<float>; ++l) square[l] = load<float>(some[l] + j);
            transpose(square);
            MERCER_UNROLL
            for (int64_t l = 0; l < kLanes<float>; ++l) store<float>(packed + (j + l) * kHeadRows, square[l]);
        }
        for (int64_t j = whole; j < width; ++j) {
            for (int64_t l = 0; l < kLanes<float>; ++l) packed[j * kHeadRows + l] = some[l][j];
        }
    }
}

template <int kCentres>
void tile_of_scores(const float* packed, const Matrix<const float>& centres, int64_t first, const float* lengths,
                    float* scores) {
    Lanes<float> sum[kCentres][kHeadVectors] = {};
    const float* heads = centres.data + first * centres.stride;
    for (int64_t j = 0; j < centres.n_columns; ++j) {
        Lanes<float> rows[kHeadVectors];
        MERCER_UNROLL
        for (int v = 0; v < kHeadVectors; ++v) rows[v] = load<float>(packed + j * kHeadRows + v * kLanes<float>);
        MERCER_UNROLL
        for (int c = 0; c < kCentres; ++c) {
            MERCER_UNROLL
            for (int v = 0; v < kHeadVectors; ++v) sum[c][v] = sum[c][v] + rows[v] * heads[c * centres.stride + j];
        }
    }
    MERCER_UNROLL
    for (int c = 0; c < kCentres; ++c) {
        MERCER_UNROLL
        for (int v = 0; v < kHeadVectors; ++v) {
            store<float>(scores + (first + c) * kHeadRows + v * kLanes<float>, sum[c][v] * -2.0f + lengths[first + c]);
        }
    }
}

inline void scores_of_batch(const ClusterHeads& heads, const HeadBatch& batch) {
    const int64_t n = heads.centres.n_rows;
    if (n < kHeadCentres) {
        for (int64_t c = 0; c < n; ++c) {
            tile_of_scores<1>(batch.heads, heads.centres, c, heads.lengths, batch.scores);
        }
        return;
    }
    for (int64_t c = 0; c < n; c += kHeadCentres) {  // the last tile takes some centres again
        const int64_t first = c + kHeadCentres <= n ? c : n - kHeadCentres;
        tile_of_scores<kHeadCentres>(batch.heads, heads.centres, first, heads.lengths, batch.scores);
    }
}

// Of each row of a batch: the centre of the least score, that score, twice the length of the rest, what rounding may
// take from a difference of scores, the most that the square of its distance can be, by how much all other centres are
// farther, in squares, whatever the rests are, and what margin that is where it is positive.
struct HeadVerdicts {
    int32_t label[kHeadRows];
    float score[kHeadRows], rest[kHeadRows], slack[kHeadRows], own[kHeadRows], gap[kHeadRows], margin[kHeadRows];
};

// The verdict on the rows of one vector.
inline void judge_vector(const ClusterHeads& heads, const float* scores, int64_t first, HeadVerdicts& v) {
    using L = Lanes<float>;
    const auto n = heads.centres.n_rows;
    const L largest = all_lanes<float>(kLargest), zero = {}, half = all_lanes<float>(0.5f);
    const L rest = load<float>(v.rest + first), slack = load<float>(v.slack + first);
    L score = load<float>(scores + first), number = zero, label = zero;  // numbers as floats: of at most 2^24 centres
    for (int64_t c = 1; c < n; ++c) {
        const L other = load<float>(scores + c * kHeadRows + first);
        number = number + 1.0f;
        label = where_less<float>(other, score, number, label);
        score = where_less<float>(other, score, other, score);
    }
    L low = largest;
    number = zero;
    for (int64_t c = 0; c < n; ++c, number = number + 1.0f) {
        const L other = load<float>(scores + c * kHeadRows + first) - rest * heads.spreads[c], off = number - label;
        low = where_less<float>(off * off, half, low, where_less<float>(other, low, other, low));
    }
    L spread, centre_rest;
    for (int64_t l = 0; l < kLanes<float>; ++l) {
        const auto chosen = static_cast<int32_t>(label[l]);
        v.label[first + l] = chosen;
        spread[l] = heads.spreads[chosen];
        centre_rest[l] = heads.centre_rests[chosen];
    }
    const L gap = low - (score + rest * spread + slack), own = load<float>(v.own + first) + score + rest * centre_rest;
    store<float>(v.score + first, score);
    store<float>(v.gap + first, gap);
    store<float>(v.own + first, where_less<float>(zero, own, own, zero));
}

inline void judge_batch(const ClusterHeads& heads, const ClusterScale& scale, const ClusterRows& state,
                        const HeadBatch& batch, HeadVerdicts& v) {
    for (int64_t r = 0; r < kHeadRows; ++r) {
        const int64_t row = batch.rows[r < batch.size ? r : batch.size - 1];
        v.rest[r] = 2 * heads.rests[row];
        v.slack[r] = static_cast<float>(2 * scale.relative * (state.norms[row] + scale.longest));
        v.own[r] = static_cast<float>(state.norms[row]) + v.slack[r];
    }
    for (int64_t first = 0; first < kHeadRows; first += kLanes<float>) judge_vector(heads, batch.scores, first, v);
    for (int64_t r = 0; r < kHeadRows; ++r) v.margin[r] = positive_margin(v.own[r], v.gap[r]);
}

// Sets the bits of the centres that may be nearer than the row's verdict, and that one's; returns how many. The gap
// becomes that of the others.
inline int64_t find_candidates(const ClusterHeads& heads, const HeadBatch& batch, int64_t r, HeadVerdicts& v,
                               const Matrix<uint64_t>& candidates, int64_t place) {
    const int64_t n = heads.centres.n_rows;
    uint64_t* words = candidates.data + place * candidates.stride;
    for (int64_t w = 0; w < candidates.n_columns; ++w) words[w] = 0;
    const float* apart = heads.apart + v.label[r] * n;
    const float limit = v.score[r] + v.slack[r];
    float gap = kInfinite;
    int64_t count = 0;
    for (int64_t c = 0; c < n; ++c) {
        const float more = batch.scores[c * kHeadRows + r] - v.rest[r] * apart[c] - limit;
        const bool candidate = c == v.label[r] || !(more > 0);
        words[c / 64] |= static_cast<uint64_t>(candidate) << (c & 63);
        count += candidate;
        gap = candidate || more > gap ? gap : more;
    }
    v.gap[r] = gap;
    return count;
}

inline int64_t settle_batch(const ClusterHeads& heads, const ClusterScale& scale, const ClusterRows& state,
                            const HeadBatch& batch, const ClusterDoubts& doubts, int64_t n_doubts) {
    pack_heads(heads.rows, batch);
    scores_of_batch(heads, batch);
    HeadVerdicts v;
    judge_batch(heads, scale, state, batch, v);
    for (int64_t r = 0; r < batch.size; ++r) {
        const int64_t row = batch.rows[r];
        const bool changed = v.label[r] != state.labels[row];
        if (v.gap[r] > 0 && !changed) {
            state.margins[row] = v.margin[r];
            continue;
        }
        const int64_t count = find_candidates(heads, batch, r, v, doubts.candidates, n_doubts);
        state.margins[row] = count > 1 ? v.gap[r] : margin_of(v.own[r], v.gap[r]);
        doubts.rows[n_doubts] = row;
        n_doubts += count > 1 || changed;  // the sums need the features of a row that changes
    }
    return n_doubts;
}

inline int64_t rows_in_doubt(const float* moved, const ClusterHeads& heads, const ClusterScale& scale,
                             const ClusterRows& state, const ClusterDoubts& doubts) {
    const int64_t width = heads.rows.n_columns;
    const auto room = static_cast<int64_t>(sizeof(float)) * kHeadRows;
    HeadBatch batch = {{}, 0, static_cast<float*>(scratch(Slot::packed_rows, width * room)),
                       static_cast<float*>(scratch(Slot::panel, state.n_clusters * room))};
    int64_t n_doubts = 0;
    for (int64_t row = 0; row < state.n_rows; ++row) {
        const float margin = (state.margins[row] - moved[state.labels[row]]) * (1 - 2 * kRounding);
        state.margins[row] = margin;
        if (margin > 0) continue;
        if (width == 0) {
            doubts.rows[n_doubts++] = row;
            continue;
        }
        batch.rows[batch.size++] = row;
        if (batch.size < kHeadRows) continue;
        n_doubts = settle_batch(heads, scale, state, batch, doubts, n_doubts);
        batch.size = 0;
    }
    return batch.size ? settle_batch(heads, scale, state, batch, doubts, n_doubts) : n_doubts;
}
