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

// The neighbours of the nodes of one graph in ascending order, each once: lists are sorted by being written in the order
// of their entries. The memory of a graph stays in cache, and serves the next one.
class GraphLists {
  public:
    // Takes edges between nodes from `first` on, listed once or more, in any direction. Writes degrees and neighbours,
    // numbered from `first` on, and returns how many there are.
    int64_t write(const int64_t* edges, int64_t n_edges, int64_t first, int64_t n_nodes, int32_t* degrees,
                  int32_t* neighbours) {
        for (int column : {0, 1}) {
            if (take_sorted(edges, n_edges, first, n_nodes, column, degrees, neighbours)) return n_edges;
        }
        starts_.assign(static_cast<std::size_t>(n_nodes) + 1, 0);
        if (unsorted_.size() < 2 * static_cast<std::size_t>(n_edges)) {
            unsorted_.resize(2 * static_cast<std::size_t>(n_edges));
            sorted_.resize(unsorted_.size());
        }
        for (int64_t i = 0; i < 2 * n_edges; ++i) ++starts_[static_cast<std::size_t>(edges[i] - first) + 1];
        for (std::size_t v = 1; v < starts_.size(); ++v) starts_[v] += starts_[v - 1];
        ends_.assign(starts_.begin(), starts_.end() - 1);
        for (int64_t i = 0; i < 2 * n_edges; ++i) {
            int64_t& end = ends_[static_cast<std::size_t>(edges[i] - first)];
            unsorted_[static_cast<std::size_t>(end++)] = static_cast<int32_t>(edges[i ^ 1] - first);
        }
        ends_.assign(starts_.begin(), starts_.end() - 1);
        for (int32_t v = 0; v < n_nodes; ++v) {
            for (int64_t i = starts_[static_cast<std::size_t>(v)]; i < starts_[static_cast<std::size_t>(v) + 1]; ++i) {
                const auto u = static_cast<std::size_t>(unsorted_[static_cast<std::size_t>(i)]);
                const auto end = static_cast<std::size_t>(ends_[u]);
                sorted_[end] = v;
                ends_[u] += ends_[u] == starts_[u] || sorted_[end - 1] != v;  // the same node again: it is overwritten
            }
        }
        int64_t n = 0;
        for (std::size_t v = 0; v < static_cast<std::size_t>(n_nodes); ++v) {
            degrees[v] = static_cast<int32_t>(ends_[v] - starts_[v]);
            for (int64_t i = starts_[v]; i < ends_[v]; ++i) neighbours[n++] = sorted_[static_cast<std::size_t>(i)];
        }
        return n;
    }

  private:
    // Edges that are listed once in each direction, in the order of one column: the other column has the neighbours
    // already. Returns false, and the neighbours are not written, where the edges are not of this kind.
    bool take_sorted(const int64_t* edges, int64_t n_edges, int64_t first, int64_t n_nodes, int column, int32_t* degrees,
                     int32_t* neighbours) {
        const int64_t *nodes = edges + column, *others = edges + 1 - column;
        for (int64_t e = 1; e < n_edges; ++e) {
            const int64_t step = nodes[2 * e] - nodes[2 * e - 2];
            if (step < 0 || (step == 0 && others[2 * e] <= others[2 * e - 2])) return false;
        }
        for (int64_t v = 0; v < n_nodes; ++v) degrees[v] = 0;
        for (int64_t e = 0; e < n_edges; ++e) ++degrees[nodes[2 * e] - first];
        ends_.resize(static_cast<std::size_t>(n_nodes));
        int64_t end = 0;
        for (int64_t v = 0; v < n_nodes; end += degrees[v++]) ends_[static_cast<std::size_t>(v)] = end;
        // The neighbours of u are met in ascending order: the next entry of u's own list must be the node at hand.
        bool both = true;
        for (int64_t e = 0; e < n_edges && both; ++e) {
            const int64_t place = ends_[static_cast<std::size_t>(others[2 * e] - first)]++;
            both = place < n_edges && nodes[2 * place] == others[2 * e] && others[2 * place] == nodes[2 * e];
        }
        for (int64_t e = 0; e < n_edges && both; ++e) neighbours[e] = static_cast<int32_t>(others[2 * e] - first);
        return both;
    }

    std::vector<int64_t> starts_, ends_;
    std::vector<int32_t> unsorted_, sorted_;
};

// Where the edges of each graph begin, and the end. Empty if they do not follow each other graph by graph; then `ordered`
// receives the edges in this order. Returns -1 - e if edge e does not lie in one graph, else 0.
inline int64_t edges_by_graph(const int64_t* edges, int64_t n_edges, const int64_t* graphs, int64_t n_graphs,
                              std::vector<int64_t>& starts, std::vector<int64_t>& ordered) {
    const int64_t n_nodes = graphs[n_graphs];
    std::vector<int32_t> graph_of(static_cast<std::size_t>(n_nodes));
    for (int64_t g = 0; g < n_graphs; ++g) {
        for (int64_t v = graphs[g]; v < graphs[g + 1]; ++v) graph_of[static_cast<std::size_t>(v)] = static_cast<int32_t>(g);
    }
    starts.assign(static_cast<std::size_t>(n_graphs) + 1, 0);
    bool in_order = true;
    int32_t last = 0;
    for (int64_t e = 0; e < n_edges; ++e) {
        const int64_t u = edges[2 * e], v = edges[2 * e + 1];
        if (u < 0 || v < 0 || u >= n_nodes || v >= n_nodes) return -1 - e;
        const int32_t g = graph_of[static_cast<std::size_t>(u)];
        if (g != graph_of[static_cast<std::size_t>(v)]) return -1 - e;
        ++starts[static_cast<std::size_t>(g) + 1];
        in_order &= g >= last;
        last = g;
    }
    for (std::size_t g = 1; g < starts.size(); ++g) starts[g] += starts[g - 1];
    if (in_order) return 0;
    ordered.resize(2 * static_cast<std::size_t>(n_edges));
    std::vector<int64_t> ends(starts.begin(), starts.end() - 1);
    for (int64_t e = 0; e < n_edges; ++e) {
        const auto g = static_cast<std::size_t>(graph_of[static_cast<std::size_t>(edges[2 * e])]);
        const auto place = static_cast<std::size_t>(ends[g]++);
        ordered[2 * place] = edges[2 * e];
        ordered[2 * place + 1] = edges[2 * e + 1];
    }
    return 0;
}

// The neighbours of each node in ascending order, each once, from edges between nodes of the union: listed once or more,
// in any direction and order. Writes degrees and neighbours, numbered in their graph, and returns how many there are;
// -1 - e if edge e does not lie in one graph.
inline int64_t adjacency(const int64_t* edges, int64_t n_edges, const int64_t* graphs, int64_t n_graphs,
                         int32_t* degrees, int32_t* neighbours) {
    std::vector<int64_t> starts, ordered;
    const int64_t fault = edges_by_graph(edges, n_edges, graphs, n_graphs, starts, ordered);
    if (fault < 0) return fault;
    const int64_t* given = ordered.empty() ? edges : ordered.data();
    GraphLists lists;
    int64_t n = 0;
    for (int64_t g = 0; g < n_graphs; ++g) {
        const int64_t start = starts[static_cast<std::size_t>(g)], size = starts[static_cast<std::size_t>(g) + 1] - start;
        const int64_t first = graphs[g];
        n += lists.write(given + 2 * start, size, first, graphs[g + 1] - first, degrees + first, neighbours + n);
    }
    return n;
}

// Weisfeiler-Lehman labels of one graph. A sum of mixed labels replaces the sorted multiset of neighbours: no sorting, and
// no memory of earlier graphs.
class Refinement {
  public:
    explicit Refinement(const GraphRows& rows) : rows_(rows) {}

    // Writes the keys of graph g of rounds 0 to depth, round by round.
    void write(int64_t g, int64_t depth, uint64_t seed, uint64_t* out) {
        const int64_t first = rows_.graphs[g], size = rows_.graphs[g + 1] - first;
        labels_.resize(static_cast<std::size_t>(size));
        mixed_.resize(static_cast<std::size_t>(size) + 1);
        for (int64_t v = 0; v < size; ++v) {
            labels_[static_cast<std::size_t>(v)] = joined(seed, static_cast<uint64_t>(rows_.labels[first + v]));
            out[v] = as_key(labels_[static_cast<std::size_t>(v)]);
        }
        const bool few = list_few_neighbours(first, size);
        for (int64_t round = 1; round <= depth; ++round) {
            const uint64_t salt = joined(~seed, static_cast<uint64_t>(round));  // no label of round 0 equals it
            out += size;
            for (std::size_t v = 0; v < static_cast<std::size_t>(size); ++v) mixed_[v] = mixed64(labels_[v] ^ salt);
            mixed_[static_cast<std::size_t>(size)] = 0;
            for (int64_t v = 0; v < size; ++v) {
                uint64_t& label = labels_[static_cast<std::size_t>(v)];
                label = mixed64(label * 0xD6E8FEB86659FD93u + salt + (few ? sum_of_few(v) : sum_of_all(first + v)));
                out[v] = as_key(label);
            }
        }
    }

  private:
    static constexpr int64_t kFew = 4;

    // Where no node has more than four neighbours, and edges have no labels, all lists are filled up to four with a node
    // past the last one, which adds 0: the length of a list is then no branch, which would be guessed in every round.
    bool list_few_neighbours(int64_t first, int64_t size) {
        if (rows_.edge_labels) return false;
        few_.assign(static_cast<std::size_t>(kFew * size), static_cast<int32_t>(size));
        for (int64_t v = 0; v < size; ++v) {
            const int64_t start = rows_.nodes[first + v], degree = rows_.nodes[first + v + 1] - start;
            if (degree > kFew) return false;
            for (int64_t k = 0; k < degree; ++k) few_[static_cast<std::size_t>(kFew * v + k)] = rows_.neighbours[start + k];
        }
        return true;
    }
    uint64_t sum_of_few(int64_t v) const {
        const int32_t* near = few_.data() + kFew * v;
        const uint64_t* mixed = mixed_.data();
        return (mixed[near[0]] + mixed[near[1]]) + (mixed[near[2]] + mixed[near[3]]);
    }
    uint64_t sum_of_all(int64_t node) const {
        uint64_t sum = 0;
        for (int64_t e = rows_.nodes[node]; e < rows_.nodes[node + 1]; ++e) {
            const uint64_t sent = mixed_[static_cast<std::size_t>(rows_.neighbours[e])];
            sum += rows_.edge_labels ? joined(sent, static_cast<uint64_t>(rows_.edge_labels[e])) : sent;
        }
        return sum;
    }

    const GraphRows& rows_;
    std::vector<uint64_t> labels_, mixed_;
    std::vector<int32_t> few_;
};

// Weisfeiler-Lehman labels of rounds 0 to depth. Graph g has its keys from (depth + 1) graphs[g] on, round by round.
inline void refine(const GraphRows& rows, int64_t depth, uint64_t seed, uint64_t* keys) {
    Refinement refinement(rows);
    for (int64_t g = 0; g < rows.n_graphs; ++g) refinement.write(g, depth, seed, keys + (depth + 1) * rows.graphs[g]);
}

}  // namespace mercer
