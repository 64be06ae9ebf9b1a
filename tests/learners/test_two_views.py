"""Covariances of two views against NumPy's, scores of dense and sparse features, and mean correlations."""

import numpy as np
import pytest
from scipy import sparse

from mercer import LinearFeatures
from mercer.data import as_blocks
from mercer.fitting import FeatureRows, Passes, Sample
from mercer.fitting.second_view import SecondView
from mercer.learners.two_views import TwoViews, scores_along


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_the_covariances_are_those_of_numpy(rng, make):
    X, Y, weight = rng.rand(200, 3) + 5, rng.rand(200, 2) - 3, rng.rand(200)
    maps = LinearFeatures(n_components=3).fit(X), LinearFeatures(n_components=2).fit(Y)
    view = SecondView("Test", draw=lambda sample: maps[1], size=1, seed=0, drawn=maps[1])
    blocks = as_blocks(make(X), make(Y), sample_weight=weight, block_rows=30)
    views = TwoViews.of(FeatureRows(maps[0], blocks, view, Passes("Test"), Sample(make(X[:9]), np.ones(9))))
    expected = np.cov(np.hstack([X, Y]).T, aweights=weight, ddof=0)
    found = np.block([[views.xx, views.xy], [views.xy.T, views.yy]])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(views.x_mean, np.average(X, axis=0, weights=weight))
    np.testing.assert_allclose(views.y_mean, np.average(Y, axis=0, weights=weight))
    assert views.is_finite


def test_scores_are_products_with_centred_features(rng):
    Z, directions = rng.rand(20, 4), rng.rand(4, 2)
    mean = Z.mean(axis=0)
    expected = (Z - mean) @ directions
    np.testing.assert_allclose(scores_along(Z, mean, directions), expected)
    np.testing.assert_allclose(scores_along(sparse.csr_array(Z), mean, directions), expected)
    assert scores_along(Z.astype(np.float32), mean, directions).dtype == np.float32
