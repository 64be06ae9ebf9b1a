// Keys of the labels along all walks of a few steps, with the number of walks of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph_keys.hpp"

namespace mercer {

struct WalkCounts {
    int64_t* pointers;
    uint64_t* keys;
    double* counts;
    int64_t* steps;
};

namespace walks {

typedef std::vector<std::pair<uint64_t, double>> Counts;  // hashes of labels, ascending, and how many walks have them

inline void merge(Counts& found) {
    std::sort(found.begin(), found.end());
    std::size_t n = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (n && found[n - 1].first == found[i].first) {
            found[n - 1].second += found[i].second;
        } else {
            found[n++] = found[i];
        }
    }
    found.resize(n);
}

}  // namespace walks

// Walks of 0 to `length` steps, which may return. The walks that end in a node are those that end in a neighbour, with
// one label more; equal ones are counted together, so that a node holds at most as many entries as there are labels of
// walks. Writes nothing where out.keys is null. Returns the number of entries; -1 if they exceed `most`.
inline int64_t walk_keys(const GraphRows& rows, int64_t length, uint64_t seed, int64_t most, const WalkCounts& out) {
    std::vector<walks::Counts> at, next;
    int64_t n = 0;
    if (out.keys) out.pointers[0] = 0;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const int64_t first = rows.graphs[g];
        const auto size = static_cast<std::size_t>(rows.graphs[g + 1] - first);
        if (at.size() < size) at.resize(size), next.resize(size);
        for (int64_t step = 0; step <= length; ++step) {
            for (std::size_t v = 0; v < size; ++v) {
                const int64_t node = first + static_cast<int64_t>(v);
                const auto label = static_cast<uint64_t>(rows.labels[node]);
                walks::Counts& found = next[v];
                found.clear();
                if (step == 0) found.emplace_back(joined(seed, label), 1.0);
                for (int64_t e = rows.nodes[node]; e < rows.nodes[node + 1] && step > 0; ++e) {
                    for (const auto& walk : at[static_cast<std::size_t>(rows.neighbours[e])]) {
                        uint64_t hash = walk.first;
                        if (rows.edge_labels) hash = joined(hash, static_cast<uint64_t>(rows.edge_labels[e]));
                        found.emplace_back(joined(hash, label), walk.second);
                    }
                    if (static_cast<int64_t>(found.size()) > most) return -1;
                }
                walks::merge(found);
                if (n + static_cast<int64_t>(found.size()) > most) return -1;
                for (std::size_t i = 0; i < found.size() && out.keys; ++i) {
                    const auto place = static_cast<std::size_t>(n) + i;
                    out.keys[place] = as_key(found[i].first);
                    out.counts[place] = found[i].second;
                    out.steps[place] = step;
                }
                n += static_cast<int64_t>(found.size());
            }
            at.swap(next);
        }
        if (out.keys) out.pointers[g + 1] = n;
    }
    return n;
}

}  // namespace mercer
