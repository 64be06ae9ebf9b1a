"""What learners share: one survey, sources that change, row numbers in errors, scores of blocks."""

import numpy as np
import pytest
from scipy import sparse

from mercer import (
    FOGDClassifier,
    FourierFeatures,
    Gaussian,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    KitchenSinksClassifier,
    Laplacian,
    RandomBinning,
    as_blocks,
    load,
    save,
)
from mercer.data import Block, Reader
from mercer.fitting import targets
from mercer.learners import training_rows


class Passes(Reader):
    """A source whose passes differ: one list of blocks per pass."""

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
    for alpha in (1.0, "gcv"):
        KernelRidge(random_state=0, alpha=alpha).fit(source)
        assert len(read) == 2
        read.clear()
    KernelRidge(random_state=0).fit(source)
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


SCORED = [FOGDClassifier, KernelRidge, KernelRidgeClassifier, KernelSVC, KernelSVR, KitchenSinksClassifier]


@pytest.mark.parametrize("kind", [KernelRidge, KernelSVR])
def test_a_saved_model_with_a_map_of_your_own_needs_no_n_components(kind, tmp_path):
    X = np.random.RandomState(0).rand(20, 2)
    features = FourierFeatures(Gaussian(), n_components=8, random_state=0)
    model = kind(n_components=None, features=features).fit(X, X[:, 0])
    save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(load(tmp_path / "model.mercer").predict(X), model.predict(X))


@pytest.mark.parametrize("wrong", [{"C": -1}, {"tol": 0}, {"kernel": "rbf"}, {"loss": "none"}, {"features": 3}])
def test_parameters_are_refused_before_a_row_is_read(wrong):
    def rows():
        read.append(0)
        yield np.ones((3, 2)), np.ones(3)

    read = []
    source = as_blocks(rows)
    read.clear()
    with pytest.raises(ValueError, match=f"KernelSVR: {next(iter(wrong))} must be"):
        KernelSVR(**wrong).fit(source)
    assert not read


class Changes(Reader):
    """Rows whose y or weights are no longer valid in the second pass."""

    width, dtype, labelled, keeps_pieces = 2, np.dtype(float), True, True

    def __init__(self, y, weight):
        self.later, self.n_passes = (y, weight), 0

    def pieces(self, block_rows):
        self.n_passes += 1
        good = np.arange(10.0), np.ones(10)
        yield Block(A, *(good if self.n_passes == 1 else self.later))


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (np.full(10, np.nan), np.ones(10), "KernelRidge: Input y contains NaN. The first is in row 0"),
        (np.arange(10.0), np.full(10, -1.0), "KernelRidge: sample_weight must hold finite numbers >= 0, got -1.0"),
    ],
)
def test_a_stream_is_checked_in_every_pass(y, weight, message):
    with pytest.raises(ValueError, match=message):
        KernelRidge(random_state=0).fit(as_blocks(Changes(y, weight)))


def test_an_array_is_checked_once(monkeypatch):
    """Counted: whole arrays of X and y are checked when fit begins, and no block of them later."""
    calls = []
    for name in ("check_rows", "check_weights"):
        check = getattr(training_rows, name)
        monkeypatch.setattr(training_rows, name, lambda *a, c=check, n=name, **k: calls.append(n) or c(*a, **k))
    for name in ("check_weights", "check_finite_y"):
        check = getattr(targets, name)
        monkeypatch.setattr(targets, name, lambda *a, c=check, n=name, **k: calls.append(n) or c(*a, **k))
    X = np.random.RandomState(0).rand(9000, 2)
    KernelSVR(random_state=0, tol=0.1).fit(X, X[:, 0], np.ones(9000))
    assert sorted(calls) == ["check_finite_y", "check_rows", "check_weights"]


def test_progress_is_shown_when_asked_for(capfd):
    X = np.random.RandomState(0).rand(300, 2)
    KernelRidge(random_state=0).fit(X, X[:, 0])
    assert capfd.readouterr() == ("", "")
    KernelRidge(random_state=0, verbose=1).fit(X, X[:, 0])
    assert "KernelRidge: moments" in "".join(capfd.readouterr())
