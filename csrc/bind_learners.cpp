// One thin function for each primitive of the learners.

#include "bindings.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

RowOrder row_order(const Array<const int64_t, 1>& order, int64_t n_rows) {
    const RowOrder result = {vector<const int64_t>("order", order), static_cast<int64_t>(order.shape(0))};
    bool inside = true;
    for (int64_t i = 0; i < result.size; ++i) inside &= result.rows[i] >= 0 && result.rows[i] < n_rows;
    if (!inside) fail("order must lie in [0, number of rows) = [0, " + std::to_string(n_rows) + ").");
    return result;
}

template <class T>
BoxProblems<T> box_problems(int64_t n_rows, const Array<const T, 2>& targets, const Array<const T, 2>& bounds,
                            const Array<T, 2>& duals, const Array<uint8_t, 2>& shrunk, const Array<T, 1>& intercepts,
                            const Array<double, 2>& progress, bool one_sided, double epsilon, double constant) {
    const auto n_problems = static_cast<int64_t>(targets.shape(1));
    require_equal("len(intercepts)", static_cast<int64_t>(intercepts.shape(0)), "targets.shape[1]", n_problems);
    double* booked = table<double>("progress", progress, 3, n_problems);
    return {table<const T>("targets", targets, n_rows, n_problems),
            table<const T>("bounds", bounds, n_rows, 3),
            table<T>("duals", duals, n_rows, n_problems),
            table<uint8_t>("shrunk", shrunk, n_rows, n_problems),
            vector<T>("intercepts", intercepts),
            booked,
            booked + n_problems,
            booked + 2 * n_problems,
            n_problems,
            one_sided,
            epsilon,
            constant};
}

template <class T>
void descend(const Array<const T, 2>& Z, const Array<const int64_t, 1>& order, const Array<const T, 2>& targets,
             const Array<const T, 2>& bounds, const Array<T, 2>& duals, const Array<uint8_t, 2>& shrunk,
             const Array<T, 2>& weights, const Array<T, 1>& intercepts, const Array<double, 2>& progress,
             bool one_sided, double epsilon, double constant) {
    const Matrix<const T> rows = matrix<const T, 2>("Z", Z);
    const Matrix<T> target = matrix<T, 2>("weights", weights);
    const BoxProblems<T> problems = box_problems<T>(rows.n_rows, targets, bounds, duals, shrunk, intercepts, progress,
                                                    one_sided, epsilon, constant);
    const RowOrder visits = row_order(order, rows.n_rows);
    require_equal("weights.shape[0]", target.n_rows, "targets.shape[1]", problems.n_problems);
    require_equal("weights.shape[1]", target.n_columns, "Z.shape[1]", rows.n_columns);
    const nb::gil_scoped_release released;
    kernels<T>().descend(rows, visits, problems, target);
}

template <class T, class I>
void descend_csr(const Array<const T, 1>& data, const Array<const I, 1>& indices, const Array<const I, 1>& indptr,
                 const Array<const int64_t, 1>& order, const Array<const T, 2>& targets,
                 const Array<const T, 2>& bounds, const Array<T, 2>& duals, const Array<uint8_t, 2>& shrunk,
                 const Array<T, 2>& weights, const Array<T, 1>& intercepts, const Array<double, 2>& progress,
                 bool one_sided, double epsilon, double constant) {
    const Matrix<T> target = matrix<T, 2>("weights", weights);
    const CsrRows<T, I> rows = csr_rows<T, I>(data, indices, indptr, target.n_rows);
    const BoxProblems<T> problems = box_problems<T>(rows.n_rows, targets, bounds, duals, shrunk, intercepts, progress,
                                                    one_sided, epsilon, constant);
    const RowOrder visits = row_order(order, rows.n_rows);
    const int64_t padded = problems.n_problems == 1 ? 1 : (problems.n_problems + 7) / 8 * 8;
    require_equal("weights.shape[1]", target.n_columns, "targets.shape[1], beyond 1 rounded up to a multiple of 8,",
                  padded);
    require_packed("weights", target);
    const nb::gil_scoped_release released;
    require_ok(csr_kernels<T, I>().descend(rows, visits, problems, target), rows.n_columns, 0);
}

OnlineTargets online_targets(const Array<const double, 1>& y, int64_t loss, int64_t n_rows, int64_t n_columns) {
    require_equal("len(y)", static_cast<int64_t>(y.shape(0)), "the number of rows", n_rows);
    const double* values = vector<const double>("y", y);
    const auto last = static_cast<int64_t>(n_columns == 1 ? Loss::absolute : Loss::logistic);
    if (loss < 0 || loss > last) {
        fail("loss must lie in [0, " + std::to_string(last) + "], got " + std::to_string(loss) + ".");
    }
    bool inside = n_columns > 0;
    for (int64_t i = 0; n_columns > 1 && i < n_rows; ++i) {
        inside &= values[i] >= 0 && values[i] < static_cast<double>(n_columns);
    }
    if (!inside) fail("y must hold class numbers in [0, " + std::to_string(n_columns) + ").");
    return {values, static_cast<Loss>(loss)};
}

OnlineSteps online_steps(const Array<const double, 1>& steps, int64_t n_rows, double decay) {
    require_equal("len(steps)", static_cast<int64_t>(steps.shape(0)), "the number of rows", n_rows);
    if (!(decay > 0 && decay <= 1)) fail("decay must lie in (0, 1], got " + std::to_string(decay) + ".");
    return {vector<const double>("steps", steps), decay};
}

template <class T>
void online_gradient(const Array<const T, 2>& Z, const Array<const double, 1>& y, int64_t loss,
                     const Array<const double, 1>& steps, const Array<double, 2>& W, const Array<double, 2>& squares,
                     const Array<double, 2>& scores, double decay) {
    const Matrix<const T> rows = matrix<const T, 2>("Z", Z);
    const Matrix<double> weights = matrix<double, 2>("W", W), sums = matrix<double, 2>("squares", squares);
    const Matrix<double> before = matrix<double, 2>("scores", scores);
    require_equal("W.shape[1]", weights.n_columns, "Z.shape[1]", rows.n_columns);
    require_equal("scores.shape[0]", before.n_rows, "Z.shape[0]", rows.n_rows);
    require_equal("scores.shape[1]", before.n_columns, "W.shape[0]", weights.n_rows);
    if (sums.n_rows) {
        require_equal("squares.shape[0]", sums.n_rows, "W.shape[0]", weights.n_rows);
        require_equal("squares.shape[1]", sums.n_columns, "W.shape[1]", weights.n_columns);
    }
    const OnlineTargets targets = online_targets(y, loss, rows.n_rows, weights.n_rows);
    const OnlineSteps lengths = online_steps(steps, rows.n_rows, decay);
    const nb::gil_scoped_release released;
    kernels<T>().online_gradient(rows, targets, lengths, weights, sums, before);
}

OnlineResult online_result(int64_t n_rows, int64_t limit, const Array<double, 2>& scores, const Array<double, 2>& coef,
                           const Array<int64_t, 1>& active, const Array<int64_t, 1>& counts) {
    const OnlineResult result = {matrix<double, 2>("scores", scores), matrix<double, 2>("coef", coef),
                                 vector<int64_t>("active", active), vector<int64_t>("counts", counts), limit};
    require_equal("scores.shape[0]", result.scores.n_rows, "gram.shape[0]", n_rows);
    require_equal("coef.shape[0]", result.coef.n_rows, "gram.shape[0]", n_rows);
    require_equal("coef.shape[1]", result.coef.n_columns, "scores.shape[1]", result.scores.n_columns);
    require_equal("len(active)", static_cast<int64_t>(active.shape(0)), "gram.shape[0]", n_rows);
    require_equal("len(counts)", static_cast<int64_t>(counts.shape(0)), "rows done and rows with a loss", 2);
    return result;
}

void online_kernel_gradient(const Array<const double, 2>& gram, const Array<const double, 1>& y, int64_t loss,
                            const Array<const double, 1>& steps, double decay, int64_t limit,
                            const Array<double, 2>& scores, const Array<double, 2>& coef, const Array<int64_t, 1>& active,
                            const Array<int64_t, 1>& counts) {
    const Matrix<const double> products = matrix<const double, 2>("gram", gram);
    require_equal("gram.shape[1]", products.n_columns, "gram.shape[0]", products.n_rows);
    const OnlineResult result = online_result(products.n_rows, limit, scores, coef, active, counts);
    const OnlineTargets targets = online_targets(y, loss, products.n_rows, result.scores.n_columns);
    const OnlineSteps lengths = online_steps(steps, products.n_rows, decay);
    const nb::gil_scoped_release released;
    current_level().online.kernel_gradient(products, targets, lengths, result);
}

void online_newton(const Array<const double, 2>& gram, const Array<const double, 1>& y, int64_t loss,
                   const Array<const double, 1>& row_weight, int64_t limit, const Array<double, 2>& scores, const Array<double, 2>& factor, const Array<double, 2>& coef,
                   const Array<int64_t, 1>& active, const Array<int64_t, 1>& counts) {
    const Matrix<const double> products = matrix<const double, 2>("gram", gram);
    const Matrix<double> triangle = matrix<double, 2>("factor", factor);
    require_equal("gram.shape[1]", products.n_columns, "gram.shape[0]", products.n_rows);
    require_equal("len(row_weight)", static_cast<int64_t>(row_weight.shape(0)), "gram.shape[0]", products.n_rows);
    require_equal("factor.shape[0]", triangle.n_rows, "gram.shape[0]", products.n_rows);
    require_equal("factor.shape[1]", triangle.n_columns, "gram.shape[0]", products.n_rows);
    const OnlineResult result = online_result(products.n_rows, limit, scores, coef, active, counts);
    const OnlineTargets targets = online_targets(y, loss, products.n_rows, result.scores.n_columns);
    const double* weights = vector<const double>("row_weight", row_weight);
    const nb::gil_scoped_release released;
    current_level().online.newton(products, targets, weights, triangle, result);
}

ClusterRows cluster_rows(int64_t n_clusters, const Array<double, 1>& norms, const Array<int32_t, 1>& labels,
                         const Array<float, 1>& margins) {
    const auto n_rows = static_cast<int64_t>(labels.shape(0));
    require_equal("len(norms)", static_cast<int64_t>(norms.shape(0)), "len(labels)", n_rows);
    require_equal("len(margins)", static_cast<int64_t>(margins.shape(0)), "len(labels)", n_rows);
    return {n_rows, n_clusters, vector<double>("norms", norms), vector<int32_t>("labels", labels),
            vector<float>("margins", margins)};
}

int64_t rows_in_doubt(const Array<const float, 1>& moved, const Array<const float, 2>& heads,
                      const Array<const float, 1>& rests, const Array<const float, 2>& centre_heads,
                      const Array<const float, 2>& centre_sizes, const Array<const float, 2>& apart, double slack,
                      double longest, const Array<double, 1>& norms, const Array<int32_t, 1>& labels,
                      const Array<float, 1>& margins, const Array<int64_t, 1>& doubt,
                      const Array<uint64_t, 2>& candidates) {
    const auto n_clusters = static_cast<int64_t>(moved.shape(0));
    const ClusterRows state = cluster_rows(n_clusters, norms, labels, margins);
    const Matrix<const float> middles = matrix<const float, 2>("centre_heads", centre_heads),
                              sizes = matrix<const float, 2>("centre_sizes", centre_sizes),
                              distances = matrix<const float, 2>("apart", apart);
    const ClusterHeads parts = {matrix<const float, 2>("heads", heads), middles, vector<const float>("rests", rests),
                                sizes.data, sizes.data + sizes.stride, sizes.data + 2 * sizes.stride, distances.data};
    const ClusterDoubts found = {vector<int64_t>("doubt", doubt), matrix<uint64_t, 2>("candidates", candidates)};
    require_equal("len(doubt)", static_cast<int64_t>(doubt.shape(0)), "len(labels)", state.n_rows);
    bool inside = true;
    for (int64_t i = 0; i < state.n_rows; ++i) inside &= state.labels[i] >= 0 && state.labels[i] < n_clusters;
    if (!inside) fail("labels must lie in [0, len(moved)) = [0, " + std::to_string(n_clusters) + ").");
    if (parts.rows.n_columns > 0) {
        require_equal("heads.shape[0]", parts.rows.n_rows, "len(labels)", state.n_rows);
        require_equal("len(rests)", static_cast<int64_t>(rests.shape(0)), "len(labels)", state.n_rows);
        require_equal("centre_heads.shape[0]", middles.n_rows, "len(moved)", n_clusters);
        require_equal("centre_heads.shape[1]", middles.n_columns, "heads.shape[1]", parts.rows.n_columns);
        require_equal("centre_sizes.shape[0]", sizes.n_rows, "lengths, rests and spreads", 3);
        require_equal("centre_sizes.shape[1]", sizes.n_columns, "len(moved)", n_clusters);
        require_equal("apart.shape[0]", distances.n_rows, "len(moved)", n_clusters);
        require_equal("apart.shape[1]", distances.n_columns, "len(moved)", n_clusters);
        require_packed("apart", distances);
        require_equal("candidates.shape[0]", found.candidates.n_rows, "len(labels)", state.n_rows);
        require_equal("candidates.shape[1]", found.candidates.n_columns, "words of 64 centres", (n_clusters + 63) / 64);
    }
    const float* steps = vector<const float>("moved", moved);
    const ClusterScale scale = {slack, longest};
    const nb::gil_scoped_release released;
    return current_level().rows_in_doubt(steps, parts, scale, state, found);
}

template <class T>
void scores(const Array<const T, 2>& Z, const Array<const T, 2>& W, const Array<T, 2>& out) {
    const Matrix<const T> features = matrix<const T, 2>("Z", Z), weights = matrix<const T, 2>("W", W);
    const Matrix<T> target = matrix<T, 2>("out", out);
    require_equal("W.shape[1]", weights.n_columns, "Z.shape[1]", features.n_columns);
    require_equal("out.shape[0]", target.n_rows, "Z.shape[0]", features.n_rows);
    require_equal("out.shape[1]", target.n_columns, "W.shape[0]", weights.n_rows);
    const nb::gil_scoped_release released;
    kernels<T>().scores(features, weights, target);
}

template <class T>
int64_t nearest_centres(const Array<const T, 2>& Z, const Array<const int64_t, 1>& rows,
                        const Array<const uint64_t, 2>& candidates, const Array<const T, 2>& products,
                        const Array<const T, 2>& centres, double slack, double longest,
                        const Array<const double, 1>& weight, const Array<double, 1>& norms,
                        const Array<int32_t, 1>& labels, const Array<float, 1>& margins, const Array<double, 2>& sums,
                        const Array<double, 1>& totals) {
    const Matrix<const T> features = matrix<const T, 2>("Z", Z), middles = matrix<const T, 2>("centres", centres);
    const Matrix<const uint64_t> chosen = matrix<const uint64_t, 2>("candidates", candidates);
    const ClusterRows state = cluster_rows(middles.n_rows, norms, labels, margins);
    require_equal("centres.shape[1]", middles.n_columns, "Z.shape[1]", features.n_columns);
    const RowOrder order = {vector<const int64_t>("rows", rows), static_cast<int64_t>(rows.shape(0))};
    if (features.n_rows != order.size) require_equal("Z.shape[0]", features.n_rows, "len(labels)", state.n_rows);
    const Matrix<const T> known = matrix<const T, 2>("products", products);
    if (known.n_columns > 0) {
        require_equal("products.shape[0]", known.n_rows, "len(rows)", order.size);
        require_equal("products.shape[1]", known.n_columns, "centres.shape[0]", middles.n_rows);
    } else {
        require_equal("candidates.shape[0]", chosen.n_rows, "len(rows)", order.size);
        require_equal("candidates.shape[1]", chosen.n_columns, "words of 64 centres", (middles.n_rows + 63) / 64);
    }
    bool inside = true;
    for (int64_t i = 0; i < order.size; ++i) inside &= order.rows[i] >= 0 && order.rows[i] < state.n_rows;
    if (!inside) fail("rows must lie in [0, len(labels)) = [0, " + std::to_string(state.n_rows) + ").");
    for (int64_t i = 0; i < order.size; ++i) {
        const int32_t label = state.labels[order.rows[i]];
        inside &= label >= -1 && label < middles.n_rows;
    }
    if (!inside) fail("labels must lie in [-1, centres.shape[0]).");
    int64_t n_moves = 0;
    const ClusterChanges changes = {weight.shape(0) ? vector<const double>("weight", weight) : nullptr,
                                    matrix<double, 2>("sums", sums), vector<double>("totals", totals), &n_moves};
    if (changes.row_weight) {
        require_equal("len(weight)", static_cast<int64_t>(weight.shape(0)), "len(labels)", state.n_rows);
    }
    require_equal("sums.shape[0]", changes.sums.n_rows, "centres.shape[0]", middles.n_rows);
    require_equal("sums.shape[1]", changes.sums.n_columns, "centres.shape[1]", middles.n_columns);
    require_equal("len(totals)", static_cast<int64_t>(totals.shape(0)), "centres.shape[0]", middles.n_rows);
    const ClusterScale scale = {slack, longest};
    const nb::gil_scoped_release released;
    kernels<T>().nearest_centres(features, order, chosen, known, middles, scale, state, changes);
    return n_moves;
}

template <class T, class I>
void bind_csr(nb::module_& m) {
    m.def("descend_csr", &descend_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
          "order"_a.noconvert(), "targets"_a.noconvert(), "bounds"_a.noconvert(), "duals"_a.noconvert(),
          "shrunk"_a.noconvert(), "weights"_a.noconvert(), "intercepts"_a.noconvert(), "progress"_a.noconvert(),
          "one_sided"_a, "epsilon"_a, "constant"_a);
}

template <class T>
void bind(nb::module_& m) {
    m.def("descend", &descend<T>, "Z"_a.noconvert(), "order"_a.noconvert(), "targets"_a.noconvert(),
          "bounds"_a.noconvert(), "duals"_a.noconvert(), "shrunk"_a.noconvert(), "weights"_a.noconvert(),
          "intercepts"_a.noconvert(), "progress"_a.noconvert(), "one_sided"_a, "epsilon"_a, "constant"_a);
    m.def("online_gradient", &online_gradient<T>, "Z"_a.noconvert(), "y"_a.noconvert(), "loss"_a, "steps"_a.noconvert(),
          "W"_a.noconvert(), "squares"_a.noconvert(), "scores"_a.noconvert(), "decay"_a);
    m.def("scores", &scores<T>, "Z"_a.noconvert(), "W"_a.noconvert(), "out"_a.noconvert());
    m.def("nearest_centres", &nearest_centres<T>, "Z"_a.noconvert(), "rows"_a.noconvert(),
          "candidates"_a.noconvert(), "products"_a.noconvert(), "centres"_a.noconvert(), "slack"_a, "longest"_a,
          "weight"_a.noconvert(), "norms"_a.noconvert(), "labels"_a.noconvert(), "margins"_a.noconvert(),
          "sums"_a.noconvert(), "totals"_a.noconvert());
    bind_csr<T, int32_t>(m);
    bind_csr<T, int64_t>(m);
}

}  // namespace

void bind_learners(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def("rows_in_doubt", &rows_in_doubt, "moved"_a.noconvert(), "heads"_a.noconvert(), "rests"_a.noconvert(),
          "centre_heads"_a.noconvert(), "centre_sizes"_a.noconvert(), "apart"_a.noconvert(), "slack"_a, "longest"_a,
          "norms"_a.noconvert(), "labels"_a.noconvert(), "margins"_a.noconvert(), "doubt"_a.noconvert(),
          "candidates"_a.noconvert());
    m.def("online_kernel_gradient", &online_kernel_gradient, "gram"_a.noconvert(), "y"_a.noconvert(), "loss"_a,
          "steps"_a.noconvert(), "decay"_a, "limit"_a, "scores"_a.noconvert(), "coef"_a.noconvert(),
          "active"_a.noconvert(), "counts"_a.noconvert());
    m.def("online_newton", &online_newton, "gram"_a.noconvert(), "y"_a.noconvert(), "loss"_a,
          "row_weight"_a.noconvert(), "limit"_a, "scores"_a.noconvert(), "factor"_a.noconvert(), "coef"_a.noconvert(),
          "active"_a.noconvert(), "counts"_a.noconvert());
}

}  // namespace mercer
