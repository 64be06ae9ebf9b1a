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
