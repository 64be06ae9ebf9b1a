"""What unsupervised learners share: no y, results for blocks of rows, and words for overflow."""

import numpy as np
import pytest

from mercer import KernelKMeans, KernelPCA, TensorSketch, as_blocks

MODELS = [KernelPCA(n_components=2, random_state=0), KernelKMeans(n_clusters=3, random_state=0)]
IDS = ["pca", "kmeans"]


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_y_is_not_used(rng, model):
    X = rng.standard_normal((200, 2))
    expected = model.fit(X).transform(X)
    np.testing.assert_array_equal(model.fit(X, X[:, 0]).transform(X), expected)
    np.testing.assert_array_equal(model.fit(as_blocks(X, X[:, 0])).transform(X), expected)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_blocks_are_transformed_as_arrays_are(rng, model):
    X = rng.standard_normal((500, 2))
    model.fit(X)
    np.testing.assert_allclose(model.transform(as_blocks(X, block_rows=77)), model.transform(X), rtol=1e-12)
    with pytest.raises(ValueError, match=f"X has 3 features, but {type(model).__name__} is expecting 2 features"):
        model.transform(as_blocks(np.ones((5, 3))))


def test_overflow_is_an_error_with_the_way_out(rng):
    X = (1e12 * rng.standard_normal((100, 2))).astype(np.float32)
    model = KernelPCA(features=TensorSketch(random_state=0), n_components=2)
    with pytest.raises(ValueError, match=r"KernelPCA: products of the features overflow. Scale the rows down"):
        model.fit(X)
