// The primitives of boosted trees.

#include "bindings.hpp"
#include "boosted_tree.hpp"
#include "tree_scores.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

// The parts of BinnedRows that say where columns are, and whether their indices lie inside.
void require_tables(const BinnedRows& data, int64_t n_all_columns) {
    bool sizes = true, columns = true, tables = true;
    for (int64_t t = 0; t < data.n_tables; ++t) sizes &= data.n_bins[t] >= 1 && data.n_bins[t] <= 256;
    if (!sizes) fail("n_bins must lie in [1, 256].");
    for (int64_t j = 0; j < n_all_columns; ++j) {
        const bool known = data.tables[j] >= 0 && data.tables[j] < data.n_tables;
        tables &= known && data.members[j] >= -1 && (!known || data.members[j] < data.n_bins[data.tables[j]]);
        tables &= data.members[j] >= 0 || data.tables[j] == j;
    }
    if (!tables) fail("tables must lie in [0, codes.shape[0]), and members below n_bins of their tables.");
    for (int64_t c = 0; c < data.n_columns; ++c) columns &= data.columns[c] >= 0 && data.columns[c] < n_all_columns;
    if (!columns) fail("columns must lie in [0, len(tables)).");
}

BinnedRows binned_rows(const Array<const uint8_t, 2>& codes, const Array<const int32_t, 1>& rows,
                       const Array<const int32_t, 1>& columns, const Array<const int32_t, 1>& n_bins,
                       const Array<const int32_t, 1>& tables, const Array<const int32_t, 1>& members) {
    const Matrix<const uint8_t> bins = matrix<const uint8_t, 2>("codes", codes);
    require_packed("codes", bins);
    const auto n_all_columns = static_cast<int64_t>(tables.shape(0));
    const BinnedRows data = {bins.data,
                             bins.n_rows,
                             bins.n_columns,
                             vector<const int32_t>("rows", rows),
                             static_cast<int64_t>(rows.shape(0)),
                             vector<const int32_t>("columns", columns),
                             static_cast<int64_t>(columns.shape(0)),
                             vector<const int32_t>("n_bins", n_bins),
                             vector<const int32_t>("tables", tables),
                             vector<const int32_t>("members", members)};
    require_equal("len(n_bins)", static_cast<int64_t>(n_bins.shape(0)), "codes.shape[0]", data.n_tables);
    require_equal("len(members)", static_cast<int64_t>(members.shape(0)), "len(tables)", n_all_columns);
    if (n_all_columns > data.n_tables) fail("tables must name one table per column, and codes hold as many at least.");
    if (data.n_columns < 1) fail("columns must name at least one column.");
    bool inside = true;
    for (int64_t i = 0; i < data.n_rows; ++i) inside &= data.rows[i] >= 0 && data.rows[i] < data.n_all;
    if (!inside) fail("rows must lie in [0, codes.shape[1]).");
    require_tables(data, n_all_columns);
    return data;
}

int64_t boost_tree(const Array<const uint8_t, 2>& codes, const Array<const int32_t, 1>& rows,
                   const Array<const int32_t, 1>& columns, const Array<const int32_t, 1>& n_bins,
                   const Array<const int32_t, 1>& tables, const Array<const int32_t, 1>& members,
                   const Array<const double, 2>& targets, const Array<const double, 1>& weights,
                   const Array<const double, 1>& judges, const Array<double, 2>& scores,
                   const Array<double, 2>& expected, bool logistic, double penalty, double rate,
                   const Array<int32_t, 1>& out_columns, const Array<int32_t, 1>& out_bins,
                   const Array<double, 2>& out_values, const Array<double, 1>& out_errors) {
    if (!(penalty > 0)) fail("penalty must be positive.");
    const BinnedRows data = binned_rows(codes, rows, columns, n_bins, tables, members);
    const int64_t n = data.n_all;
    const auto k = static_cast<int64_t>(targets.shape(1));
    if (k < 1) fail("targets must have a column.");
    require_equal("len(weights)", static_cast<int64_t>(weights.shape(0)), "codes.shape[1]", n);
    require_equal("len(judges)", static_cast<int64_t>(judges.shape(0)), "codes.shape[1]", n);
    require_equal("len(out_errors)", static_cast<int64_t>(out_errors.shape(0)), "targets.shape[1]", k);
    const auto depth = static_cast<int64_t>(out_columns.shape(0));
    require_equal("len(out_bins)", static_cast<int64_t>(out_bins.shape(0)), "len(out_columns)", depth);
    if (depth > 8) fail("out_columns must hold at most 8 levels, got " + std::to_string(depth) + ".");
    const BoostedTree out = {
        {vector<int32_t>("out_columns", out_columns), vector<int32_t>("out_bins", out_bins), depth},
        table<double>("out_values", out_values, int64_t(1) << depth, k),
        vector<double>("out_errors", out_errors)};
    const BoostedRows boosted = {table<const double>("targets", targets, n, k),
                                 vector<const double>("weights", weights),
                                 vector<const double>("judges", judges),
                                 table<double>("scores", scores, n, k),
                                 table<double>("expected", expected, n, k),
                                 k,
                                 logistic};
    const nb::gil_scoped_release released;
    return boost_symmetric_tree(data, boosted, penalty, rate, out);
}

void add_scores(const Array<const uint8_t, 2>& codes, const Array<const int32_t, 2>& columns,
                const Array<const uint8_t, 2>& bins, const Array<const double, 2>& values, const Array<double, 2>& scores) {
    const Matrix<const uint8_t> rows = matrix<const uint8_t, 2>("codes", codes);
    require_packed("codes", rows);
    const auto n_trees = static_cast<int64_t>(columns.shape(0)), depth = static_cast<int64_t>(columns.shape(1));
    const auto k = static_cast<int64_t>(scores.shape(1));
    if (depth > 8) fail("columns must hold at most 8 levels per tree, got " + std::to_string(depth) + ".");
    const GrownTrees trees = {table<const int32_t>("columns", columns, n_trees, depth),
                              table<const uint8_t>("bins", bins, n_trees, depth),
                              table<const double>("values", values, n_trees << depth, k),
                              n_trees, depth, k};
    bool inside = true;
    for (int64_t i = 0; i < n_trees * depth; ++i) inside &= trees.columns[i] >= 0 && trees.columns[i] < rows.n_rows;
    if (!inside) fail("columns must lie in [0, codes.shape[0]).");
    double* out = table<double>("scores", scores, rows.n_columns, k);
    const nb::gil_scoped_release released;
    add_tree_scores(rows.data, rows.n_columns, trees, out);
}

}  // namespace

void bind_trees(nb::module_& m) {
    m.def("boost_symmetric_tree", &boost_tree, "codes"_a.noconvert(), "rows"_a.noconvert(), "columns"_a.noconvert(),
          "n_bins"_a.noconvert(), "tables"_a.noconvert(), "members"_a.noconvert(), "targets"_a.noconvert(),
          "weights"_a.noconvert(), "judges"_a.noconvert(), "scores"_a.noconvert(), "expected"_a.noconvert(),
          "logistic"_a, "penalty"_a, "rate"_a, "out_columns"_a.noconvert(), "out_bins"_a.noconvert(),
          "out_values"_a.noconvert(), "out_errors"_a.noconvert());
    m.def("add_tree_scores", &add_scores, "codes"_a.noconvert(), "columns"_a.noconvert(), "bins"_a.noconvert(),
          "values"_a.noconvert(), "scores"_a.noconvert());
}

}  // namespace mercer
