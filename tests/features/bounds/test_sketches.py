"""Bounds of sketches: the exact variance, what the paper prints, and Hoeffding over sketches."""

import numpy as np
import pytest

from mercer import Exponential, Polynomial, TensorSketch, components_for
from mercer.features.sketches.variances import PairMoments, power_sketch_variance
from mercer.testing import sample_rows


@pytest.mark.parametrize(("degree", "limit"), [(2, 6), (3, 14), (4, 30)])
def test_lemma_6_as_printed_fails(degree, limit):
    """At x = y = 1/sqrt(d) the printed bound on D Var is 2; the true one tends to 2^(p+1) - 2, re-drawn to be sure."""
    x = np.full((1, 400), 1 / 20.0)
    exact = power_sketch_variance(PairMoments.of(x, x), degree, 100_000)[0, 0] * 100_000
    assert exact == pytest.approx(limit, rel=0.05)
    D = 64
    estimates = [
        (TensorSketch(Polynomial(degree), n_components=D, random_state=seed).fit_transform(x) ** 2).sum()
        for seed in range(400)
    ]
    assert D * np.mean((np.array(estimates) - 1) ** 2) > 2 * 1.5  # the printed bound, and half as much again
    bound = components_for(Polynomial(degree), x, error=0.5, source="bound")
    right = components_for(Polynomial(degree), x, error=0.5)
    paper = components_for(Polynomial(degree), x, error=0.5, source="paper")
    assert paper.nature == "optimistic"
    assert paper.n_components < right.n_components <= bound.n_components


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 6])
def test_the_bound_on_the_variance_holds(rng, degree):
    X = np.vstack([rng.standard_normal((20, 7)), rng.standard_exponential((20, 7)), np.full((1, 7), 0.3)])
    pairs = PairMoments.of(X, X)
    for n_components in (1, 2, 3, 50):
        variance = power_sketch_variance(pairs, degree, n_components)
        assert np.all(variance <= (3**degree - 1) * pairs.N**degree / n_components * (1 + 1e-9))


def test_hoeffding_over_sketches():
    """t = 2 R^(4p) ln(2/delta) / eps^2, whatever the width; it is met with the least width there is."""
    X = sample_rows()
    X /= np.abs(X).sum(axis=1, keepdims=True)  # 1-norm 1: R = 1
    needed = components_for(Polynomial(2), X, error=0.05, confidence=0.999, kind="absolute", source="bound")
    lemma_9 = next(c for c in (needed, *needed.alternatives) if "Lemma 9" in c.inequality)
    assert lemma_9.n_sketches == lemma_9.n_components == int(np.ceil(2 * np.log(2 / 0.001) / 0.05**2))
    Z = TensorSketch(Polynomial(2), n_components=lemma_9.n_sketches, n_sketches=lemma_9.n_sketches, random_state=0)
    Z = Z.fit_transform(X)
    assert np.abs(Z @ Z.T - Polynomial(2)(X)).max() <= 0.05


def test_theorem_4_with_its_constants():
    X = np.array([[0.3, 0.2], [0.1, -0.4]])  # 1-norm 0.5, d = 2
    kernel, eps, delta, R, p = Exponential(gamma=1.0), 0.5, 0.1, 0.5, 2.0
    needed = components_for(kernel, X, error=eps, confidence=1 - delta, kind="uniform")
    f = slope = np.exp
    B = p * f(p * R**2)  # the masses 2^-(n+1) of all degrees sum to 1
    L = R * slope(R**2) + p**2 * np.sqrt(2) * R * slope(p * R**2)
    expected = 8 * B**2 / eps**2 * (np.log(2 / delta) + 4 * np.log(1 + 8 * R * L / eps))
    assert needed.n_components == pytest.approx(expected, rel=1e-3)
    assert "Theorem 4" in needed.inequality
