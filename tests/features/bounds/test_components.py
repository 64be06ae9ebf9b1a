"""How many features: the bounds hold on re-drawn maps, and the paper's formula is shown to be optimistic."""

import numpy as np
import pytest

from mercer import (
    Chi2,
    Exponential,
    Gaussian,
    Polynomial,
    RandomMaclaurin,
    TensorSketch,
    VovkInfinite,
    components_for,
)
from mercer.features.sketches.variances import PairMoments, power_sketch_variance
from mercer.testing import sample_rows

KERNELS = [(Polynomial(2), "tensor_sketch"), (Polynomial(3, coef0=0.5), "tensor_sketch")]
KERNELS += [(Polynomial(2, coef0=1.0), "maclaurin"), (Exponential(gamma=0.5), "maclaurin")]


def _misses(kernel, method, X, needed, target, n_draws=200):
    """Count, over draws, the misses of each pair, and return the most."""
    kinds = {"tensor_sketch": TensorSketch, "maclaurin": RandomMaclaurin}
    K = kernel(X)
    missed = np.zeros_like(K)
    for seed in range(n_draws):
        Z = kinds[method](kernel, n_components=int(needed), random_state=seed).fit_transform(X)
        missed += np.abs(Z @ Z.T - K) > target
    return missed.max() / n_draws


@pytest.mark.parametrize(("kernel", "method"), KERNELS, ids=repr)
@pytest.mark.parametrize("kind", ["relative", "absolute"])
def test_the_error_is_met_at_least_as_often_as_promised(kernel, method, kind):
    X = np.abs(sample_rows())
    needed = components_for(kernel, X, error=0.3, confidence=0.8, kind=kind, method=method)
    target = 0.3 * (np.abs(kernel(X)) if kind == "relative" else 1)
    assert needed.nature == "bound"
    assert _misses(kernel, method, X, needed, target) <= 0.2


@pytest.mark.parametrize(("kernel", "method"), KERNELS[:1] + KERNELS[2:3], ids=repr)
def test_the_number_is_the_least_that_chebyshev_gives(kernel, method):
    X = np.abs(sample_rows())
    needed = components_for(kernel, X, error=0.3, confidence=0.8, method=method)
    kinds = {"tensor_sketch": TensorSketch, "maclaurin": RandomMaclaurin}
    K = kernel(X)
    for n, holds in ((int(needed), True), (int(needed) - 1, False)):
        variance = kinds[method](kernel, n_components=n).fit(X).variance(X)
        assert np.all(variance <= 0.2 * (0.3 * K) ** 2) == holds


def test_more_is_asked_for_less_error_and_more_confidence():
    X = np.abs(sample_rows())
    few, many, more = (
        components_for(Polynomial(2), X, error=error, confidence=confidence).n_components
        for error, confidence in ((0.5, 0.9), (0.1, 0.9), (0.1, 0.99))
    )
    assert few < many < more


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


def test_where_no_number_will_do_it_says_so():
    """Outside the radius of convergence, and for relative errors of kernel values near 0."""
    with pytest.raises(ValueError, match=r"Theorem 4\) asks for more than 2\^62 features, or for no finite number"):
        components_for(VovkInfinite(), [[0.5, 0.4], [0.2, 0.6]], error=0.5, kind="uniform")
    far = np.array([[0.0] * 5, [8.0] * 5])
    with pytest.raises(ValueError, match=r"kind='relative', Chebyshev.* Take kind='absolute', a larger error"):
        components_for(Gaussian(gamma=1.0), far, error=0.1)
    assert np.isfinite(components_for(Gaussian(gamma=1.0), far, error=0.1, kind="absolute").n_components)
    alternatives = components_for(Polynomial(8), 50 * np.abs(sample_rows()), error=0.5, source="bound").alternatives
    assert all(np.isfinite(other.n_components) for other in alternatives)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"error": 0.0}, "error must be a finite number > 0, got 0.0"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1, got 1.0"),
        ({"kind": "worst"}, "kind must be one of 'relative', 'absolute', 'uniform', got 'worst'"),
        ({"source": "folklore"}, "source must be one of 'exact', 'bound', 'paper', got 'folklore'"),
        ({"X": np.eye(3)}, r"kind='relative' needs k\(x, y\) != 0, and sampled rows \d and \d give 0"),
        (
            {"kernel": 2 * Chi2() + Polynomial(2)},
            "no inequality is known for kind='relative' and Concatenate of Rescale of AdditiveFeatures, TensorSketch",
        ),
        (
            {"kernel": Gaussian(gamma=1.0), "kind": "uniform"},
            "ShiftInvariantFeatures. The methods 'fourier', 'maclaurin' and 'tensor_sketch' have one",
        ),
        ({"kernel": "rbf"}, "got the name 'rbf'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        components_for(**({"kernel": Polynomial(2), "X": np.abs(sample_rows()), "error": 0.5} | arguments))
