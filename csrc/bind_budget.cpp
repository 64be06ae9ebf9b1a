// One thin function for each primitive of learning with a budget of support vectors.

#include "bindings.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

template <class Choice>
Choice choice(const char* name, int64_t value, Choice last) {
    const auto most = static_cast<int64_t>(last);
    if (value < 0 || value > most) {
        fail(std::string(name) + " must lie in [0, " + std::to_string(most) + "], got " + std::to_string(value) + ".");
    }
    return static_cast<Choice>(value);
}

// A matrix of one row and one column per slot, or none where the algorithm has no use for it.
Matrix<double> square(const char* name, const Array<double, 2>& array, int64_t slots, bool needed) {
    const Matrix<double> result = matrix<double, 2>(name, array);
    if (!needed && result.n_rows == 0) return result;
    require_equal((std::string(name) + ".shape[0]").c_str(), result.n_rows, "the number of slots", slots);
    require_equal((std::string(name) + ".shape[1]").c_str(), result.n_columns, "the number of slots", slots);
    return result;
}

// The triangle of the slots in float32, in panels of rows, or none.
Matrix<const float> triangle_panels(const Array<const float, 2>& array, int64_t slots) {
    const Matrix<const float> result = matrix<const float, 2>("rounded", array);
    if (result.n_rows == 0) return result;
    const int64_t n_panels = (slots + kTrianglePanel - 1) / kTrianglePanel;
    require_equal("rounded.shape[0]", result.n_rows, "the number of panels times the number of slots", n_panels * slots);
    require_equal("rounded.shape[1]", result.n_columns, "rows of a panel", kTrianglePanel);
    require_packed("rounded", result);
    return result;
}

template <class T>
T* one_each(const char* name, const Array<T, 1>& array, const char* rule, int64_t expected) {
    require_equal((std::string("len(") + name + ")").c_str(), static_cast<int64_t>(array.shape(0)), rule, expected);
    return vector<T>(name, array);
}

void check_rule(const BudgetRule& rule, int64_t n_columns) {
    if (rule.budget < 1) fail("budget must be at least 1, got " + std::to_string(rule.budget) + ".");
    if (!(rule.ridge > 0)) fail("ridge must be positive, got " + std::to_string(rule.ridge) + ".");
    if (n_columns > 1 && rule.loss == Loss::absolute) fail("the epsilon-insensitive loss has one column of scores.");
}

BudgetRows budget_rows(const Array<double, 2>& cross, double gamma, const Array<const double, 1>& norms,
                       const Array<const double, 2>& X, const Array<const int64_t, 1>& numbers,
                       const Array<const double, 1>& y, const Array<const double, 1>& steps,
                       const Array<const double, 1>& shrinks, const Array<const double, 1>& uniforms,
                       const Array<double, 2>& scores) {
    const Matrix<double> values = matrix<double, 2>("cross", cross), before = matrix<double, 2>("scores", scores);
    const int64_t n = values.n_rows;
    const char* rule = "cross.shape[0]";
    require_equal("scores.shape[0]", before.n_rows, rule, n);
    if (before.n_columns < 1) fail("scores must have at least one column.");
    const double* labels = one_each<const double>("y", y, rule, n);
    bool inside = true;
    for (int64_t i = 0; before.n_columns > 1 && i < n; ++i) {
        inside &= labels[i] >= 0 && labels[i] < static_cast<double>(before.n_columns);
    }
    if (!inside) fail("y must hold class numbers in [0, " + std::to_string(before.n_columns) + ").");
    return {values, gamma, one_each<const double>("norms", norms, rule, n), matrix<const double, 2>("X", X),
            one_each<const int64_t>("numbers", numbers, rule, n), labels,
            one_each<const double>("steps", steps, rule, n), one_each<const double>("shrinks", shrinks, rule, n),
            one_each<const double>("uniforms", uniforms, rule, n), before, n, before.n_columns};
}

void check_slots(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t slots) {
    const int64_t n = *state.count;
    if (n < 0 || n > rule.budget || n + rows.n_rows < 0) fail("counts must lie in [0, budget].");
    const int64_t most = n + rows.n_rows < rule.budget + 1 ? n + rows.n_rows : rule.budget + 1;
    if (slots < most) {
        fail("coef must have at least " + std::to_string(most) + " rows, one for each slot that the block may use, got " +
             std::to_string(slots) + ".");
    }
    if (rule.maintenance != BudgetMaintenance::merge) {
        require_equal("cross.shape[1]", rows.cross.n_columns, "slots in use and rows of the block together",
                      n + rows.n_rows);
        bool inside = true;
        for (int64_t i = 0; i < n; ++i) inside &= state.column[i] >= 0 && state.column[i] < rows.cross.n_columns;
        if (!inside) fail("column must lie in [0, cross.shape[1]).");
    }
    if (state.rows.n_rows) {
        require_equal("rows.shape[0]", state.rows.n_rows, "the number of slots", slots);
        require_equal("X.shape[0]", rows.rows.n_rows, "cross.shape[0]", rows.n_rows);
        require_equal("X.shape[1]", rows.rows.n_columns, "rows.shape[1]", state.rows.n_columns);
    }
}

void budget_learn(int64_t update, int64_t maintenance, int64_t loss, int64_t budget, double epsilon, double ridge,
                  double tolerance, const Array<double, 2>& cross, double gamma, const Array<const double, 1>& norms,
                  const Array<const double, 2>& X, const Array<const int64_t, 1>& numbers,
                  const Array<const double, 1>& y, const Array<const double, 1>& steps,
                  const Array<const double, 1>& shrinks, const Array<const double, 1>& uniforms,
                  const Array<double, 2>& scores, const Array<double, 2>& coef, const Array<double, 1>& slot_norms,
                  const Array<int64_t, 1>& born, const Array<int64_t, 1>& column, const Array<double, 2>& rows,
                  const Array<double, 2>& between, const Array<double, 2>& inverse, const Array<double, 2>& reduction,
                  const Array<double, 1>& totals, const Array<int64_t, 1>& counts, const Array<double, 2>& factor,
                  const Array<const float, 2>& rounded, const Array<const double, 1>& sums,
                  const Array<const double, 2>& table) {
    using M = BudgetMaintenance;
    const BudgetRule rule = {choice("update", update, BudgetUpdate::newton),
                             choice("maintenance", maintenance, M::stochastic_weighted),
                             choice("loss", loss, Loss::absolute), budget, epsilon, ridge, tolerance};
    const BudgetRows block = budget_rows(cross, gamma, norms, X, numbers, y, steps, shrinks, uniforms, scores);
    check_rule(rule, block.n_columns);
    const Matrix<double> weights = matrix<double, 2>("coef", coef);
    const Matrix<const double> places = matrix<const double, 2>("table", table);
    const int64_t slots = weights.n_rows;
    const bool newton = rule.update == BudgetUpdate::newton, merges = rule.maintenance == M::merge;
    const bool projects = newton || rule.maintenance == M::project || rule.maintenance == M::project_newest;
    const bool nearest = rule.maintenance == M::absorb_nearest;
    const bool compares = projects || nearest || rule.maintenance == M::shrink;
    require_equal("coef.shape[1]", weights.n_columns, "scores.shape[1]", block.n_columns);
    require_packed("coef", weights);
    if (projects && slots % kBudgetBatch) {
        fail("coef must have a multiple of 8 rows for projections, got " + std::to_string(slots) + ".");
    }
    if (merges && !(gamma > 0)) fail("gamma must be positive for merging.");
    if (merges && (places.n_rows < 2 || places.n_columns < 2)) fail("table must have at least 2 rows and 2 columns.");
    const int64_t n_sums = rounded.shape(0) ? slots : 0;
    const BudgetState state = {weights.data,
                               one_each<double>("norms of slots", slot_norms, "the number of slots", slots),
                               one_each<int64_t>("born", born, "the number of slots", slots),
                               one_each<int64_t>("column", column, "the number of slots", slots),
                               matrix<double, 2>("rows", rows),
                               square("between", between, slots, compares),
                               square("inverse", inverse, slots, projects),
                               square("reduction", reduction, slots, newton),
                               one_each<double>("totals", totals, "what is spent, and mistakes", 2),
                               one_each<int64_t>("counts", counts, "slots in use", 1),
                               square("factor", factor, slots, false),
                               triangle_panels(rounded, slots),
                               one_each<const double>("sums", sums, "one per slot with rounded, else 0", n_sums),
                               nearest};
    if (state.rounded.n_rows && !state.factor.n_rows) fail("rounded must come with factor, which it rounds.");
    check_slots(rule, block, state, slots);
    if (merges && !state.rows.n_rows) fail("rows must have a row for each slot, for merging.");
    const nb::gil_scoped_release released;
    current_level().budget.learn(rule, block, state, slots, places);
}

void gaussian_exponents(const Array<const double, 2>& X, const Array<const double, 2>& Y, double gamma,
                        const Array<double, 2>& out, bool lower) {
    const Matrix<const double> left = matrix<const double, 2>("X", X), right = matrix<const double, 2>("Y", Y);
    const Matrix<double> target = matrix<double, 2>("out", out);
    require_equal("Y.shape[1]", right.n_columns, "X.shape[1]", left.n_columns);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", left.n_rows);
    require_equal("out.shape[1]", target.n_columns, "Y.shape[0]", right.n_rows);
    if (lower) require_equal("Y.shape[0]", right.n_rows, "X.shape[0], for the lower triangle,", left.n_rows);
    const nb::gil_scoped_release released;
    current_level().budget.exponents(left, right, gamma, lower, target);
}

}  // namespace

void bind_budget(nb::module_& m) {
    m.def("budget_learn", &budget_learn, "update"_a, "maintenance"_a, "loss"_a, "budget"_a, "epsilon"_a, "ridge"_a,
          "tolerance"_a, "cross"_a.noconvert(), "gamma"_a, "norms"_a.noconvert(), "X"_a.noconvert(),
          "numbers"_a.noconvert(), "y"_a.noconvert(), "steps"_a.noconvert(), "shrinks"_a.noconvert(),
          "uniforms"_a.noconvert(), "scores"_a.noconvert(), "coef"_a.noconvert(), "slot_norms"_a.noconvert(),
          "born"_a.noconvert(), "column"_a.noconvert(), "rows"_a.noconvert(), "between"_a.noconvert(),
          "inverse"_a.noconvert(), "reduction"_a.noconvert(), "totals"_a.noconvert(),
          "counts"_a.noconvert(), "factor"_a.noconvert(), "rounded"_a.noconvert(),
          "sums"_a.noconvert(), "table"_a.noconvert());
    m.def("gaussian_exponents", &gaussian_exponents, "X"_a.noconvert(), "Y"_a.noconvert(), "gamma"_a,
          "out"_a.noconvert(), "lower"_a);
}

}  // namespace mercer
