// Keys of the connected subgraphs of a few nodes: all of them, or some that are drawn with known probabilities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "graph_keys.hpp"

namespace mercer {

constexpr int kMostSubgraphNodes = 5;

struct Subgraphs {
    int size;          // nodes of a subgraph, at most kMostSubgraphNodes
    int64_t n_draws;   // subgraphs that are drawn from a graph with more; 0: all are taken
    uint64_t seed;
};

namespace subgraphs {

// One graph, whose nodes are numbered from 0 on.
struct Graph {
    const GraphRows& rows;
    int64_t first;
    int64_t n_nodes;

    const int32_t* begin(int32_t v) const { return rows.neighbours + rows.nodes[first + v]; }
    const int32_t* end(int32_t v) const { return rows.neighbours + rows.nodes[first + v + 1]; }
    int64_t degree(int32_t v) const { return rows.nodes[first + v + 1] - rows.nodes[first + v]; }
    // The entry of v among the neighbours of u, from the shorter list; -1 without an edge.
    int64_t edge(int32_t u, int32_t v) const {
        if (degree(u) > degree(v)) std::swap(u, v);
        const int32_t* found = std::lower_bound(begin(u), end(u), v);
        return found != end(u) && *found == v ? found - rows.neighbours : -1;
    }
};

// The edges among a few nodes.
struct Picture {
    int64_t edges[kMostSubgraphNodes][kMostSubgraphNodes];
    unsigned adjacent[kMostSubgraphNodes];  // bits of the nodes next to each node

    Picture(const Graph& graph, const int32_t* nodes, int size) {
        for (int i = 0; i < size; ++i) adjacent[i] = 0;
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j <= i; ++j) {  // a node may be next to itself
                edges[i][j] = edges[j][i] = graph.edge(nodes[i], nodes[j]);
                if (edges[i][j] < 0) continue;
                adjacent[i] |= 1u << j;
                adjacent[j] |= 1u << i;
            }
        }
    }
};

// Refinement of labels tells any two graphs of at most five nodes apart, with labels of nodes and edges: a class of
// refined labels then has too few nodes for two different regular graphs.
inline uint64_t key(const Graph& graph, const int32_t* nodes, int size, const Picture& picture, uint64_t seed) {
    uint64_t labels[kMostSubgraphNodes], next[kMostSubgraphNodes];
    for (int i = 0; i < size; ++i) labels[i] = joined(seed, static_cast<uint64_t>(graph.rows.labels[graph.first + nodes[i]]));
    const int64_t* edge_labels = graph.rows.edge_labels;
    for (int round = 1; round <= size; ++round) {
        const uint64_t salt = joined(~seed, static_cast<uint64_t>(round));
        for (int i = 0; i < size; ++i) {
            next[i] = labels[i] * 0xD6E8FEB86659FD93u + salt;
            for (int j = 0; j < size; ++j) {
                if (!(picture.adjacent[i] >> j & 1)) continue;
                const uint64_t sent = mixed64(labels[j] ^ salt);
                next[i] += edge_labels ? joined(sent, static_cast<uint64_t>(edge_labels[picture.edges[i][j]])) : sent;
            }
        }
        for (int i = 0; i < size; ++i) labels[i] = mixed64(next[i]);
    }
    uint64_t sum = static_cast<uint64_t>(size);
    for (int i = 0; i < size; ++i) sum += labels[i];
    return as_key(mixed64(sum));
}

// Visits each connected set of `size` nodes once (Wernicke 2006): a set grows by nodes above its first one that are
// not next to earlier members, so that no set is reached in two ways. Stops after `most` sets.
template <class Visit>
class Sets {
  public:
    Sets(const Graph& graph, int size, int64_t most, std::vector<char>& seen, Visit visit)
        : graph_(graph), size_(size), most_(most), seen_(seen), visit_(visit) {}

    int64_t run() {
        seen_.assign(static_cast<std::size_t>(graph_.n_nodes), 0);
        for (int32_t root = 0; root < graph_.n_nodes && number_ < most_; ++root) {
            seen_[static_cast<std::size_t>(root)] = 1;
            nodes_[0] = root;
            extension_.clear();
            take_neighbours(root);
            extend(1, 0);
            for (const int32_t u : extension_) seen_[static_cast<std::size_t>(u)] = 0;
            seen_[static_cast<std::size_t>(root)] = 0;
        }
        return number_;
    }

  private:
    void take_neighbours(int32_t v) {
        for (const int32_t* u = graph_.begin(v); u != graph_.end(v); ++u) {
            if (*u <= nodes_[0] || seen_[static_cast<std::size_t>(*u)]) continue;
            seen_[static_cast<std::size_t>(*u)] = 1;
            extension_.push_back(*u);
        }
    }

    // Candidates are the entries of extension_ from `from` on: those that were left when the set was smaller, and the
    // new ones, which are taken off again.
    void extend(int depth, std::size_t from) {
        for (std::size_t i = from; i < extension_.size() && number_ < most_; ++i) {
            nodes_[depth] = extension_[i];
            if (depth + 1 == size_) {
                ++number_;
                visit_(nodes_);
                continue;
            }
            const std::size_t old = extension_.size();
            take_neighbours(nodes_[depth]);
            extend(depth + 1, i + 1);
            for (std::size_t j = old; j < extension_.size(); ++j) seen_[static_cast<std::size_t>(extension_[j])] = 0;
            extension_.resize(old);
        }
    }

    const Graph& graph_;
    int size_;
    int64_t most_, number_ = 0;
    std::vector<char>& seen_;
    Visit visit_;
    int32_t nodes_[kMostSubgraphNodes];
    std::vector<int32_t> extension_;
};

template <class Visit>
int64_t each(const Graph& graph, int size, int64_t most, std::vector<char>& seen, Visit visit) {
    return Sets<Visit>(graph, size, most, seen, visit).run();
}

// Draws of one graph: a hash of its content and the seed starts them, so that other graphs have draws of their own, and
// the same graph has the same draws among any others.
class Chance {
  public:
    Chance(const Graph& graph, uint64_t seed) : state_(joined(seed, static_cast<uint64_t>(graph.n_nodes))) {
        for (int32_t v = 0; v < graph.n_nodes; ++v) {
            state_ = joined(state_, static_cast<uint64_t>(graph.rows.labels[graph.first + v]));
            for (const int32_t* u = graph.begin(v); u != graph.end(v); ++u) state_ = joined(state_, static_cast<uint64_t>(*u));
        }
    }
    int64_t below(int64_t bound) {
        uint64_t high;
        multiply(mixed64(state_ += 0x9E3779B97F4A7C15u), static_cast<uint64_t>(bound), high);
        return static_cast<int64_t>(high);
    }

  private:
    uint64_t state_;
};

// Grows a connected set from a uniform node by uniform edges that leave the set. False where no edge leaves it before
// it has `size` nodes.
inline bool grow(const Graph& graph, int size, Chance& chance, int32_t* nodes) {
    nodes[0] = static_cast<int32_t>(chance.below(graph.n_nodes));
    int64_t ends = graph.degree(nodes[0]);  // ends of edges at the nodes, and those of edges among them
    int64_t inside = graph.edge(nodes[0], nodes[0]) >= 0 ? 1 : 0;
    for (int n = 1; n < size; ++n) {
        if (ends == inside) return false;
        int32_t found = nodes[0];
        while (std::find(nodes, nodes + n, found) != nodes + n) {
            int64_t place = chance.below(ends);
            int i = 0;
            for (; place >= graph.degree(nodes[i]); ++i) place -= graph.degree(nodes[i]);
            found = graph.begin(nodes[i])[place];
        }
        for (int i = 0; i < n; ++i) inside += graph.edge(nodes[i], found) >= 0 ? 2 : 0;
        inside += graph.edge(found, found) >= 0 ? 1 : 0;
        nodes[n] = found;
        ends += graph.degree(found);
    }
    return true;
}

// The probability that `grow` ends with these nodes, over all orders: a sum over the last node of each subset.
inline double probability(const Graph& graph, const int32_t* nodes, int size, const Picture& picture) {
    double reached[1 << kMostSubgraphNodes];
    int64_t leaving[1 << kMostSubgraphNodes];
    for (unsigned set = 1; set < 1u << size; ++set) {
        int64_t ends = 0;
        int members = 0, inside = 0;
        reached[set] = 0;
        for (int i = 0; i < size; ++i) {
            if (!(set >> i & 1)) continue;
            ++members;
            ends += graph.degree(nodes[i]);
            const unsigned before = set & ~(1u << i);
            int joint = 0;
            for (int j = 0; j < size; ++j) joint += (picture.adjacent[i] & before) >> j & 1;
            inside += joint + static_cast<int>(picture.adjacent[i] >> i & 1);
            if (joint) reached[set] += reached[before] * joint / static_cast<double>(leaving[before]);
        }
        if (members == 1) reached[set] = 1 / static_cast<double>(graph.n_nodes);
        leaving[set] = ends - inside;
    }
    return reached[(1u << size) - 1];
}

}  // namespace subgraphs

// The number of subgraphs that are taken of each graph, at most: all, or the draws of a graph with more. -1 if they
// exceed `most` together.
inline int64_t count_subgraphs(const GraphRows& rows, const Subgraphs& asked, int64_t most) {
    std::vector<char> seen;
    int64_t n = 0;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const subgraphs::Graph graph = {rows, rows.graphs[g], rows.graphs[g + 1] - rows.graphs[g]};
        const int64_t limit = asked.n_draws ? asked.n_draws : most - n + 1;
        n += subgraphs::each(graph, asked.size, limit, seen, [](const int32_t*) {});
        if (n > most) return -1;
    }
    return n;
}

// Writes the keys of the subgraphs of each graph, and weights: 1, or 1 / (draws probability) where they are drawn, so
// that the sum of the weights of a key has the count of that key as its mean. Returns how many there are.
inline int64_t subgraph_keys(const GraphRows& rows, const Subgraphs& asked, int64_t* pointers, uint64_t* keys,
                             double* weights) {
    std::vector<char> seen;
    int64_t n = pointers[0] = 0;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const subgraphs::Graph graph = {rows, rows.graphs[g], rows.graphs[g + 1] - rows.graphs[g]};
        const auto none = [](const int32_t*) {};
        if (asked.n_draws && subgraphs::each(graph, asked.size, asked.n_draws + 1, seen, none) > asked.n_draws) {
            subgraphs::Chance chance(graph, asked.seed);
            int32_t nodes[kMostSubgraphNodes];
            for (int64_t draw = 0; draw < asked.n_draws; ++draw) {
                if (!subgraphs::grow(graph, asked.size, chance, nodes)) continue;
                const subgraphs::Picture picture(graph, nodes, asked.size);
                weights[n] = 1 / (static_cast<double>(asked.n_draws) *
                                  subgraphs::probability(graph, nodes, asked.size, picture));
                keys[n++] = subgraphs::key(graph, nodes, asked.size, picture, asked.seed);
            }
        } else {
            subgraphs::each(graph, asked.size, std::numeric_limits<int64_t>::max(), seen, [&](const int32_t* nodes) {
                weights[n] = 1;
                const subgraphs::Picture picture(graph, nodes, asked.size);
                keys[n++] = subgraphs::key(graph, nodes, asked.size, picture, asked.seed);
            });
        }
        pointers[g + 1] = n;
    }
    return n;
}

}  // namespace mercer
