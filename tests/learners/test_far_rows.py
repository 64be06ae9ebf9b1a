"""Rows far from the training rows: one warning per call where features do not decay, and none elsewhere."""

import os
import pickle
import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer import (
    Fastfood,
    FOGDRegressor,
    FourierFeatures,
    Gaussian,
    KernelCCA,
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    Laplacian,
    Linear,
    NOGDRegressor,
    Nystroem,
    OrthogonalFeatures,
    QuasiRandomFeatures,
    RandomBinning,
    TensorSketch,
    as_blocks,
    config_context,
    load,
    save,
)
from mercer.learners.far_rows import FarRows, bulk_of, far_limits
from mercer.stats import ColumnRanges

rng = np.random.RandomState(0)
X = rng.standard_normal((600, 3))
Y = (X[:, 0] > 0).astype(int)
FAR = np.vstack([rng.standard_normal((50, 3)), [[0.0, 40.0, 0.0], [-40.0, 40.0, 0.0], [1e3, 0.0, 0.0]]])

ESTIMATORS = {
    KernelRidge: ["predict"],
    KernelRidgeClassifier: ["predict", "decision_function"],
    KernelSVC: ["predict", "decision_function"],
    KernelSVR: ["predict"],
    KernelLogisticRegression: ["predict", "decision_function", "predict_proba", "predict_log_proba"],
    KernelPCA: ["transform"],
    KernelKMeans: ["predict", "transform"],
    FOGDRegressor: ["predict"],
}
CALLS = [(kind, method) for kind, methods in ESTIMATORS.items() for method in methods]


def messages(call, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(("kind", "method"), CALLS, ids=lambda value: getattr(value, "__name__", value))
def test_one_warning_tells_how_many_rows_and_in_which_columns(kind, method):
    model = kind(random_state=0).fit(X, Y)
    for rows in (FAR, as_blocks(FAR, block_rows=7), FAR.astype(np.float32), sparse.csr_array(FAR)):
        (message,) = messages(getattr(model, method), rows)
        assert message.startswith(f"{kind.__name__}: 3 of 53 rows lie far from the training rows, in columns 0, 1:")
        assert "alpha='loo'" in message
        assert "Nystroem" in message
    assert not messages(getattr(model, method), FAR[:50])


def test_scores_warn_once_and_columns_have_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["age", "height", "weight"])
    model = KernelRidge(random_state=0).fit(frame, Y)
    far = pandas.DataFrame(FAR, columns=frame.columns)
    (message,) = messages(model.score, far, np.arange(len(far)))
    assert "in columns age, height:" in message


@pytest.mark.parametrize(
    "features",
    [FourierFeatures(), OrthogonalFeatures(), QuasiRandomFeatures(), Fastfood(), FourierFeatures(Laplacian())],
    ids=repr,
)
def test_maps_of_phases_warn(features):
    assert len(messages(KernelRidge(features=features).fit(X, Y).predict, FAR)) == 1


@pytest.mark.parametrize("features", [Nystroem(n_components=50), RandomBinning(), TensorSketch()], ids=repr)
def test_maps_that_follow_the_kernel_do_not(features):
    assert not messages(KernelRidge(features=features).fit(X, Y).predict, FAR)


def test_sums_warn_by_the_farthest_member():
    kernel = Gaussian(gamma=1.0) + Linear() + Gaussian(gamma=1e-6)
    model = KernelRidge(kernel, random_state=0).fit(X, Y)
    assert not messages(model.predict, FAR[:52])
    assert "1 of 53 rows" in messages(model.predict, np.vstack([FAR[:52], [[1e5, 0, 0]]]))[0]


def test_learners_of_outliers_and_nystroem_online_do_not():
    for model in (KernelOneClassSVM(random_state=0).fit(X), NOGDRegressor(random_state=0).fit(X, Y)):
        assert not messages(model.predict, FAR)
    assert not messages(KernelCCA(random_state=0).fit(X, X[:, :2]).transform, FAR[:50])


def test_the_answer_does_not_depend_on_threads_or_blocks():
    many = np.tile(FAR, (40, 1))
    model = KernelRidge(random_state=0).fit(X, Y)
    for threads in (1, 2):
        with config_context(threads=threads):
            for rows in (many, as_blocks(many, block_rows=13), as_blocks(lambda: np.array_split(many, 9))):
                assert "120 of 2120 rows" in messages(model.predict, rows)[0]


def test_limits_live_in_files_and_pickles_and_go_with_a_refit(tmp_path):
    model = KernelRidge(random_state=0).fit(X, Y)
    expected = messages(model.predict, FAR)
    save(model, tmp_path / "model.mercer")
    for other in (load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))):
        assert messages(other.predict, FAR) == expected
    online = FOGDRegressor(random_state=0).fit(X, Y)
    save(online, tmp_path / "online.mercer")
    loaded = load(BytesIO((tmp_path / "online.mercer").read_bytes()))
    assert messages(loaded.predict, FAR) == messages(online.predict, FAR) != []
    assert not messages(model.set_params(features=Nystroem(n_components=50)).fit(X, Y).predict, FAR)


def test_ranges_of_online_learners_grow():
    model = FOGDRegressor(random_state=0).partial_fit(X, Y)
    assert messages(model.predict, FAR)
    model.partial_fit(FAR, np.zeros(len(FAR)))
    assert not messages(model.predict, FAR)


def test_rows_of_weight_0_are_no_training_rows():
    weight = np.r_[np.ones(len(X)), np.zeros(len(FAR))]
    model = KernelRidge(random_state=0).fit(np.vstack([X, FAR]), np.r_[Y, np.zeros(len(FAR))], weight)
    assert messages(model.predict, FAR)


def test_outliers_among_the_training_rows_are_followed_and_the_warning_says_so():
    rows = rng.standard_normal((2000, 3))
    rows[:3, 0] = [40.0, 60.0, 80.0]
    y = rows[:, 1]
    model = KernelRidge(alpha=1e-6, far_rows="keep", random_state=0).fit(rows, y)
    (message,) = messages(model.predict, rows)
    assert "3 of 2000 rows" in message
    assert "unless the model was trained on these very rows" in message
    with warnings.catch_warnings(action="ignore"):
        wrong = (model.predict(rows) - y) ** 2
    assert wrong[:3].max() < 10 * wrong[3:].max()


def test_an_outlier_among_the_training_rows_does_not_hide_others():
    """Training rows reach to 50 deviations in one row of a thousand, as in real data: the bulk tells, not the range."""
    rows = rng.standard_normal((4000, 3))
    rows[:4, 0] = 50.0
    model = KernelRidge(random_state=0).fit(rows, rows[:, 1])
    assert "1 of 2 rows" in messages(model.predict, [[30.0, 0.0, 0.0], [3.0, 0.0, 0.0]])[0]


@pytest.mark.parametrize("n_rows", [50, 200, 6000])
@pytest.mark.parametrize("gamma", ["scale", 0.01, 100.0])
def test_ordinary_rows_are_not_far(n_rows, gamma):
    """Held-out rows of normal, uniform and 0-1 columns, one in a thousand of them 1, however narrow the kernel.

    Of 2,000 normal values one is far with probability 4e-4 after 50 training rows (by simulation), 4e-7 after 200.
    """
    generator = np.random.RandomState(n_rows)

    def draw(n):
        return np.column_stack(
            [generator.standard_normal(n), generator.random_sample(n), generator.random_sample(n) < 1e-3]
        ).astype(float)

    rows = draw(n_rows)
    rows[0, 2] = 1.0
    model = KernelRidge(Gaussian(gamma=gamma), n_components=20, random_state=0).fit(rows, rows[:, 0])
    assert not messages(model.predict, draw(2000))


@given(st.integers(1, 500), st.floats(0.0, 1.0), st.integers(0, 2**31 - 1))
def test_the_bulk_of_sparse_rows_is_that_of_dense_ones(n_rows, density, seed):
    rows = sparse.random_array((n_rows, 4), density=density, format="csr", rng=np.random.default_rng(seed))
    rows.data -= 0.3
    np.testing.assert_array_equal(bulk_of(rows), bulk_of(rows.toarray()))


def test_the_bulk_leaves_half_a_percent_on_each_side():
    rows = np.random.RandomState(0).permutation(1000).astype(float)[:, None]
    np.testing.assert_array_equal(bulk_of(rows), [[5.0], [994.0]])
    np.testing.assert_array_equal(bulk_of(rows[:150]), [rows[:150].min(axis=0), rows[:150].max(axis=0)])


def test_sparse_rows_that_lack_an_entry_are_as_far_as_0():
    rows = 100 + np.random.RandomState(0).standard_normal((300, 2))
    limits = far_limits(np.ones(2), ColumnRanges.of(2).update(rows), rows)
    given_rows = np.array([[100.0, 0.0], [100.0, 100.0], [0.0, 0.0]])
    expected = messages(_told, limits, given_rows)
    assert "2 of 3 rows" in expected[0]
    assert messages(_told, limits, sparse.csr_array(given_rows)) == expected


def _told(limits, rows):
    far = FarRows(limits)
    far.see(rows)
    far.warn("Learner")


@pytest.mark.skipif("MERCER_DATA" not in os.environ, reason="MERCER_DATA names no folder of data sets")
def test_the_rows_that_spoil_protein_are_among_those_warned_of():
    """Ridge regression by GCV is worse than the mean on held-out rows, and good without the few that are far."""
    with np.load(Path(os.environ["MERCER_DATA"]) / "uci_protein.npz") as data:
        rows, y, held_out = data["X"], data["y"], data["fold"] == 0
    rows = (rows - rows[~held_out].mean(axis=0)) / rows[~held_out].std(axis=0)
    with pytest.warns(UserWarning, match="rows have a leverage of 1/2 or more"):
        model = KernelRidge(n_components=1024, alpha="gcv", random_state=0).fit(rows[~held_out], y[~held_out])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model._prior = None  # what it would be
        wrong = (model.predict(rows[held_out]) - y[held_out]) ** 2
    (warning,) = caught
    far = np.flatnonzero(np.abs(rows[held_out]).max(axis=1) > 8)
    assert wrong.mean() > y[held_out].var()  # the fault is there to be warned of
    assert np.argmax(wrong) in far
    assert "of 4573 rows lie far from the training rows, in column 6:" in str(warning.message)
