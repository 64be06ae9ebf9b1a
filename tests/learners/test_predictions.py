"""Results for rows: arrays and blocks alike, rows numbered from the first of X, warnings where they are called."""

import numpy as np
import pytest

from mercer import (
    FOGDClassifier,
    FOGDRegressor,
    KernelKMeans,
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
)

SCORED = [FOGDClassifier, KernelRidge, KernelRidgeClassifier, KernelSVC, KernelSVR, KitchenSinksClassifier]


@pytest.mark.parametrize("kind", [*SCORED, NOGDRegressor])
def test_blocks_are_scored_as_arrays_are(kind):
    rng = np.random.RandomState(0)
    X, weight = rng.rand(300, 2), rng.rand(300)
    number = np.hypot(*X.T) + 0.1 * rng.standard_normal(300)
    y = np.where(number > 0.8, "far", "near") if hasattr(kind, "decision_function") else number
    model = kind(n_components=20, random_state=0).fit(X, y)
    parts = [slice(0, 130), slice(130, 300)]
    assert model.score(as_blocks(X, y, block_rows=77)) == pytest.approx(model.score(X, y), rel=1e-12)
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


@pytest.mark.parametrize("model", [KernelPCA(n_components=2), KernelKMeans(n_clusters=2)], ids=["pca", "kmeans"])
def test_rows_are_numbered_from_the_first_of_x(model):
    X = np.random.RandomState(0).rand(5000, 2)
    model.set_params(features=RandomBinning(Laplacian(gamma=1e6), n_components=64, random_state=0), random_state=0)
    model.fit(X[:200])
    X[4500, 1] = 1e9
    with pytest.raises(ValueError, match=r"row 4500, column 1 of X is more than 2.31 grid cells away"):
        model.transform(X)


@pytest.mark.parametrize("model", [KernelRidge(), KernelSVC(), FOGDRegressor(), KernelKMeans(n_clusters=2)])
def test_a_warning_names_the_line_that_asked_for_the_result(model):
    X = np.random.RandomState(0).rand(300, 2)
    model.set_params(random_state=0).fit(X, (X[:, 0] > 0.5).astype(int))
    with pytest.warns(UserWarning, match="lie far from the training rows") as caught:
        model.predict(X + 1e3)
    assert [warning.filename for warning in caught] == [__file__]
