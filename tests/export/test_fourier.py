"""Cosines and sines in ONNX are those of the maps, whatever makes the frequencies."""

import numpy as np
import pytest

from mercer import Cauchy, Fastfood, FourierFeatures, Gaussian, Laplacian, OrthogonalFeatures, QuasiRandomFeatures
from mercer.features import ExponentialChi2Features, ShiftInvariantFeatures

MAPS = {
    "fourier": FourierFeatures(Gaussian(gamma=0.1), n_components=101, random_state=0),
    "offsets": FourierFeatures(Gaussian(gamma=0.1), n_components=64, pairs=False, random_state=0),
    "low order": FourierFeatures(Gaussian(gamma=0.5), n_components=64, order=2.0, random_state=0),
    "orthogonal": OrthogonalFeatures(Cauchy(length_scale=3.0), n_components=150, structured=False, random_state=0),
    "structured": OrthogonalFeatures(Gaussian(gamma=0.05), n_components=301, structured=True, random_state=0),
    "fastfood": Fastfood(Gaussian(gamma=0.05), n_components=301, random_state=0),
    "quasi-random": QuasiRandomFeatures(Gaussian(gamma=0.05), n_components=65, random_state=0),
    "chosen": ShiftInvariantFeatures(Gaussian(gamma=0.05), n_components=100, random_state=0),
    "chi-squared": ExponentialChi2Features(n_components=80, random_state=0),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore:.*structured=True is biased")
def test_features_are_those_of_the_map(run, close, digits, name, dtype):
    X = digits[0][:200, :50]  # 50 columns: transforms pad to 64
    feature_map = MAPS[name].fit(X)
    close(run(feature_map, X, dtype)["features"], feature_map.transform(X), dtype)


def test_heavy_tails_cost_the_digits_that_float32_phases_lose(run, digits):
    """Of t turns float32 knows the fraction to about 4e-7 t, in mercer too: the largest frequencies bound the error."""
    X = digits[0][:200]
    feature_map = FourierFeatures(Laplacian(gamma=0.1), n_components=64, random_state=0).fit(X)
    turns = np.abs(X @ feature_map.frequencies_).max(axis=0) / (2 * np.pi)
    errors = np.abs(run(feature_map, X)["features"] - feature_map.transform(X)).max(axis=0)
    assert np.all(errors < 1e-6 + (2 / 64) ** 0.5 * 2 * np.pi * 1e-6 * np.tile(turns, 2))
    exact = run(feature_map, X, "float64")["features"]
    np.testing.assert_allclose(exact, feature_map.transform(X), atol=1e-9)


def test_phases_of_many_turns_keep_their_digits(run):
    X = np.linspace(0, 2000, 41)[:, None]
    feature_map = FourierFeatures(Gaussian(gamma=0.5), n_components=20, random_state=0).fit(X)
    found = run(feature_map, X, "float64")["features"]
    np.testing.assert_allclose(found, feature_map.transform(X), atol=1e-10)
