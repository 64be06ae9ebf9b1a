// Keys of the shortest paths of graphs, and their counts.
#pragma once

#include <cstdint>
#include <vector>

#include "graph_keys.hpp"
#include "key_counts.hpp"

namespace mercer {

// Breadth-first searches from all nodes of a graph.
class PathSearch {
  public:
    // Calls visit(u, v, distance) for all ordered pairs of different nodes that a path joins: by u, then in the order of
    // the queue.
    template <class Visit>
    void run(const GraphRows& rows, int64_t g, const Visit& visit) {
        if (rows.graphs[g + 1] - rows.graphs[g] <= kWordNodes) {
            run_by_words(rows, g, visit);
        } else {
            run_by_lists(rows, g, visit);
        }
    }

  private:
    static constexpr int64_t kWordNodes = 64;

    static int lowest_bit(uint64_t word) {
#if defined(__GNUC__)
        return __builtin_ctzll(word);
#else
        int v = 0;
        while (!((word >> v) & 1)) ++v;
        return v;
#endif
    }
    // A set of nodes is one word: the neighbours of a node that are new take one step.
    template <class Visit>
    void run_by_words(const GraphRows& rows, int64_t g, const Visit& visit) {
        const int64_t first = rows.graphs[g], size = rows.graphs[g + 1] - first;
        uint64_t near[kWordNodes];
        uint8_t queue[kWordNodes];
        for (int64_t v = 0; v < size; ++v) {
            near[v] = 0;
            for (int64_t e = rows.nodes[first + v]; e < rows.nodes[first + v + 1]; ++e) {
                near[v] |= uint64_t(1) << rows.neighbours[e];
            }
        }
        for (int64_t u = 0; u < size; ++u) {
            uint64_t unseen = ~(uint64_t(1) << u);
            int64_t next = 0, end = 1;
            queue[0] = static_cast<uint8_t>(u);
            for (int64_t distance = 1; next < end; ++distance) {
                for (const int64_t level = end; next < level; ++next) {
                    uint64_t found = near[queue[next]] & unseen;
                    unseen ^= found;
                    for (; found; found &= found - 1) {
                        const int v = lowest_bit(found);
                        queue[end++] = static_cast<uint8_t>(v);
                        visit(u, v, distance);
                    }
                }
            }
        }
    }
    template <class Visit>
    void run_by_lists(const GraphRows& rows, int64_t g, const Visit& visit) {
        const int64_t first = rows.graphs[g], size = rows.graphs[g + 1] - first;
        for (int64_t u = 0; u < size; ++u) {
            distance_.assign(static_cast<std::size_t>(size), -1);
            queue_.assign(1, static_cast<int32_t>(u));
            distance_[static_cast<std::size_t>(u)] = 0;
            for (std::size_t next = 0; next < queue_.size(); ++next) {
                const int64_t from = first + queue_[next], away = distance_[static_cast<std::size_t>(queue_[next])] + 1;
                for (int64_t e = rows.nodes[from]; e < rows.nodes[from + 1]; ++e) {
                    const int32_t v = rows.neighbours[e];
                    if (distance_[static_cast<std::size_t>(v)] >= 0) continue;
                    distance_[static_cast<std::size_t>(v)] = static_cast<int32_t>(away);
                    queue_.push_back(v);
                    visit(u, v, away);
                }
            }
        }
    }

    std::vector<int32_t> distance_, queue_;
};

// The key of an ordered pair: (label of u, label of v, distance).
inline uint64_t path_key(uint64_t seed, int64_t from, int64_t to, int64_t distance) {
    const uint64_t start = joined(seed, static_cast<uint64_t>(from));
    return as_key(joined(joined(start, static_cast<uint64_t>(to)), static_cast<uint64_t>(distance)));
}

// Keys of all ordered pairs of different nodes that a path joins; returns their number. Edge labels are not used.
inline int64_t path_keys(const GraphRows& rows, uint64_t seed, int64_t* pointers, uint64_t* keys) {
    PathSearch search;
    int64_t n = pointers[0] = 0;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const int64_t* labels = rows.labels + rows.graphs[g];
        search.run(rows, g, [&](int64_t u, int64_t v, int64_t distance) {
            keys[n++] = path_key(seed, labels[u], labels[v], distance);
        });
        pointers[g + 1] = n;
    }
    return n;
}

// Counts the keys of one graph. Labels are numbered within the graph, so that two labels and a distance are a place in a
// small array: a key is hashed once, where its place is met for the first time.
class PathCounts {
  public:
    PathCounts(const GraphRows& rows, uint64_t seed) : rows_(rows), seed_(seed) {}

    // Writes the distinct keys of graph g in the order in which they are met, with their counts, or 1 for `presence`.
    // Returns their number.
    int64_t write(int64_t g, bool presence, uint64_t* keys, double* values) {
        const int64_t* labels = rows_.labels + rows_.graphs[g];
        const int64_t size = rows_.graphs[g + 1] - rows_.graphs[g], n_labels = number_labels(labels, size);
        found_.clear();
        met_.clear();
        if (n_labels * n_labels > kMostPlaces / (size + 1)) {
            search_.run(rows_, g, [&](int64_t u, int64_t v, int64_t distance) {
                found_.push_back(path_key(seed_, labels[u], labels[v], distance));
            });
            return write_counts(presence, [](int64_t) { return 1.0; }, keys, values);
        }
        const auto n_places = static_cast<std::size_t>(n_labels * n_labels * size);
        if (counts_.size() < n_places) counts_.resize(n_places, 0);
        const int64_t* numbers = numbers_.data();
        uint32_t* counts = counts_.data();
        search_.run(rows_, g, [&](int64_t u, int64_t v, int64_t distance) {
            const int64_t place = (numbers[u] * n_labels + numbers[v]) * size + distance;
            if (counts[place]++) return;
            met_.push_back(place);
            found_.push_back(path_key(seed_, labels[u], labels[v], distance));
        });
        const auto count = [&](int64_t j) { return static_cast<double>(counts[met_[static_cast<std::size_t>(j)]]); };
        const int64_t n = write_counts(presence, count, keys, values);
        for (const int64_t place : met_) counts[place] = 0;
        return n;
    }

  private:
    // Counts of a place stay below 2^32, as there are fewer nodes than places.
    static constexpr int64_t kMostPlaces = int64_t(1) << 16;

    int64_t number_labels(const int64_t* labels, int64_t size) {
        numbers_.assign(labels, labels + size);
        as_keys_.assign(labels, labels + size);
        const uint32_t* first = places_.find(as_keys_.data(), size);
        int64_t n = 0;
        for (std::size_t v = 0; v < numbers_.size(); ++v) numbers_[v] = first[v] == v ? n++ : numbers_[first[v]];
        return n;
    }
    template <class Weight>
    int64_t write_counts(bool presence, const Weight& weight, uint64_t* keys, double* values) {
        const auto size = static_cast<int64_t>(found_.size());
        if (presence) return sums_.write_first(found_.data(), size, [](int64_t) { return 1.0; }, keys, values);
        return sums_.write(found_.data(), size, weight, keys, values);
    }

    const GraphRows& rows_;
    uint64_t seed_;
    PathSearch search_;
    FirstPlaces<uint64_t> places_;
    KeySums sums_;
    std::vector<uint64_t> as_keys_, found_;
    std::vector<int64_t> numbers_, met_;
    std::vector<uint32_t> counts_;  // all 0 between graphs
};

inline void count_paths(const GraphRows& rows, uint64_t seed, bool presence, const CountedRows& out) {
    PathCounts counts(rows, seed);
    int64_t end = out.pointers[0] = 0;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const int64_t n = counts.write(g, presence, out.keys + end, out.values + end);
        out.squares[g] = sum_of_squares(out.values + end, n);
        out.pointers[g + 1] = end += n;
    }
}

}  // namespace mercer
