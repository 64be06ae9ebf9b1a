"""Rows of features: held or made again, with the targets and weights that a solver reads, for any map and engine."""

import numpy as np
import pytest
from maps import Squares
from scipy import sparse

from mercer import (
    FourierFeatures,
    Gaussian,
    KernelKMeans,
    KernelLogisticRegression,
    KernelRidge,
    KernelSVC,
    KernelSVR,
    Laplacian,
    RandomBinning,
    config_context,
)
from mercer.data import as_blocks
from mercer.engines import Local
from mercer.fitting import Classes, FeatureRows, Numbers, Passes, Sample, Targets, feature_rows
from mercer.stats import Gradient


class Elsewhere(Local):
    """An engine whose workers have memory of their own."""

    shares_memory = False


def _rows(feature_map, X, y=None, weight=None, *, targets=None, engine=None, block_rows=100):
    blocks = as_blocks(X, y, sample_weight=weight, block_rows=block_rows)
    sample = Sample(X[:10], np.ones(10) if weight is None else weight[:10])
    passes = Passes("Test", engine or Local())
    return FeatureRows(feature_map, blocks, targets or Numbers("Test"), passes, sample)


def _total(rows, title="x"):
    shape = rows.n_features, 1

    def work(Z, Y, weight):
        return Gradient.of(*shape).update(Z, Y if weight is None else weight[:, None] * Y)

    return rows.reduce(title, work, Gradient.of(*shape)).vector


@pytest.mark.parametrize("is_sparse", [False, True])
def test_features_are_held_while_they_fit(rng, is_sparse):
    X, y, weight = rng.rand(1000, 3), rng.rand(1000), rng.rand(1000)
    streamed = _rows(Squares(is_sparse=is_sparse), X, y, weight)
    streamed.feature_map.n_made = 0
    with config_context(memory=1000 * 6 * 8):
        assert not streamed.fits
        assert not streamed.hold()
        first, second = _total(streamed), _total(streamed)
    assert streamed.feature_map.n_made == 2000
    held = _rows(Squares(is_sparse=is_sparse), X, y, weight)
    held.feature_map.n_made = 0
    assert held.hold()
    np.testing.assert_array_equal(_total(held), first)
    np.testing.assert_array_equal(_total(held), second)
    assert held.feature_map.n_made == 1000
    Z, Y, weights = held.matrix()
    assert sparse.issparse(Z) == is_sparse
    np.testing.assert_array_equal(weights, weight)
    np.testing.assert_array_equal(Y.ravel(), y)
    np.testing.assert_allclose(first.ravel(), np.hstack([X, X**2]).T @ (weight * y), rtol=1e-12)


def test_an_engine_without_shared_memory_makes_features_in_each_pass(rng):
    X, y = rng.rand(300, 2), rng.rand(300)
    rows = _rows(Squares(), X, y, engine=Elsewhere())
    assert not rows.fits
    assert not rows.hold()
    np.testing.assert_array_equal(_total(rows), _total(_rows(Squares(), X, y)))


def test_the_solver_reads_encoded_classes_and_their_weights(rng):
    X, labels = rng.rand(250, 2), np.array(["a", "b", "c"])[np.arange(250) % 3]
    factors = np.array([1.0, 2.0, 3.0])
    targets = Classes("Test", classes=np.array(["a", "b", "c"]), factors=factors)
    weight = rng.rand(250)
    rows = _rows(Squares(), X, labels, weight, targets=targets)
    for Z, Y, weights in (rows.matrix(), [np.concatenate(part) for part in zip(*rows.each("x"), strict=True)]):
        np.testing.assert_array_equal(Z, np.hstack([X, X**2]))
        np.testing.assert_array_equal(Y.argmax(axis=1), np.arange(250) % 3)
        np.testing.assert_array_equal(weights, weight * factors[np.arange(250) % 3])
    # the features of a block, and its weights, are the same before and after they are held
    before = [rows.of(block) for block in rows.blocks.labelled()]
    assert rows.hold()
    for one, other in zip(before, map(rows.of, rows.blocks.labelled()), strict=True):
        for part, again in zip(one, other, strict=True):
            np.testing.assert_array_equal(part, again)


def test_rows_without_targets_and_weights(rng):
    rows = _rows(Squares(), rng.rand(20, 2), targets=Targets("Test"))
    Z, Y, weight = rows.matrix()
    assert Z.shape == (20, 4)
    assert Y.shape == (20, 0)
    assert weight is None


def test_some_rows_of_a_block(rng):
    X = rng.rand(30, 2)
    rows = _rows(Squares(), X, X[:, 0])
    block = next(rows.blocks.labelled())
    np.testing.assert_array_equal(rows.features(block, np.array([3, 7])), np.hstack([X, X**2])[[3, 7]])


def test_where_memory_ends_features_are_made_again(rng):
    X, y = rng.rand(300, 2), rng.rand(300)
    expected = _total(_rows(Squares(), X, y))
    rows = _rows(Squares(), X, y)
    attempts = []

    def solve(rows):
        attempts.append(rows.fits)
        if rows.fits:
            rows.hold()
            raise MemoryError("no memory left")
        return _total(rows)

    np.testing.assert_array_equal(rows.solved(solve), expected)
    assert attempts == [True, False]
    assert not rows.holds
    with pytest.raises(MemoryError, match="no memory left"):  # nothing is left to let go
        rows.solved(lambda rows: (_ for _ in ()).throw(MemoryError("no memory left")))


@pytest.mark.parametrize("fails_at", [None, 250])
def test_a_pass_that_fails_while_it_holds_begins_again(rng, fails_at):
    """The blocks before the failure are not counted twice."""
    X, y = rng.rand(500, 2), rng.rand(500)
    rows = _rows(Squares(), X, y)
    rows.feature_map.n_made, rows.feature_map.fails_at = 0, fails_at
    empty = Gradient.of(4, 1)
    total = rows.hold_and_reduce("x", lambda block: empty.zero().update(block.X, block.y), empty.zero())
    np.testing.assert_array_equal(total.vector, _total(_rows(Squares(), X, y)))
    assert rows.holds == (fails_at is None)
    assert rows.feature_map.n_made == (500 if fails_at is None else 300 + 500)


def test_a_set_budget_is_kept_and_small_features_ask_for_none(rng):
    rows = _rows(Squares(), rng.rand(100, 2), np.ones(100))
    assert rows.allows(2**22, 0.25)
    with config_context(memory=2**20):
        assert not rows.allows(2**19, 0.25)
        assert rows.allows(2**18, 0.25)
        assert rows.fits_square(1)
    with config_context(memory=100):
        assert not _rows(Squares(), rng.rand(100, 2), np.ones(100)).fits_square(1)


def test_errors_call_rows_by_their_numbers_in_all_blocks(rng):
    X, y = rng.rand(500, 2), rng.rand(500)
    y[420] = np.nan
    with pytest.raises(ValueError, match=r"Test: Input y contains NaN. The first is in row 420"):
        _total(_rows(Squares(), X, y))


HOLDING = {
    "logistic": KernelLogisticRegression(),
    "squared hinge": KernelSVC(),
    "hinge": KernelSVC(loss="hinge", tol=1e-2),
    "squared insensitive": KernelSVR(loss="squared_epsilon_insensitive"),
    "clusters": KernelKMeans(n_clusters=3),
    "mini-batches": KernelKMeans(n_clusters=3, batch_size=100),
    "ridge on sparse features": KernelRidge(
        features=RandomBinning(Laplacian(), n_components=64, n_grids=8, sparse_output=True, random_state=0)
    ),
}


def _two_blobs():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(2 * i, 1, (150, 2)) for i in range(2)])
    return X, (np.arange(300) >= 150).astype(float)


def _scores_of(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("model", HOLDING.values(), ids=HOLDING)
@pytest.mark.parametrize("failing", ["the allocation", "a later block"])
def test_where_holding_fails_features_are_made_again(monkeypatch, model, failing):
    """The answer is that of a fit which streams from the start, and no part of the failed pass is in it."""
    X, y = _two_blobs()
    if not hasattr(model, "features") or model.features is None:
        model = model.set_params(features=FourierFeatures(Gaussian(gamma=0.3), n_components=32, random_state=0))
    model = model.set_params(random_state=0)
    monkeypatch.setattr("mercer.fitting.map_plan.BLOCK_ROWS", 64)
    with monkeypatch.context() as never_held:
        never_held.setattr(feature_rows, "_SHARE", 0.0)
        streamed = _scores_of(model.fit(X, y), X)
    failures = []

    def fail(*arguments, **options):
        failures.append(0)
        raise MemoryError("no memory left")

    def fail_of_all_rows(shape, dtype):
        return fail() if shape[0] == len(X) else np.empty(shape, dtype)

    if failing == "the allocation":
        monkeypatch.setattr(feature_rows, "empty", fail_of_all_rows)
        monkeypatch.setattr(feature_rows.sparse, "vstack", fail)
    else:
        monkeypatch.setattr(feature_rows, "_joined", fail)  # after the last block of a pass that holds
    held = model.fit(X, y)
    assert failures
    np.testing.assert_array_equal(_scores_of(held, X), streamed)


def test_a_pass_that_fails_within_begins_again(monkeypatch):
    """The sums of blocks before the failure are not counted twice."""
    X, _ = _two_blobs()
    model = KernelKMeans(
        features=FourierFeatures(Gaussian(gamma=0.3), n_components=32, random_state=0), n_clusters=3, random_state=0
    )
    monkeypatch.setattr("mercer.fitting.map_plan.BLOCK_ROWS", 64)
    expected = model.fit(X).cluster_centers_
    write, calls = FourierFeatures.write_features, []

    def fails_once(self, rows, out):
        if out.base is not None:  # a block of features that are held is a view
            calls.append(0)
        if out.base is not None and len(calls) == 3:
            raise MemoryError("no memory left")
        return write(self, rows, out)

    monkeypatch.setattr(FourierFeatures, "write_features", fails_once)
    np.testing.assert_allclose(model.fit(X).cluster_centers_, expected, rtol=1e-10)
    assert len(calls) >= 3


def test_an_error_of_memory_without_held_features_stays(monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError("no memory left")

    monkeypatch.setattr("mercer.learners.ridge_base.cholesky", fail)
    X, y = _two_blobs()
    with config_context(memory="200kB"), pytest.raises(MemoryError, match="no memory left"):
        KernelRidge(n_components=32, alpha=1.0).fit(X, y)
