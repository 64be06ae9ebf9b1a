"""Sketches in ONNX are those of the maps."""

import pytest

from mercer import (
    Composed,
    Exponential,
    Gaussian,
    LinearFeatures,
    Polynomial,
    RandomMaclaurin,
    SplitSketch,
    TensorSketch,
)
from mercer.kernels import VovkPolynomial

MAPS = {
    "linear": LinearFeatures(),
    "linear sketch": LinearFeatures(n_components=7, random_state=0),
    "polynomial": TensorSketch(Polynomial(3, gamma=0.1, coef0=1.0), n_components=90, random_state=0),
    "odd width": TensorSketch(Polynomial(2), n_components=45, random_state=0),
    "degree 1": TensorSketch(Polynomial(1, coef0=0.5), n_components=45, random_state=0),
    "three sketches": TensorSketch(Polynomial(2, gamma=0.3), n_components=60, n_sketches=3, random_state=0),
    "exponential": TensorSketch(Exponential(gamma=0.05), n_components=300, random_state=0),
    "gaussian series": TensorSketch(Gaussian(gamma=0.02), n_components=300, random_state=0),
    "exact degree 2": TensorSketch(Gaussian(gamma=0.02), n_components=700, random_state=0),
    "series": TensorSketch(VovkPolynomial(4), n_components=200, random_state=0),
    "split": SplitSketch(Polynomial(3, gamma=0.1, coef0=1.0), n_components=400, random_state=0),
    "split without coef0": SplitSketch(Polynomial(4, gamma=0.1), n_components=100, random_state=0),
    "maclaurin": RandomMaclaurin(Polynomial(4, gamma=0.1, coef0=1.0), n_components=200, random_state=0),
    "maclaurin h01": RandomMaclaurin(Exponential(gamma=0.05), n_components=200, h01=True, random_state=0),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_features_are_those_of_the_map(run, close, cancer, name, dtype):
    X = cancer[0][:200]
    feature_map = MAPS[name].fit(X)
    close(run(feature_map, X, dtype)["features"], feature_map.transform(X), dtype)


def test_draws_of_another_map_are_refused_in_words(run, cancer):
    kernel = Composed(Exponential(gamma=0.1), Gaussian(gamma=0.1))
    feature_map = RandomMaclaurin(kernel, n_components=20, random_state=0).fit(cancer[0])
    with pytest.raises(ValueError, match=r"draws of another map. Use Nystroem"):
        run(feature_map, cancer[0])
