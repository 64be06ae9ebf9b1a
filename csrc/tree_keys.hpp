// Keys of the complete subtrees and of the fragments of ordered trees.
#pragma once

#include <cstdint>
#include <vector>

#include "hashing.hpp"

namespace mercer {

struct TreeRows {
    const int64_t* trees;  // first node of each tree, and the end
    const int64_t* labels;
    const int32_t* parents;  // in the tree, before their children; -1 at the root
    int64_t n_trees;
};

// The hash and the number of nodes of the complete subtree at each node. Children are joined from the last to the
// first, so that one pass from the last node to the first serves all.
inline void subtree_keys(const TreeRows& rows, uint64_t seed, uint64_t* keys, int64_t* sizes) {
    std::vector<uint64_t> children;
    for (int64_t t = 0; t < rows.n_trees; ++t) {
        const int64_t first = rows.trees[t], size = rows.trees[t + 1] - first;
        children.assign(static_cast<std::size_t>(size), seed);
        for (int64_t v = 0; v < size; ++v) sizes[first + v] = 1;
        for (int64_t v = size - 1; v >= 0; --v) {
            const uint64_t hash = joined(children[static_cast<std::size_t>(v)], static_cast<uint64_t>(rows.labels[first + v]));
            keys[first + v] = as_key(hash);
            const int32_t parent = rows.parents[first + v];
            if (parent < 0) continue;
            uint64_t& of_parent = children[static_cast<std::size_t>(parent)];
            of_parent = joined(of_parent, hash);
            sizes[first + parent] += sizes[first + v];
        }
    }
}

// Fragments of at most max_size productions: a node with all its children, of which any are expanded in turn. A leaf is
// a fragment of its own of size 1 with `leaves`, and none without. Writes a key and a size for each fragment, and returns
// their number.
struct Fragments {
    int64_t max_size;
    bool leaves;
    uint64_t seed;
};

namespace fragments {

typedef std::vector<std::vector<uint64_t>> BySize;  // hashes of the fragments of a node, by their size

// Partial fragments with one more child: left as it is, or expanded to one of its own fragments.
inline BySize with_child(const BySize& partial, const BySize& child, int64_t max_size) {
    BySize result(static_cast<std::size_t>(max_size) + 1);
    for (std::size_t s = 1; s < partial.size(); ++s) {
        for (const uint64_t hash : partial[s]) {
            result[s].push_back(joined(hash, 1));
            for (std::size_t c = 1; s + c < result.size(); ++c) {
                for (const uint64_t fragment : child[c]) result[s + c].push_back(joined(hash, fragment));
            }
        }
    }
    return result;
}

}  // namespace fragments

// The number of all fragments, or -1 if it exceeds `most`. Counts alone are carried from children to parents: a tree may
// have more fragments than memory holds.
inline int64_t count_fragments(const TreeRows& rows, const Fragments& asked, int64_t most) {
    const auto width = static_cast<std::size_t>(asked.max_size) + 1;
    const double limit = static_cast<double>(most);
    std::vector<double> counts, next(width);
    std::vector<int32_t> n_children;
    double n = 0;
    for (int64_t t = 0; t < rows.n_trees; ++t) {
        const int64_t first = rows.trees[t], size = rows.trees[t + 1] - first;
        n_children.assign(static_cast<std::size_t>(size), 0);
        for (int64_t v = 1; v < size; ++v) ++n_children[static_cast<std::size_t>(rows.parents[first + v])];
        // row v: the fragments so far of node v, of which the children seen are the later ones
        counts.assign(static_cast<std::size_t>(size) * width, 0.0);
        for (int64_t v = 0; v < size; ++v) counts[static_cast<std::size_t>(v) * width + 1] = 1.0;
        for (int64_t v = size - 1; v >= 0; --v) {
            const bool leaf = n_children[static_cast<std::size_t>(v)] == 0;
            double* own = counts.data() + static_cast<std::size_t>(v) * width;
            for (std::size_t s = 1; s < width && (!leaf || asked.leaves); ++s) n += own[s];
            if (n > limit) return -1;
            if (leaf || v == 0) continue;
            double* above = counts.data() + static_cast<std::size_t>(rows.parents[first + v]) * width;
            for (std::size_t s = 1; s < width; ++s) {
                next[s] = above[s];
                for (std::size_t c = 1; c < s; ++c) next[s] += above[s - c] * own[c];
                if (next[s] > limit) return -1;
            }
            for (std::size_t s = 1; s < width; ++s) above[s] = next[s];
        }
    }
    return static_cast<int64_t>(n);
}

inline int64_t fragment_keys(const TreeRows& rows, const Fragments& asked, int64_t* pointers, uint64_t* keys,
                             int64_t* sizes) {
    std::vector<fragments::BySize> of_nodes;
    std::vector<std::vector<int64_t>> children;
    int64_t n = pointers[0] = 0;
    for (int64_t t = 0; t < rows.n_trees; ++t) {
        const int64_t first = rows.trees[t], size = rows.trees[t + 1] - first;
        of_nodes.assign(static_cast<std::size_t>(size), fragments::BySize());
        children.assign(static_cast<std::size_t>(size), std::vector<int64_t>());
        for (int64_t v = 1; v < size; ++v) children[static_cast<std::size_t>(rows.parents[first + v])].push_back(v);
        for (int64_t v = size - 1; v >= 0; --v) {
            const std::vector<int64_t>& below = children[static_cast<std::size_t>(v)];
            fragments::BySize found(static_cast<std::size_t>(asked.max_size) + 1);
            if (!below.empty() || asked.leaves) {
                uint64_t production = joined(asked.seed, static_cast<uint64_t>(rows.labels[first + v]));
                for (const int64_t c : below) production = joined(production, static_cast<uint64_t>(rows.labels[first + c]));
                found[1].push_back(joined(production, below.size()));
            }
            for (const int64_t c : below) {
                fragments::BySize& own = of_nodes[static_cast<std::size_t>(c)];
                // the production of the parent names its leaves: they have nothing to be expanded to
                if (children[static_cast<std::size_t>(c)].empty()) own.assign(static_cast<std::size_t>(asked.max_size) + 1, {});
                found = fragments::with_child(found, own, asked.max_size);
                of_nodes[static_cast<std::size_t>(c)].clear();
            }
            for (std::size_t s = 1; s < found.size(); ++s) {
                for (const uint64_t hash : found[s]) {
                    sizes[n] = static_cast<int64_t>(s);
                    keys[n++] = as_key(hash);
                }
            }
            of_nodes[static_cast<std::size_t>(v)].swap(found);
        }
        pointers[t + 1] = n;
    }
    return n;
}

}  // namespace mercer
