// Partial trees (Moschitti 2006): fragments whose nodes keep any of their children, in order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tree_keys.hpp"
#include "types.hpp"

namespace mercer {

struct PartialTreeWeights {
    double decay;      // of a node
    double gap_decay;  // of a child left out between two that are kept, and twice of a node without children
    double terminal;   // of a leaf of the tree
};

namespace partial_trees {

// What a fragment weighs is decay^(nodes / 2) gap_decay^gaps terminal^(leaves / 2).
struct Fragment {
    uint64_t hash;
    int32_t gaps, leaves;
    int32_t last;  // place of the last child that is kept, in a sequence of children
};
typedef std::vector<std::vector<Fragment>> BySize;  // by the number of nodes

inline std::vector<std::vector<int64_t>> children_of(const TreeRows& rows, int64_t t) {
    const int64_t first = rows.trees[t], size = rows.trees[t + 1] - first;
    std::vector<std::vector<int64_t>> children(static_cast<std::size_t>(size));
    for (int64_t v = 1; v < size; ++v) children[static_cast<std::size_t>(rows.parents[first + v])].push_back(v);
    return children;
}

// Sequences of fragments of the children, with the fragments of one child more at the end, or without.
inline void add_child(BySize& sequences, const BySize& child, int32_t place, uint64_t start) {
    BySize fresh(sequences.size());
    for (std::size_t c = 1; c < child.size(); ++c) {
        for (const Fragment& own : child[c]) {
            if (c < fresh.size()) fresh[c].push_back({joined(start, own.hash), own.gaps, own.leaves, place});
            for (std::size_t s = 1; s + c < fresh.size(); ++s) {
                for (const Fragment& before : sequences[s]) {
                    fresh[s + c].push_back({joined(before.hash, own.hash), before.gaps + own.gaps + place - before.last - 1,
                                            before.leaves + own.leaves, place});
                }
            }
        }
    }
    for (std::size_t s = 1; s < fresh.size(); ++s) sequences[s].insert(sequences[s].end(), fresh[s].begin(), fresh[s].end());
}

}  // namespace partial_trees

// The number of partial trees of at most max_size nodes, or -1 if it exceeds `most`.
inline int64_t count_partial_trees(const TreeRows& rows, int64_t max_size, int64_t most) {
    const auto width = static_cast<std::size_t>(max_size) + 1;
    const double limit = static_cast<double>(most);
    std::vector<double> sequences;  // row v: of fragments of the children seen so far, by nodes; 1 of none
    double n = 0;
    for (int64_t t = 0; t < rows.n_trees; ++t) {
        const int64_t first = rows.trees[t], size = rows.trees[t + 1] - first;
        sequences.assign(static_cast<std::size_t>(size) * width, 0.0);
        for (int64_t v = size - 1; v >= 0; --v) {
            double* own = sequences.data() + static_cast<std::size_t>(v) * width;
            own[0] = 1;
            for (std::size_t s = 0; s + 1 < width; ++s) n += own[s];
            if (n > limit) return -1;
            if (v == 0) continue;
            double* above = sequences.data() + static_cast<std::size_t>(rows.parents[first + v]) * width;
            above[0] = 1;
            for (std::size_t s = width - 1; s >= 1; --s) {  // downwards: smaller sums are still those without v
                for (std::size_t c = 1; c <= s; ++c) above[s] += above[s - c] * own[c - 1];
                if (above[s] > limit) return -1;
            }
        }
    }
    return static_cast<int64_t>(n);
}

// Writes the key of each partial tree of at most max_size nodes, and its numbers of nodes, gaps and leaves.
inline void partial_tree_keys(const TreeRows& rows, int64_t max_size, uint64_t seed, int64_t* pointers, uint64_t* keys,
                              const Matrix<int32_t>& shapes) {
    using namespace partial_trees;
    const auto width = static_cast<std::size_t>(max_size) + 1;
    std::vector<BySize> of_nodes;
    int64_t n = pointers[0] = 0;
    for (int64_t t = 0; t < rows.n_trees; ++t) {
        const int64_t first = rows.trees[t], size = rows.trees[t + 1] - first;
        const std::vector<std::vector<int64_t>> children = children_of(rows, t);
        of_nodes.assign(static_cast<std::size_t>(size), BySize());
        for (int64_t v = size - 1; v >= 0; --v) {
            const std::vector<int64_t>& below = children[static_cast<std::size_t>(v)];
            const uint64_t root = joined(seed, static_cast<uint64_t>(rows.labels[first + v]));
            BySize sequences(width - 1), &found = of_nodes[static_cast<std::size_t>(v)];
            for (std::size_t i = 0; i < below.size(); ++i) {
                BySize& child = of_nodes[static_cast<std::size_t>(below[i])];
                add_child(sequences, child, static_cast<int32_t>(i), ~seed);
                child.clear();
            }
            found.resize(width);
            found[1].push_back({joined(root, 0), 1, below.empty() ? 1 : 0, 0});
            for (std::size_t s = 1; s < sequences.size(); ++s) {
                for (const Fragment& own : sequences[s]) found[s + 1].push_back({joined(root, own.hash), own.gaps, own.leaves, 0});
            }
            for (std::size_t s = 1; s < width; ++s) {
                for (const Fragment& own : found[s]) {
                    int32_t* shape = shapes.data + n * shapes.stride;
                    shape[0] = static_cast<int32_t>(s), shape[1] = own.gaps, shape[2] = own.leaves;
                    keys[n++] = as_key(own.hash);
                }
            }
        }
        pointers[t + 1] = n;
    }
}

namespace partial_trees {

// Sum over all common subsequences of two lists of children of the products of `common` (n, m), with gap_decay for each
// child that is left out between two that are kept.
inline double subsequences(const std::vector<double>& common, std::size_t n, std::size_t m, double gap_decay) {
    std::vector<double> ending = common, sums(n * m);  // of subsequences that end at i and j; of those that end before
    double total = 0;
    for (const double value : ending) total += value;
    for (std::size_t length = 1; length < std::min(n, m); ++length) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < m; ++j) {
                double sum = ending[i * m + j];
                if (i) sum += gap_decay * sums[(i - 1) * m + j];
                if (j) sum += gap_decay * sums[i * m + j - 1];
                if (i && j) sum -= gap_decay * gap_decay * sums[(i - 1) * m + j - 1];
                sums[i * m + j] = sum;
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < m; ++j) {
                const std::size_t place = i * m + j;
                ending[place] = i && j ? common[place] * sums[place - m - 1] : 0.0;
                total += ending[place];
            }
        }
    }
    return total;
}

}  // namespace partial_trees

// The kernel of one pair of trees with fragments of any size, by recursion over pairs of nodes with equal labels.
inline double partial_tree_value(const TreeRows& left, int64_t s, const TreeRows& right, int64_t t,
                                 const PartialTreeWeights& weights) {
    const auto below = partial_trees::children_of(left, s), other_below = partial_trees::children_of(right, t);
    const std::size_t n = below.size(), m = other_below.size();
    std::vector<double> values(n * m, 0.0), common;
    const double single = weights.decay * weights.gap_decay * weights.gap_decay;
    double total = 0;
    for (std::size_t u = n; u-- > 0;) {
        for (std::size_t v = m; v-- > 0;) {
            if (left.labels[left.trees[s] + static_cast<int64_t>(u)] != right.labels[right.trees[t] + static_cast<int64_t>(v)]) continue;
            const auto &a = below[u], &b = other_below[v];
            double value = single;
            if (a.empty()) value *= std::sqrt(weights.terminal);
            if (b.empty()) value *= std::sqrt(weights.terminal);
            if (!a.empty() && !b.empty()) {
                common.clear();
                for (const int64_t c : a) {
                    for (const int64_t d : b) common.push_back(values[static_cast<std::size_t>(c) * m + static_cast<std::size_t>(d)]);
                }
                value += weights.decay * partial_trees::subsequences(common, a.size(), b.size(), weights.gap_decay);
            }
            values[u * m + v] = value;
            total += value;
        }
    }
    return total;
}

// All pairs of trees, (n, m); or, `paired`, tree i of one side with tree i of the other, (n, 1).
inline void partial_tree_values(const TreeRows& left, const TreeRows& right, const PartialTreeWeights& weights, bool paired,
                                const Matrix<double>& out) {
    for (int64_t i = 0; i < out.n_rows; ++i) {
        for (int64_t j = 0; j < out.n_columns; ++j) {
            out.data[i * out.stride + j] = partial_tree_value(left, i, right, paired ? i : j, weights);
        }
    }
}

}  // namespace mercer
