// Keys of the nodes and paths of graphs: the adjacency of their disjoint union, with neighbours numbered in their graph.
#pragma once

#include <cstdint>
#include <vector>

#include "hashing.hpp"

namespace mercer {

struct GraphRows {
    const int64_t* graphs;  // first node of each graph, and the end
    const int64_t* nodes;   // first neighbour of each node, and the end
    const int32_t* neighbours;
    const int64_t* labels;
    const int64_t* edge_labels;  // null without
    int64_t n_graphs;
};

// The neighbours of each node in ascending order, each once, from edges between nodes of the union: listed once or more,
// in any direction. Writes degrees and neighbours, numbered in their graph, and returns how many there are; -1 - e if
// edge e does not lie in one graph. Lists are sorted by being written in the order of their entries.
inline int64_t adjacency(const int64_t* edges, int64_t n_edges, const int64_t* graphs, int64_t n_graphs,
                         int32_t* degrees, int32_t* neighbours) {
    const int64_t n_nodes = graphs[n_graphs];
    std::vector<int32_t> graph_of(static_cast<std::size_t>(n_nodes)), unsorted(2 * static_cast<std::size_t>(n_edges));
    for (int64_t g = 0; g < n_graphs; ++g) {
        for (int64_t v = graphs[g]; v < graphs[g + 1]; ++v) graph_of[static_cast<std::size_t>(v)] = static_cast<int32_t>(g);
    }
    std::vector<int64_t> starts(static_cast<std::size_t>(n_nodes) + 1, 0);
    for (int64_t e = 0; e < n_edges; ++e) {
        const int64_t u = edges[2 * e], v = edges[2 * e + 1];
        if (u < 0 || v < 0 || u >= n_nodes || v >= n_nodes) return -1 - e;
        if (graph_of[static_cast<std::size_t>(u)] != graph_of[static_cast<std::size_t>(v)]) return -1 - e;
        ++starts[static_cast<std::size_t>(u) + 1];
        ++starts[static_cast<std::size_t>(v) + 1];
    }
    for (std::size_t v = 1; v < starts.size(); ++v) starts[v] += starts[v - 1];
    std::vector<int64_t> ends(starts.begin(), starts.end() - 1);
    for (int64_t i = 0; i < 2 * n_edges; ++i) {
        int64_t& end = ends[static_cast<std::size_t>(edges[i])];
        unsorted[static_cast<std::size_t>(end++)] = static_cast<int32_t>(edges[i ^ 1]);
    }
    ends.assign(starts.begin(), starts.end() - 1);
    for (int32_t v = 0; v < n_nodes; ++v) {
        for (int64_t i = starts[static_cast<std::size_t>(v)]; i < starts[static_cast<std::size_t>(v) + 1]; ++i) {
            const auto u = static_cast<std::size_t>(unsorted[static_cast<std::size_t>(i)]);
            if (ends[u] == starts[u] || neighbours[ends[u] - 1] != v) neighbours[ends[u]++] = v;
        }
    }
    int64_t n = 0;
    for (int64_t v = 0; v < n_nodes; ++v) {
        const int64_t first = graphs[graph_of[static_cast<std::size_t>(v)]], start = starts[static_cast<std::size_t>(v)];
        degrees[v] = static_cast<int32_t>(ends[static_cast<std::size_t>(v)] - start);
        for (int32_t i = 0; i < degrees[v]; ++i) neighbours[n++] = static_cast<int32_t>(neighbours[start + i] - first);
    }
    return n;
}

// Weisfeiler-Lehman labels of rounds 0 to depth. Graph g has its keys from (depth + 1) graphs[g] on, round by round.
// A sum of mixed labels replaces the sorted multiset of neighbours: no sorting, and no memory of earlier graphs.
inline void refine(const GraphRows& rows, int64_t depth, uint64_t seed, uint64_t* keys) {
    std::vector<uint64_t> labels, next, mixed;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const int64_t first = rows.graphs[g], size = rows.graphs[g + 1] - first;
        labels.resize(static_cast<std::size_t>(size));
        next.resize(static_cast<std::size_t>(size));
        mixed.resize(static_cast<std::size_t>(size));
        uint64_t* out = keys + (depth + 1) * first;
        for (int64_t v = 0; v < size; ++v) {
            labels[static_cast<std::size_t>(v)] = joined(seed, static_cast<uint64_t>(rows.labels[first + v]));
            out[v] = as_key(labels[static_cast<std::size_t>(v)]);
        }
        for (int64_t round = 1; round <= depth; ++round) {
            const uint64_t salt = joined(~seed, static_cast<uint64_t>(round));  // no label of round 0 equals it
            out += size;
            for (std::size_t v = 0; v < static_cast<std::size_t>(size); ++v) mixed[v] = mixed64(labels[v] ^ salt);
            for (int64_t v = 0; v < size; ++v) {
                uint64_t sum = labels[static_cast<std::size_t>(v)] * 0xD6E8FEB86659FD93u + salt;
                for (int64_t e = rows.nodes[first + v]; e < rows.nodes[first + v + 1]; ++e) {
                    const auto u = static_cast<std::size_t>(rows.neighbours[e]);
                    sum += rows.edge_labels ? joined(mixed[u], static_cast<uint64_t>(rows.edge_labels[e])) : mixed[u];
                }
                next[static_cast<std::size_t>(v)] = mixed64(sum);
                out[v] = as_key(next[static_cast<std::size_t>(v)]);
            }
            labels.swap(next);
        }
    }
}

// Keys (label of u, label of v, distance) of all ordered pairs of different nodes that a path joins; returns their
// number. Edge labels are not used.
inline int64_t path_keys(const GraphRows& rows, uint64_t seed, int64_t* pointers, uint64_t* keys) {
    std::vector<int32_t> distance, queue;
    int64_t n = pointers[0] = 0;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const int64_t first = rows.graphs[g], size = rows.graphs[g + 1] - first;
        for (int64_t source = 0; source < size; ++source) {
            distance.assign(static_cast<std::size_t>(size), -1);
            queue.assign(1, static_cast<int32_t>(source));
            distance[static_cast<std::size_t>(source)] = 0;
            const uint64_t from = joined(seed, static_cast<uint64_t>(rows.labels[first + source]));
            for (std::size_t next = 0; next < queue.size(); ++next) {
                const int32_t v = queue[next], away = distance[static_cast<std::size_t>(v)];
                if (away) {
                    const uint64_t to = joined(from, static_cast<uint64_t>(rows.labels[first + v]));
                    keys[n++] = as_key(joined(to, static_cast<uint64_t>(away)));
                }
                for (int64_t e = rows.nodes[first + v]; e < rows.nodes[first + v + 1]; ++e) {
                    const int32_t u = rows.neighbours[e];
                    if (distance[static_cast<std::size_t>(u)] >= 0) continue;
                    distance[static_cast<std::size_t>(u)] = away + 1;
                    queue.push_back(u);
                }
            }
        }
        pointers[g + 1] = n;
    }
    return n;
}

}  // namespace mercer
