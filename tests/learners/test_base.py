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
    NOGDRegressor,
    RandomBinning,
    as_blocks,
)
from mercer.data import Reader
from mercer.data.readers import Block


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
