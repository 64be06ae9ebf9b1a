// One thin function for each primitive of graphs and trees. These are integer loops without SIMD: one version serves all
// instruction sets.

#include <limits>

#include "bind_structures.hpp"
#include "graph_keys.hpp"
#include "partial_trees.hpp"
#include "path_keys.hpp"
#include "subgraph_keys.hpp"
#include "tree_keys.hpp"
#include "walk_keys.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

int64_t py_adjacency(const Array<const int64_t, 2>& edges, const Array<const int64_t, 1>& graphs,
                     const Array<int32_t, 1>& out_degrees, const Array<int32_t, 1>& out_neighbours) {
    const Matrix<const int64_t> pairs = matrix<const int64_t, 2>("edges", edges);
    require_packed("edges", pairs);
    require_equal("edges.shape[1]", pairs.n_columns, "2", 2);
    const int64_t most = std::numeric_limits<int32_t>::max();
    const int64_t n_graphs = length(graphs) - 1;
    const int64_t* starts = ascending("graphs", graphs, most);
    if (starts[0] != 0) fail("graphs must begin with 0.");
    require_equal("len(out_degrees)", length(out_degrees), "graphs[-1]", starts[n_graphs]);
    require_equal("len(out_neighbours)", length(out_neighbours), "2 * len(edges)", 2 * pairs.n_rows);
    int32_t* degrees = vector<int32_t>("out_degrees", out_degrees);
    int32_t* neighbours = vector<int32_t>("out_neighbours", out_neighbours);
    const nb::gil_scoped_release released;
    return adjacency(pairs.data, pairs.n_rows, starts, n_graphs, degrees, neighbours);
}

GraphRows graph_rows(const Array<const int64_t, 1>& graphs, const Array<const int64_t, 1>& nodes,
                     const Array<const int32_t, 1>& neighbours, const Array<const int64_t, 1>& labels) {
    const int64_t n_nodes = length(labels), n_graphs = length(graphs) - 1;
    require_equal("len(nodes)", length(nodes), "len(labels) + 1", n_nodes + 1);
    const GraphRows rows = {ascending("graphs", graphs, n_nodes),
                            ascending("nodes", nodes, length(neighbours)),
                            vector<const int32_t>("neighbours", neighbours),
                            vector<const int64_t>("labels", labels),
                            nullptr,
                            n_graphs};
    for (int64_t g = 0; g < n_graphs; ++g) {
        const int64_t size = rows.graphs[g + 1] - rows.graphs[g];
        for (int64_t e = rows.nodes[rows.graphs[g]]; e < rows.nodes[rows.graphs[g + 1]]; ++e) {
            if (rows.neighbours[e] < 0 || rows.neighbours[e] >= size) fail("neighbours must be nodes of their graph.");
        }
    }
    return rows;
}

GraphRows labelled_rows(const Array<const int64_t, 1>& graphs, const Array<const int64_t, 1>& nodes,
                        const Array<const int32_t, 1>& neighbours, const Array<const int64_t, 1>& labels,
                        const Array<const int64_t, 1>& edge_labels) {
    GraphRows rows = graph_rows(graphs, nodes, neighbours, labels);
    if (length(edge_labels)) {
        require_equal("len(edge_labels)", length(edge_labels), "len(neighbours)", length(neighbours));
        rows.edge_labels = vector<const int64_t>("edge_labels", edge_labels);
    }
    return rows;
}

void py_refine(const Array<const int64_t, 1>& graphs, const Array<const int64_t, 1>& nodes,
               const Array<const int32_t, 1>& neighbours, const Array<const int64_t, 1>& labels,
               const Array<const int64_t, 1>& edge_labels, int64_t depth, uint64_t seed,
               const Array<uint64_t, 1>& out_keys) {
    const GraphRows rows = labelled_rows(graphs, nodes, neighbours, labels, edge_labels);
    if (depth < 0) fail("depth must be at least 0.");
    require_at_least("len(out_keys)", length(out_keys), (depth + 1) * rows.graphs[rows.n_graphs]);
    uint64_t* keys = vector<uint64_t>("out_keys", out_keys);
    const nb::gil_scoped_release released;
    refine(rows, depth, seed, keys);
}

int64_t most_paths(const GraphRows& rows) {
    int64_t most = 0;
    for (int64_t g = 0; g < rows.n_graphs; ++g) {
        const int64_t size = rows.graphs[g + 1] - rows.graphs[g];
        most += size * (size - 1);
    }
    return most;
}

int64_t py_path_keys(const Array<const int64_t, 1>& graphs, const Array<const int64_t, 1>& nodes,
                     const Array<const int32_t, 1>& neighbours, const Array<const int64_t, 1>& labels, uint64_t seed,
                     const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys) {
    const GraphRows given = graph_rows(graphs, nodes, neighbours, labels);
    require_equal("len(out_pointers)", length(out_pointers), "len(graphs)", given.n_graphs + 1);
    require_at_least("len(out_keys)", length(out_keys), most_paths(given));
    int64_t* ends = vector<int64_t>("out_pointers", out_pointers);
    uint64_t* keys = vector<uint64_t>("out_keys", out_keys);
    const nb::gil_scoped_release released;
    return path_keys(given, seed, ends, keys);
}

void py_count_paths(const Array<const int64_t, 1>& graphs, const Array<const int64_t, 1>& nodes,
                    const Array<const int32_t, 1>& neighbours, const Array<const int64_t, 1>& labels, uint64_t seed,
                    bool presence, const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys,
                    const Array<double, 1>& out_values, const Array<double, 1>& out_squares) {
    const GraphRows given = graph_rows(graphs, nodes, neighbours, labels);
    const int64_t most = most_paths(given);
    if (most > std::numeric_limits<uint32_t>::max() / 2) fail("graphs must have fewer than 2^31 pairs of nodes; work on fewer.");
    require_equal("len(out_pointers)", length(out_pointers), "len(graphs)", given.n_graphs + 1);
    require_at_least("len(out_keys)", length(out_keys), most);
    require_at_least("len(out_values)", length(out_values), most);
    require_equal("len(out_squares)", length(out_squares), "len(graphs) - 1", given.n_graphs);
    const CountedRows out = {vector<int64_t>("out_pointers", out_pointers), vector<uint64_t>("out_keys", out_keys),
                             vector<double>("out_values", out_values), vector<double>("out_squares", out_squares)};
    const nb::gil_scoped_release released;
    count_paths(given, seed, presence, out);
}

Subgraphs subgraphs_of(int64_t size, int64_t n_draws, uint64_t seed) {
    if (size < 2 || size > kMostSubgraphNodes) fail("size must lie in [2, 5].");
    if (n_draws < 0) fail("n_draws must be at least 0.");
    return {static_cast<int>(size), n_draws, seed};
}

int64_t py_subgraph_keys(const Array<const int64_t, 1>& graphs, const Array<const int64_t, 1>& nodes,
                         const Array<const int32_t, 1>& neighbours, const Array<const int64_t, 1>& labels,
                         const Array<const int64_t, 1>& edge_labels, int64_t size, int64_t n_draws, uint64_t seed,
                         int64_t most, const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys,
                         const Array<double, 1>& out_weights) {
    const GraphRows rows = labelled_rows(graphs, nodes, neighbours, labels, edge_labels);
    const Subgraphs asked = subgraphs_of(size, n_draws, seed);
    require_equal("len(out_pointers)", length(out_pointers), "len(graphs)", rows.n_graphs + 1);
    require_equal("len(out_weights)", length(out_weights), "len(out_keys)", length(out_keys));
    const bool written = length(out_keys) > 0;
    int64_t* ends = vector<int64_t>("out_pointers", out_pointers);
    uint64_t* keys = written ? vector<uint64_t>("out_keys", out_keys) : nullptr;
    double* weights = written ? vector<double>("out_weights", out_weights) : nullptr;
    const nb::gil_scoped_release released;
    const int64_t number = count_subgraphs(rows, asked, written ? length(out_keys) : most);
    return written && number >= 0 ? subgraph_keys(rows, asked, ends, keys, weights) : number;
}

int64_t py_walk_keys(const Array<const int64_t, 1>& graphs, const Array<const int64_t, 1>& nodes,
                     const Array<const int32_t, 1>& neighbours, const Array<const int64_t, 1>& labels,
                     const Array<const int64_t, 1>& edge_labels, int64_t steps, uint64_t seed, int64_t most,
                     const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys,
                     const Array<double, 1>& out_counts, const Array<int64_t, 1>& out_steps) {
    const GraphRows rows = labelled_rows(graphs, nodes, neighbours, labels, edge_labels);
    if (steps < 0) fail("length must be at least 0.");
    require_equal("len(out_pointers)", length(out_pointers), "len(graphs)", rows.n_graphs + 1);
    require_equal("len(out_counts)", length(out_counts), "len(out_keys)", length(out_keys));
    require_equal("len(out_steps)", length(out_steps), "len(out_keys)", length(out_keys));
    WalkCounts out = {vector<int64_t>("out_pointers", out_pointers), nullptr, nullptr, nullptr};
    if (length(out_keys)) {
        out.keys = vector<uint64_t>("out_keys", out_keys);
        out.counts = vector<double>("out_counts", out_counts);
        out.steps = vector<int64_t>("out_steps", out_steps);
        most = length(out_keys);
    }
    const nb::gil_scoped_release released;
    return walk_keys(rows, steps, seed, most, out);
}

TreeRows tree_rows(const Array<const int64_t, 1>& trees, const Array<const int64_t, 1>& labels,
                   const Array<const int32_t, 1>& parents) {
    require_equal("len(parents)", length(parents), "len(labels)", length(labels));
    const TreeRows rows = {ascending("trees", trees, length(labels)), vector<const int64_t>("labels", labels),
                           vector<const int32_t>("parents", parents), length(trees) - 1};
    for (int64_t t = 0; t < rows.n_trees; ++t) {
        for (int64_t v = rows.trees[t]; v < rows.trees[t + 1]; ++v) {
            const int64_t place = v - rows.trees[t], parent = rows.parents[v];
            if (parent < -1 || parent >= place || (parent == -1) != (place == 0)) {
                fail("parents must come before their children in each tree, with -1 at its first node alone.");
            }
        }
    }
    return rows;
}

void py_subtree_keys(const Array<const int64_t, 1>& trees, const Array<const int64_t, 1>& labels,
                     const Array<const int32_t, 1>& parents, uint64_t seed, const Array<uint64_t, 1>& out_keys,
                     const Array<int64_t, 1>& out_sizes) {
    const TreeRows rows = tree_rows(trees, labels, parents);
    require_at_least("len(out_keys)", length(out_keys), rows.trees[rows.n_trees]);
    require_at_least("len(out_sizes)", length(out_sizes), rows.trees[rows.n_trees]);
    uint64_t* keys = vector<uint64_t>("out_keys", out_keys);
    int64_t* sizes = vector<int64_t>("out_sizes", out_sizes);
    const nb::gil_scoped_release released;
    subtree_keys(rows, seed, keys, sizes);
}

int64_t py_fragment_keys(const Array<const int64_t, 1>& trees, const Array<const int64_t, 1>& labels,
                         const Array<const int32_t, 1>& parents, int64_t max_size, bool leaves, uint64_t seed,
                         int64_t most, const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys,
                         const Array<int64_t, 1>& out_sizes) {
    const TreeRows rows = tree_rows(trees, labels, parents);
    if (max_size < 1 || max_size > 64) fail("max_size must lie in [1, 64].");
    require_equal("len(out_pointers)", length(out_pointers), "len(trees)", rows.n_trees + 1);
    require_equal("len(out_sizes)", length(out_sizes), "len(out_keys)", length(out_keys));
    int64_t* ends = vector<int64_t>("out_pointers", out_pointers);
    const bool counted = length(out_keys) > 0;
    uint64_t* keys = counted ? vector<uint64_t>("out_keys", out_keys) : nullptr;
    int64_t* sizes = counted ? vector<int64_t>("out_sizes", out_sizes) : nullptr;
    const nb::gil_scoped_release released;
    const Fragments asked = {max_size, leaves, seed};
    const int64_t number = count_fragments(rows, asked, counted ? length(out_keys) : most);
    return counted && number >= 0 ? fragment_keys(rows, asked, ends, keys, sizes) : number;
}

int64_t py_partial_tree_keys(const Array<const int64_t, 1>& trees, const Array<const int64_t, 1>& labels,
                             const Array<const int32_t, 1>& parents, int64_t max_size, uint64_t seed, int64_t most,
                             const Array<int64_t, 1>& out_pointers, const Array<uint64_t, 1>& out_keys,
                             const Array<int32_t, 2>& out_shapes) {
    const TreeRows rows = tree_rows(trees, labels, parents);
    if (max_size < 1 || max_size > 64) fail("max_size must lie in [1, 64].");
    const Matrix<int32_t> shapes = matrix<int32_t, 2>("out_shapes", out_shapes);
    require_equal("len(out_pointers)", length(out_pointers), "len(trees)", rows.n_trees + 1);
    require_equal("out_shapes.shape[0]", shapes.n_rows, "len(out_keys)", length(out_keys));
    require_equal("out_shapes.shape[1]", shapes.n_columns, "3", 3);
    int64_t* ends = vector<int64_t>("out_pointers", out_pointers);
    const bool written = length(out_keys) > 0;
    uint64_t* keys = written ? vector<uint64_t>("out_keys", out_keys) : nullptr;
    const nb::gil_scoped_release released;
    const int64_t number = count_partial_trees(rows, max_size, written ? length(out_keys) : most);
    if (written && number >= 0) partial_tree_keys(rows, max_size, seed, ends, keys, shapes);
    return number;
}

void py_partial_tree_values(const Array<const int64_t, 1>& trees, const Array<const int64_t, 1>& labels,
                            const Array<const int32_t, 1>& parents, const Array<const int64_t, 1>& other_trees,
                            const Array<const int64_t, 1>& other_labels, const Array<const int32_t, 1>& other_parents,
                            double decay, double gap_decay, double terminal, bool paired, const Array<double, 2>& out) {
    const TreeRows left = tree_rows(trees, labels, parents), right = tree_rows(other_trees, other_labels, other_parents);
    const Matrix<double> target = matrix<double, 2>("out", out);
    require_equal("out.shape[0]", target.n_rows, "len(trees) - 1", left.n_trees);
    if (paired) require_equal("len(other_trees)", right.n_trees + 1, "len(trees)", left.n_trees + 1);
    require_equal("out.shape[1]", target.n_columns, paired ? "1" : "len(other_trees) - 1", paired ? 1 : right.n_trees);
    const nb::gil_scoped_release released;
    partial_tree_values(left, right, {decay, gap_decay, terminal}, paired, target);
}

}  // namespace

void bind_graphs(nb::module_& m) {
    m.def("adjacency", &py_adjacency, "edges"_a.noconvert(), "graphs"_a.noconvert(), "out_degrees"_a.noconvert(),
          "out_neighbours"_a.noconvert());
    m.def("refine", &py_refine, "graphs"_a.noconvert(), "nodes"_a.noconvert(), "neighbours"_a.noconvert(),
          "labels"_a.noconvert(), "edge_labels"_a.noconvert(), "depth"_a, "seed"_a, "out_keys"_a.noconvert());
    m.def("path_keys", &py_path_keys, "graphs"_a.noconvert(), "nodes"_a.noconvert(), "neighbours"_a.noconvert(),
          "labels"_a.noconvert(), "seed"_a, "out_pointers"_a.noconvert(), "out_keys"_a.noconvert());
    m.def("count_paths", &py_count_paths, "graphs"_a.noconvert(), "nodes"_a.noconvert(), "neighbours"_a.noconvert(),
          "labels"_a.noconvert(), "seed"_a, "presence"_a, "out_pointers"_a.noconvert(), "out_keys"_a.noconvert(),
          "out_values"_a.noconvert(), "out_squares"_a.noconvert());
    m.def("subtree_keys", &py_subtree_keys, "trees"_a.noconvert(), "labels"_a.noconvert(), "parents"_a.noconvert(),
          "seed"_a, "out_keys"_a.noconvert(), "out_sizes"_a.noconvert());
    m.def("fragment_keys", &py_fragment_keys, "trees"_a.noconvert(), "labels"_a.noconvert(), "parents"_a.noconvert(),
          "max_size"_a, "leaves"_a, "seed"_a, "most"_a, "out_pointers"_a.noconvert(), "out_keys"_a.noconvert(),
          "out_sizes"_a.noconvert());
    m.def("subgraph_keys", &py_subgraph_keys, "graphs"_a.noconvert(), "nodes"_a.noconvert(), "neighbours"_a.noconvert(),
          "labels"_a.noconvert(), "edge_labels"_a.noconvert(), "size"_a, "n_draws"_a, "seed"_a, "most"_a,
          "out_pointers"_a.noconvert(), "out_keys"_a.noconvert(), "out_weights"_a.noconvert());
    m.def("walk_keys", &py_walk_keys, "graphs"_a.noconvert(), "nodes"_a.noconvert(), "neighbours"_a.noconvert(),
          "labels"_a.noconvert(), "edge_labels"_a.noconvert(), "length"_a, "seed"_a, "most"_a,
          "out_pointers"_a.noconvert(), "out_keys"_a.noconvert(), "out_counts"_a.noconvert(), "out_steps"_a.noconvert());
    m.def("partial_tree_keys", &py_partial_tree_keys, "trees"_a.noconvert(), "labels"_a.noconvert(),
          "parents"_a.noconvert(), "max_size"_a, "seed"_a, "most"_a, "out_pointers"_a.noconvert(),
          "out_keys"_a.noconvert(), "out_shapes"_a.noconvert());
    m.def("partial_tree_values", &py_partial_tree_values, "trees"_a.noconvert(), "labels"_a.noconvert(),
          "parents"_a.noconvert(), "other_trees"_a.noconvert(), "other_labels"_a.noconvert(),
          "other_parents"_a.noconvert(), "decay"_a, "gap_decay"_a, "terminal"_a, "paired"_a, "out"_a.noconvert());
}

}  // namespace mercer
