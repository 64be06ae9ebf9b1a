"""Budget learners: the contract, streams, cuts, files, faults, objects, memory, and no more than the budget."""

import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import Gaussian, Laplacian, Linear, Polynomial, as_blocks
from mercer.learners import BudgetClassifier, BudgetRegressor
from mercer.learners.budget.plan import LOSSES_OF_NUMBERS, MAINTENANCE
from mercer.testing import check_learner

PAIRS = [(update, kind) for update, kinds in MAINTENANCE.items() for kind in kinds]
KINDS = [BudgetClassifier, BudgetRegressor]


@parametrize_with_checks(
    [
        BudgetClassifier(budget=20),
        BudgetClassifier(update="newton", budget=20),
        BudgetClassifier(update="passive_aggressive", maintenance="absorb", budget=20),
        BudgetRegressor(budget=20, alpha=1e-3),
        BudgetRegressor(update="newton", budget=20),
    ]
)
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kit_of_learners(kind):
    others = {
        "maintenance": ["project", "oldest"],
        "update": ["newton", "passive_aggressive"],
        "loss": ["squared"],
        "alpha": [0.1],
        "budget": [7],
        "decay": [0.9],
        "tolerance": [0.2],
        **({"new_classes": ["learn"]} if kind is BudgetClassifier else {"epsilon": [0.3]}),
    }
    check_learner(kind(Gaussian(gamma=0.5), budget=15), sklearn_checks=False, others=others)


def rows_and_classes(n=700, n_classes=3, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 3))
    values = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    cuts = np.quantile(values, np.arange(1, n_classes) / n_classes)
    return X, np.array(list("abcd"))[np.digitize(values, cuts)]


def projects(update, maintenance):
    return update == "newton" or maintenance in ("project", "project_newest")


def made(update, maintenance, **params):
    return BudgetClassifier(
        Gaussian(gamma=0.5), budget=15, update=update, maintenance=maintenance, random_state=0, **params
    )


@pytest.mark.parametrize(("update", "maintenance"), PAIRS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cuts_files_and_copies_in_mid_stream_leave_the_bits(update, maintenance, n_classes, tmp_path):
    """And the budget is never exceeded.

    Projections wait for eight rows: cuts at multiples of eight leave the bits. If the support vectors stay, triangles
    are used from the next multiple of 128 on, and windows end at multiples of 64.
    """
    X, y = rows_and_classes(500, n_classes)
    whole, parts = made(update, maintenance).fit(X, y), made(update, maintenance)
    cuts = (0, 8, 104, 128, 424, 500) if projects(update, maintenance) else (0, 1, 100, 130, 420, 500)
    cuts = (0, 128, 256, 384, 448, 500) if maintenance == "project_newest" else cuts
    for i, (start, stop) in enumerate(pairwise(cuts)):
        parts.partial_fit(X[start:stop], y[start:stop], classes=np.unique(y))
        assert len(parts.support_vectors_) <= 15
        if i % 2:
            mercer.save(parts, tmp_path / "model")
            parts = mercer.load(tmp_path / "model")
        else:
            parts = pickle.loads(pickle.dumps(parts))
    assert len(whole.support_vectors_) == 15 or maintenance in ("project", "project_newest")
    assert (parts.n_seen_, parts.n_mistakes_) == (whole.n_seen_, whole.n_mistakes_)
    for name in ("coef", "rows", "born", "between", "inverse", "reduction", "totals"):
        np.testing.assert_array_equal(getattr(parts.state_, name), getattr(whole.state_, name), err_msg=name)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("update", [update for update, maintenance in PAIRS if maintenance == "project_newest"])
def test_cuts_of_a_full_budget_whose_support_vectors_stay(update):
    """Cuts between windows leave the bits, others change them by rounding alone."""
    X, y = rows_and_classes(900, 2)
    begun = made(update, "project_newest", tolerance=0.0).partial_fit(X[:400], y[:400], classes=np.unique(y))
    assert len(begun.support_vectors_) == 15
    whole = clone_of(begun).partial_fit(X[400:], y[400:])
    for cuts, same in (((400, 448, 512, 704, 900), True), ((400, 401, 475, 477, 700, 900), False)):
        parts = clone_of(begun)
        for start, stop in pairwise(cuts):
            parts.partial_fit(X[start:stop], y[start:stop])
        assert parts.n_mistakes_ == whole.n_mistakes_
        np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-9)
        assert not same or np.array_equal(parts.coef_, whole.coef_)


def clone_of(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize(("update", "maintenance"), [pair for pair in PAIRS if projects(*pair)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_cuts_change_projections_by_rounding_alone(update, maintenance, n_classes):
    X, y = rows_and_classes(500, n_classes)
    whole, parts = made(update, maintenance).fit(X, y), made(update, maintenance)
    for start, stop in pairwise((0, 1, 100, 130, 421, 500)):
        parts.partial_fit(X[start:stop], y[start:stop], classes=np.unique(y))
    np.testing.assert_array_equal(parts.state_.born, whole.state_.born)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-7)


@pytest.mark.parametrize(("update", "maintenance"), PAIRS)
def test_below_the_budget_nothing_is_lost(update, maintenance):
    """The unbounded learner by the plain recursion in the kernel's space, with none of the library's loops."""
    X, labels = rows_and_classes(120, 2)
    kernel, y = Gaussian(gamma=0.5), np.where(labels == "b", 1.0, -1.0)
    K, c = kernel(X), np.zeros(120)
    for t in range(120):
        score = K[t] @ c
        margin = y[t] * score
        if update == "gradient":
            step = 1 / (1e-4 * (t + 1) + 1)
            c *= 1 - 1e-4 * step
            c[t] = step * y[t] if margin < 1 else 0.0
        elif update == "passive_aggressive":
            c[t] = y[t] * min(1.0, max(0.0, 1 - margin))
        elif update == "newton":
            c[: t + 1] = np.linalg.solve(K[: t + 1, : t + 1] + 0.1 * np.eye(t + 1), y[: t + 1])
        else:
            c[t] = y[t] if margin <= 0 else 0.0
            if update == "margin_perceptron" and 0 < margin < 1:
                pytest.skip("its steps on margin errors are projections: see test_classifier.py")
    model = made(update, maintenance, tolerance=1e-9).set_params(budget=200).fit(X, labels)
    rows = kernel(X, model.support_vectors_) @ model.coef_
    np.testing.assert_allclose(rows, K @ c, atol=1e-6)


@pytest.mark.parametrize("kernel", [Laplacian(gamma=0.5), Linear() + Gaussian(gamma=1.0), Polynomial(2, coef0=1.0)])
@pytest.mark.parametrize("maintenance", ["project", "remove", "absorb_nearest"])
def test_any_kernel_and_csr_rows(kernel, maintenance):
    X, y = rows_and_classes(400)
    X = np.where(X > -0.5, X, 0.0)
    model = BudgetClassifier(kernel, budget=12, update="passive_aggressive", maintenance=maintenance, tolerance=0.05)
    dense, rows = clone(model).fit(X, y), clone(model).fit(sparse.csr_array(X), y)
    assert sparse.issparse(rows.support_vectors_)
    np.testing.assert_array_equal(rows.state_.born, dense.state_.born)
    np.testing.assert_allclose(rows.support_vectors_.toarray(), dense.support_vectors_)
    np.testing.assert_allclose(rows.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(rows.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-6)


def test_merged_support_vectors_of_csr_rows_are_dense():
    X, y = rows_and_classes(400)
    dense, rows = (made("gradient", "merge").fit(data, y) for data in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(rows.coef_, dense.coef_)
    np.testing.assert_array_equal(rows.predict(sparse.csr_array(X)), dense.predict(X))


def common_letters(A, B):
    return [[len(set(a) & set(b)) for b in B] for a in A]


def test_a_function_of_objects():
    words = ["tree", "three", "graph", "graphs", "trees", "paragraph"] * 20
    y = np.array([word.startswith("t") for word in words])
    model = BudgetClassifier(common_letters, budget=4, update="passive_aggressive", maintenance="project")
    parts = clone(model).partial_fit(words[:50], y[:50], classes=[False, True]).partial_fit(words[50:], y[50:])
    model.fit(words, y)
    np.testing.assert_array_equal(parts.coef_, model.coef_)
    assert set(model.support_vectors_) <= set(words)
    assert model.predict(["trees", "graph"]).tolist() == [True, False]
    with pytest.raises(ValueError, match="X has 6 objects and y has 5"):
        model.fit(words[:6], y[:5])
    with pytest.raises(ValueError, match="requires y"):
        model.fit(words)


def test_a_function_of_rows_is_its_kernel():
    X, y = rows_and_classes(300)
    one = BudgetClassifier(lambda A, B: A @ B.T, budget=9, maintenance="remove").fit(X, y)
    two = BudgetClassifier(Linear(), budget=9, maintenance="remove").fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-9)


X, Y = np.random.RandomState(0).rand(20, 3), np.arange(20) % 3
NAN = np.where(np.arange(60).reshape(20, 3) == 22, np.nan, X)
BAD = [
    (lambda model: model.partial_fit(NAN, Y), "X contains NaN at row 7, column 1"),
    (lambda model: model.fit(as_blocks(NAN, Y)), "X contains NaN at row 7, column 1"),
    (lambda model: model.partial_fit(X[:, :2], Y), "X has 2 features, but .* is expecting 3 features"),
    (lambda model: model.partial_fit(X, Y[:9]), "X has 20 rows and y has 9"),
    (lambda model: model.partial_fit(X), "requires y to be passed"),
    (lambda model: model.partial_fit(as_blocks(X, Y, sample_weight=np.ones(20))), "have no sample_weight"),
    (lambda model: model.set_params(budget=0).fit(X, Y), "budget must be an integer >= 1, got 0"),
    (lambda model: model.set_params(budget=2).partial_fit(X, Y), "budget must not be below the 5 support vectors"),
    (lambda model: model.set_params(maintenance="oldest").partial_fit(X, Y), "maintenance must stay .* 'merge', got"),
    (lambda model: model.set_params(update="newton").partial_fit(X, Y), "update must stay .* 'gradient', got 'newton'"),
    (lambda model: model.set_params(kernel="rbf").fit(X, Y), r"got the name 'rbf'. Write Gaussian\(gamma=1.0\)"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named_and_the_model_unchanged(kind, call, message):
    model = kind(Gaussian(gamma=1.0), budget=5).fit(X, Y)
    before, params = dict(model.__dict__), model.get_params()
    with pytest.raises((ValueError, TypeError), match=message):
        call(model)
    model.set_params(**params)
    assert all(model.__dict__[name] is value for name, value in before.items() if name.endswith("_"))


def test_numbers_that_overflow_are_said():
    rows = 1e120 * X
    model = BudgetRegressor(Polynomial(2), budget=5, update="newton", maintenance="oldest")
    with pytest.raises(ValueError, match="overflow"):
        model.fit(1e10 * rows, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_leaves_the_model_after_the_last_whole_block(rng, kind):
    rows = rng.standard_normal((3 * 4096, 2))
    y = (rows[:, 0] > 0).astype(int)

    def source():
        yield rows[:4096], y[:4096]
        if armed:
            raise KeyboardInterrupt
        yield rows[4096:], y[4096:]

    armed = False
    model = kind(Gaussian(gamma=1.0), budget=10)
    blocks = as_blocks(source)
    armed = True
    arguments = {"classes": [0, 1]} if kind is BudgetClassifier else {}
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(blocks, **arguments)
    assert model.n_seen_ == 4096
    expected = kind(Gaussian(gamma=1.0), budget=10).partial_fit(rows[:4096], y[:4096], **arguments)
    np.testing.assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.parametrize("maintenance", ["merge", "project"])
def test_memory_does_not_grow_with_the_stream(rng, maintenance):
    X = rng.standard_normal((20_000, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = BudgetClassifier(Gaussian(gamma=0.5), budget=30, maintenance=maintenance, tolerance=0.05)
    peaks = []
    for part in range(5):
        rows = slice(4000 * part, 4000 * (part + 1))
        tracemalloc.start()
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks[2:]) <= 1.05 * max(peaks[:2])


def test_a_bandwidth_found_on_one_row_is_warned_of():
    with pytest.warns(UserWarning, match=r"the parameters of Gaussian\(\) are found on the first rows given"):
        BudgetRegressor(budget=3).partial_fit(X[:1], Y[:1])


@pytest.mark.parametrize("update", list(LOSSES_OF_NUMBERS))
def test_attributes_before_and_after_fit(update):
    model = BudgetRegressor(Gaussian(gamma=1.0), budget=3, update=update)
    for name in ("coef_", "support_vectors_", "intercept_"):
        assert not hasattr(model, name)
    model.fit(X, Y)
    assert model.coef_.shape == (len(model.support_vectors_),)
    assert model.intercept_ == 0.0
