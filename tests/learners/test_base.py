"""What learners share: one look at the rows, features held or made anew, errors with the rows' own numbers."""

import threading

import numpy as np
import pytest
from scipy import sparse

from mercer import (
    FOGDClassifier,
    FourierFeatures,
    Gaussian,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    KitchenSinksClassifier,
    Laplacian,
    NOGDRegressor,
    RandomBinning,
    as_blocks,
    config_context,
)
from mercer.data import Reader
from mercer.data.readers import Block
from mercer.learners.rows import FeatureRows
from mercer.stats import ColumnRanges, Gradient


class Passes(Reader):
    """A source whose passes differ: the first look of the constructor aside, one list of blocks a pass."""

    width, dtype, labelled = 2, np.dtype(float), True

    def __init__(self, *passes):
        self.passes = list(passes)

    def pieces(self, block_rows):
        return (Block(X, np.arange(X.shape[0]) % 2) for X in self.passes.pop(0))


def test_each_pass_reads_the_rows_once_and_there_are_two():
    X = np.random.RandomState(0).rand(9000, 2)
    read = []

    def factory():
        read.append(0)
        yield X, X[:, 0]

    source = as_blocks(factory)
    read.clear()
    KernelRidge(random_state=0).fit(source)
    assert len(read) == 2
    read.clear()
    KernelRidge(random_state=0, alpha="loo").fit(source)
    assert len(read) == 3


A, B = np.random.RandomState(0).rand(2, 10, 2)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([A], "the source of X gave 20 rows before and 10 now"),
        ([A, B, B], "the source of X gave 20 rows before and at least 30 now"),
        ([A, B[:, :1]], "the block of X at row 10 has columns 1, and the source began with 2"),
        ([A, B.astype(np.float32)], "the block of X at row 10 has type float32, and the source began with float64"),
        ([A, sparse.csr_array(B)], "the block of X at row 10 has layout CSR, and the source began with dense"),
    ],
)
@pytest.mark.parametrize("kind", [KernelRidge, KernelRidgeClassifier])
def test_a_source_that_changes_is_named(kind, second, message):
    model = kind(random_state=0)
    with pytest.raises(ValueError, match=f"{kind.__name__}: {message}"):
        model.fit(as_blocks(Passes([A, B], second)))
    assert not hasattr(model, "feature_map_")


def test_rows_are_called_by_their_numbers_in_all_blocks():
    X = np.random.RandomState(0).rand(9000, 2)
    weight = np.where(np.arange(9000) == 8000, -1.0, 1.0)
    with pytest.raises(ValueError, match=r"got -1.0 at row 8000"):
        KernelRidge().fit(as_blocks(X, X[:, 0], sample_weight=weight))
    broken = X.copy()
    broken[8500, 1] = np.nan
    with pytest.raises(ValueError, match="KernelRidge: X contains NaN at row 8500, column 1"):
        KernelRidge().fit(broken, X[:, 0])
    binning = RandomBinning(Laplacian(gamma=1e6), n_components=64)
    model = KernelRidge(features=binning).fit(X, X[:, 0])
    broken[8500, 1] = 1e9
    with pytest.raises(ValueError, match=r"row 8500, column 1 of X is more than 2.31 grid cells away"):
        model.predict(broken)


def test_n_components_is_not_looked_at_where_features_are_given():
    features = FourierFeatures(Gaussian(), n_components=8, random_state=0)
    X = np.random.RandomState(0).rand(20, 2)
    assert KernelRidge(n_components=None, features=features).fit(X, X[:, 0]).coef_.shape == (8,)


@pytest.mark.parametrize("sparse_output", [False, True])
def test_features_are_held_while_they_fit(sparse_output):
    rng = np.random.RandomState(0)
    X, y, weight = rng.rand(5000, 3), rng.rand(5000), rng.rand(5000)
    model = KernelRidge().fit(X[:50], y[:50])
    model.feature_map_ = RandomBinning(
        Laplacian(), n_components=64, n_grids=8, sparse_output=sparse_output, random_state=0
    ).fit(X)
    calls = []
    name = "transform" if sparse_output else "write_features"
    work = getattr(model.feature_map_, name)
    setattr(model.feature_map_, name, lambda *arguments: calls.append(0) or work(*arguments))
    blocks = as_blocks(X, y, sample_weight=weight, block_rows=1000)

    def total(rows):
        return rows.reduce("x", lambda Z, Y, w: Gradient.of(64, 1).update(Z, w[:, None] * Y), Gradient.of(64, 1)).vector

    made = FeatureRows(model, blocks, X[:10], weight[:10])
    calls.clear()
    with config_context(memory="600kB"):
        assert not made.fits
        assert not made.hold()
        first, second = total(made), total(made)
    assert len(calls) == 10
    held = FeatureRows(model, blocks, X[:10], weight[:10])
    calls.clear()
    assert held.hold()
    np.testing.assert_array_equal(total(held), first)
    np.testing.assert_array_equal(total(held), second)
    assert len(calls) == 5
    matrix, targets, weights = held.matrix()
    assert sparse.issparse(matrix) == sparse_output
    np.testing.assert_array_equal(weights, weight)
    np.testing.assert_array_equal(targets.ravel(), y)
    np.testing.assert_allclose(first.ravel(), matrix.T @ (weight * y), rtol=1e-12)


SCORED = [FOGDClassifier, KernelRidge, KernelRidgeClassifier, KernelSVC, KernelSVR, KitchenSinksClassifier]


@pytest.mark.parametrize("kind", [*SCORED, NOGDRegressor])
def test_blocks_are_scored_as_arrays_are(kind):
    rng = np.random.RandomState(0)
    X, weight = rng.rand(300, 2), rng.rand(300)
    number = np.hypot(*X.T) + 0.1 * rng.standard_normal(300)
    y = np.where(number > 0.8, "far", "near") if hasattr(kind, "decision_function") else number
    model = kind(n_components=20, random_state=0).fit(X, y)
    parts = [slice(0, 130), slice(130, 300)]
    assert model.score(as_blocks(X, y, block_rows=77)) == model.score(X, y)
    weighted = model.score(X, y, sample_weight=weight)
    assert weighted != model.score(X, y)
    for source in (
        as_blocks(X, y, sample_weight=weight, block_rows=77),
        as_blocks(lambda: ((X[part], y[part], weight[part]) for part in parts)),
    ):
        assert model.score(source) == pytest.approx(weighted, rel=1e-12)
    for unlabelled in ((X,), (as_blocks(X),)):
        with pytest.raises(ValueError, match=rf"{kind.__name__}: score needs y: score\(X, y\), or"):
            model.score(*unlabelled)
    with pytest.raises(ValueError, match=f"{kind.__name__}: X is Blocks, which bring their own y and weights"):
        model.score(as_blocks(X, y), y)


@pytest.mark.parametrize("learner", [KernelRidge, KernelSVC, KernelPCA])
def test_the_first_pass_looks_at_several_blocks_at_a_time(learner, monkeypatch):
    """Two blocks of the survey meet in the middle of their looks; a pass on one thread would wait for ever."""
    together = threading.Barrier(2)
    update = ColumnRanges.update

    def meet(ranges, rows):
        together.wait(timeout=30)
        return update(ranges, rows)

    monkeypatch.setattr(ColumnRanges, "update", meet)
    X = np.random.RandomState(0).rand(4 * 4096, 2)
    with config_context(threads=2):
        learner(random_state=0).fit(X, np.arange(len(X)) % 2)


def test_the_sample_is_that_of_the_rows_however_they_come():
    X = np.random.RandomState(0).rand(20_000, 2)
    surveys = []
    for source, threads in ((as_blocks(X), 1), (as_blocks(X), 2), (as_blocks(lambda: np.array_split(X, 7)), 2)):
        with config_context(threads=threads):
            model = KernelPCA(random_state=0)
            blocks = model._labelled_blocks(source, None, None).recut(4096, "KernelPCA")
            surveys.append(model._survey(blocks, np.random.RandomState(3)))
    for survey in surveys:
        np.testing.assert_array_equal(survey.rows, surveys[0].rows)
        np.testing.assert_array_equal(survey.ranges.low, X.min(axis=0))
        np.testing.assert_array_equal(survey.ranges.high, X.max(axis=0))
        assert survey.weight == len(X)


def test_rows_of_weight_0_do_not_widen_the_ranges():
    X, weight = np.random.RandomState(0).rand(100, 2), np.ones(100)
    X[3], weight[3] = 1e3, 0
    model = KernelPCA(random_state=0)
    survey = model._survey(model._labelled_blocks(X, None, weight).recut(4096, "KernelPCA"), np.random.RandomState(0))
    assert survey.ranges.high.max() < 1


def test_a_row_that_is_not_finite_is_named_while_others_are_looked_at():
    X = np.random.RandomState(0).rand(5 * 4096, 2)
    X[3 * 4096 + 17, 1] = np.nan
    with config_context(threads=2):
        for source in (X, as_blocks(lambda: np.array_split(X, 11))):
            with pytest.raises(ValueError, match=f"NaN at row {3 * 4096 + 17}, column 1"):
                KernelPCA(random_state=0).fit(source)
