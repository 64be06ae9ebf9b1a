"""Additive maps, categories and kitchen sinks."""

import numpy as np
import pytest

from mercer import (
    AdditiveFeatures,
    CategoryFeatures,
    Chi2,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    KitchenSinks,
    SameCategory,
)

MAPS = {
    "chi2": AdditiveFeatures(Chi2(), n_components=500),
    "intersection": AdditiveFeatures(Intersection(), n_components=500),
    "jensen-shannon": AdditiveFeatures(JensenShannon(), n_components=500),
    "hellinger": AdditiveFeatures(Hellinger()),
    "additive sketch": AdditiveFeatures(Chi2(), n_components=20, random_state=0),
    "cosine": KitchenSinks("cosine", Gaussian(gamma=0.1), n_components=50, random_state=0),
    "sigmoid": KitchenSinks("sigmoid", n_components=50, random_state=0),
    "relu": KitchenSinks("relu", n_components=50, random_state=0),
    "squared relu": KitchenSinks("squared_relu", n_components=50, random_state=0),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_features_are_those_of_the_map(run, close, digits, name, dtype):
    X = digits[0][:200]
    feature_map = MAPS[name].fit(X)
    close(run(feature_map, X, dtype)["features"], feature_map.transform(X), dtype)


def test_steps_differ_only_where_a_projection_is_0_to_rounding(run, digits):
    X = digits[0][:200]
    feature_map = KitchenSinks("step", n_components=50, random_state=0).fit(X)
    near = np.abs(X @ feature_map.weights_ + feature_map.offsets_) < 1e-5
    found, expected = run(feature_map, X)["features"], feature_map.transform(X)
    np.testing.assert_allclose(found[~near], expected[~near], atol=1e-6)


@pytest.mark.parametrize(("offset", "n_components"), [(0.0, 10), (0.5, 10), (0.5, 3), (0.5, 1)])
def test_categories_have_their_features_and_others_none(run, offset, n_components):
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 4.0], [5.0, 6.0]])
    feature_map = CategoryFeatures(SameCategory(offset=offset), n_components=n_components, random_state=0).fit(X[:3])
    np.testing.assert_allclose(run(feature_map, X)["features"], feature_map.transform(X), atol=1e-7)


def test_a_function_of_ones_own_is_refused_in_words(run, digits):
    feature_map = KitchenSinks(np.tanh, n_components=5, random_state=0).fit(digits[0])
    with pytest.raises(ValueError, match=r"own function .* cannot be written as ONNX. Take one of"):
        run(feature_map, digits[0])
