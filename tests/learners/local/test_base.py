"""What learners on leaves share: model files, names of columns, memory, and bad input in words."""

import numpy as np
import pytest
from scipy import sparse

import mercer
from mercer import LocalKernelRidge, LocalKernelRidgeClassifier, Matern, config_context
from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local.base import _MeanOfTrees

SMALL = {"leaf_rows": 300, "n_landmarks": 40}
LEARNERS = [LocalKernelRidge(**SMALL), LocalKernelRidgeClassifier(**SMALL)]


@pytest.fixture
def table(rng):
    X = rng.standard_normal((400, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(400)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_saved_and_loaded_models_predict_the_same(table, learner, layout, tmp_path):
    X, y = table
    model = learner.set_params(random_state=0).fit(layout(X), y > 0 if "Classifier" in type(learner).__name__ else y)
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").predict(layout(X)), model.predict(layout(X)))


def test_data_frames_are_known_by_the_names_of_their_columns(table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    model = LocalKernelRidge(alpha=0.1).fit(pandas.DataFrame(X, columns=list("abc")), y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pandas.DataFrame(X, columns=list("abd")))


def test_many_leaves_are_prepared_once_per_block_of_many_rows(rng, monkeypatch):
    X, new = rng.standard_normal((800, 2)), rng.standard_normal((3000, 2))
    model = LocalKernelRidge(Matern(1.5), leaf_rows=10, n_landmarks=20, n_trees=2, alpha=0.1, random_state=0)
    model.fit(X, X[:, 0])
    expected, prepared, evaluator = model.predict(new), [], Matern.evaluator

    def counted(kernel, rows, dtype):
        prepared.append(len(rows))
        return evaluator(kernel, rows, dtype)

    monkeypatch.setattr(Matern, "evaluator", counted)
    np.testing.assert_array_equal(model.predict(new), expected)
    assert 0 < len(prepared) <= sum(tree.n_leaves for tree in model.trees_)


def test_the_expected_gain_of_a_tree_is_that_of_errors_with_a_common_part(rng):
    """Both errors have a relative deviation of (2 / n)^0.5: a false alarm needs 5 deviations, once in 10^6 runs."""
    n, common, own = 100_000, 1.0, 0.5
    shared = common**0.5 * rng.standard_normal((n, 1))
    mean = _MeanOfTrees(shared, np.ones(n))
    for n_trees in (1, 2, 3):
        mean.add(shared + own**0.5 * rng.standard_normal((n, 1)))
        if n_trees > 1:
            now, then = (common + own / trees for trees in (n_trees, n_trees + 1))
            assert mean.next_gain == pytest.approx((now - then) / now, rel=5 * 2 * (2 / n) ** 0.5)


def test_trees_are_fitted_while_one_more_is_worth_it(rng):
    X, noise = rng.standard_normal((1500, 5)), rng.standard_normal(1500)
    smooth = np.sin(2 * X[:, 0]) * X[:, 1]

    def fitted(y, least_gain, n_trees=4):
        model = LocalKernelRidge(Matern(1.5), leaf_rows=100, n_landmarks=0, n_trees=n_trees, alpha=1.0)
        held = HeldTargets.of(Numbers("test"), y[:, None])
        return model.fit_held(X, held, np.random.RandomState(0), least_gain)

    assert len(fitted(smooth, 0.005).trees_) == 4
    assert len(fitted(noise, None).trees_) == 4
    few, two = fitted(noise, 0.5), fitted(noise, None, n_trees=2)
    assert len(few.trees_) == 2
    np.testing.assert_array_equal(few.predict(X), two.predict(X))
    np.testing.assert_array_equal(few.loo_residuals_, two.loo_residuals_)


def test_memory_is_counted_before_the_work(rng):
    X = rng.standard_normal((3000, 2))
    with (
        config_context(memory="30MB"),
        pytest.raises(
            MemoryError, match=r"leaf_rows=3000 needs .* GiB for leaves of 3000 rows, 0 landmarks and 3 trees"
        ),
    ):
        LocalKernelRidge(leaf_rows=3000).fit(X, X[:, 0])
    with config_context(memory="30MB"):
        LocalKernelRidge(leaf_rows=300, n_landmarks=100).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0.0}, r"alpha must be a finite number > 0, got 0.0. Or write alpha='loo'"),
        ({"alpha": "gcv"}, r"alpha must be a finite number > 0, got 'gcv'"),
        ({"alphas": []}, r"alphas must hold at least one number > 0"),
        ({"alphas": [1.0, -1.0]}, r"alphas must be a finite number > 0, got -1.0"),
        ({"leaf_rows": 0}, r"leaf_rows must be an integer >= 1, got 0"),
        ({"n_trees": 0}, r"n_trees must be an integer >= 1, got 0"),
        ({"n_landmarks": -1}, r"n_landmarks must be an integer >= 0, got -1"),
        ({"kernel": "rbf"}, r"kernel must be a kernel object, got the name 'rbf'"),
    ],
)
def test_bad_parameters_are_refused_in_words(table, params, message):
    with pytest.raises(ValueError, match=f"LocalKernelRidge: {message}"):
        LocalKernelRidge(**params).fit(*table)


def test_bad_rows_are_refused_in_words(table):
    X, y = table
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LocalKernelRidge().fit(X, y[:-1])
    with pytest.raises(ValueError, match="sample_weight must not be all zero"):
        LocalKernelRidge().fit(X, y, sample_weight=np.zeros(400))
    with pytest.raises(ValueError, match="y must hold at least 2 classes, got 1 class: 'a'"):
        LocalKernelRidgeClassifier().fit(X, ["a"] * 400)
    with pytest.raises(ValueError, match="class_weight must be None, 'balanced' or a dict"):
        LocalKernelRidgeClassifier(class_weight="even").fit(X, y > 0)
    with pytest.raises(ValueError, match="class_weight names 'c', which is not a class of y"):
        LocalKernelRidgeClassifier(class_weight={"c": 1.0}).fit(X, np.where(y > 0, "a", "b"))
    with pytest.raises(ValueError, match="score needs y"):
        LocalKernelRidge().fit(X, y).score(X)
