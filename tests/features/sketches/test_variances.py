"""Closed forms of variances against re-drawn sketches and against each other."""

import numpy as np
import pytest

from mercer import Polynomial, TensorSketch
from mercer.features.sketches.variances import (
    PairMoments,
    maclaurin_variance,
    power_sketch_variance,
    power_sketch_variances,
    tensor_sketch_variance,
)
from mercer.testing import assert_mean_close, sample_rows


def test_moments_by_their_definitions():
    X, Y = sample_rows(3), sample_rows(4, seed=1)
    pairs = PairMoments.of(X, Y)
    np.testing.assert_allclose(pairs.t, X @ Y.T)
    np.testing.assert_allclose(pairs.N, np.outer((X**2).sum(axis=1), (Y**2).sum(axis=1)))
    np.testing.assert_allclose(pairs.s, X**2 @ (Y**2).T)
    affine, extended = (
        PairMoments.affine(X, Y, 0.7, 0.3),
        [np.c_[0.7**0.5 * A, np.full(len(A), 0.3**0.5)] for A in (X, Y)],
    )
    expected = PairMoments.of(*extended)
    for name in ("t", "N", "s"):
        np.testing.assert_allclose(getattr(affine, name), getattr(expected, name))


def test_a_power_has_equal_factors():
    pairs = PairMoments.of(sample_rows(3), sample_rows(3))
    series = list(power_sketch_variances(pairs, 3, 10))
    for degree in (1, 2, 3):
        expected = tensor_sketch_variance([pairs] * degree, 10)
        np.testing.assert_allclose(power_sketch_variance(pairs, degree, 10), expected, rtol=1e-12)
        np.testing.assert_allclose(series[degree - 1], expected, rtol=1e-12)


@pytest.mark.parametrize("n_components", [5, 6])
def test_the_closed_form_is_the_variance_of_draws(n_components):
    X = sample_rows(3) / 2
    K, found = Polynomial(2)(X), []
    for seed in range(2000):
        Z = TensorSketch(Polynomial(2), n_components=n_components, random_state=seed).fit_transform(X)
        found.append((Z @ Z.T - K) ** 2)
    expected = power_sketch_variance(PairMoments.of(X, X), 2, n_components)
    upper = np.triu_indices(3)
    assert_mean_close(np.array(found)[:, *upper], expected[upper], false_alarm=1e-6)


def test_one_degree_of_a_series_has_the_variance_of_its_power():
    pairs = PairMoments.of(sample_rows(3), sample_rows(3))
    coefficients, distribution = np.array([0.0, 0.0, 2.0]), np.array([0.0, 0.0, 1.0])
    found = maclaurin_variance(pairs.t, pairs.rademacher, coefficients, distribution, 4)
    np.testing.assert_allclose(found, 4 * (pairs.rademacher**2 - pairs.t**4) / 4, rtol=1e-12)
