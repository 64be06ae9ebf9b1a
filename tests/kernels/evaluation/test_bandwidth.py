"""Bandwidths from data: scikit-learn's scale, the median heuristic, weights, and rows out of range."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from mercer import Cauchy, Gaussian, Laplacian, Linear, Matern, Polynomial, ScaledColumns
from mercer.kernels.evaluation.bandwidth import inverse_square


def test_scale_is_that_of_scikit_learn(rng):
    X = rng.standard_normal((30, 4)) * 3 + 1
    expected = SVC(gamma="scale").fit(X, np.arange(30) % 2)._gamma
    assert Gaussian().resolve(X).gamma == pytest.approx(expected, rel=1e-12)
    assert Matern(1.5).resolve(X).length_scale == pytest.approx((2 * expected) ** -0.5, rel=1e-12)
    assert Laplacian().resolve(X).gamma == pytest.approx(1 / (4 * X.std()), rel=1e-12)
    assert Gaussian().resolve(np.ones((3, 2))).gamma == 1.0


def test_the_median_heuristic(rng):
    X = rng.standard_normal((40, 3))
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)[np.triu_indices(40, 1)]
    middle = np.sort(distances)[(len(distances) - 1) // 2]
    assert Matern(0.5, length_scale="median").resolve(X).length_scale == pytest.approx(middle)
    assert Gaussian(gamma="median").resolve(X).gamma == pytest.approx(1 / (2 * middle**2))
    absolute = np.abs(X[:, np.newaxis] - X).sum(axis=2)[np.triu_indices(40, 1)]
    middle = np.sort(absolute)[(len(absolute) - 1) // 2]
    assert Laplacian(gamma="median").resolve(X).gamma == pytest.approx(1 / middle)
    assert Gaussian(gamma="median").resolve(np.ones((3, 2))).gamma == 0.5
    large = rng.standard_normal((5000, 3))
    assert Gaussian(gamma="median").resolve(large) == Gaussian(gamma="median").resolve(large)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_a_weight_counts_as_so_many_rows(rng, rule):
    X, weights = rng.standard_normal((12, 3)), rng.randint(4, size=12)
    repeated = np.repeat(X, weights, axis=0)
    for kernel in (Gaussian(gamma=rule), Laplacian(gamma=rule), Cauchy(length_scale=rule)):
        weighted = kernel.resolve(X, sample_weight=weights)
        assert weighted.bandwidth == pytest.approx(kernel.resolve(repeated).bandwidth, rel=1e-12)
    with pytest.raises(ValueError, match="sample_weight must hold one number >= 0 for each of the 12 rows"):
        Gaussian(gamma=rule).resolve(X, sample_weight=-np.ones(12))


def test_expressions_resolve_all_their_parts(rng):
    X = rng.standard_normal((10, 2))
    gamma = Gaussian().resolve(X).gamma
    expression = 2.0 * Gaussian() + Linear() * Matern(1.5, length_scale=1.0)
    assert expression.resolve(X) == 2.0 * Gaussian(gamma=gamma) + Linear() * Matern(1.5, length_scale=1.0)
    scaled = ScaledColumns(Gaussian(), [2.0, 2.0]).resolve(X)
    assert scaled.kernel.gamma == pytest.approx(gamma / 4)
    settled = Polynomial(2) + Gaussian(gamma=1.0)
    assert settled.resolve(X) is settled


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_csr_rows_have_the_bandwidth_of_dense_ones(rule, rng):
    X = rng.standard_normal((30, 4)) * (rng.random_sample((30, 4)) < 0.3)
    for kernel in (Gaussian(gamma=rule), Laplacian(gamma=rule), Matern(1.5, length_scale=rule)):
        found = kernel.resolve(sparse.csr_array(X)).bandwidth
        assert found == pytest.approx(kernel.resolve(X).bandwidth, rel=1e-12)


@pytest.mark.parametrize(("size", "fault"), [(1e200, "large"), (1e-200, "small")])
def test_rows_whose_squares_leave_the_range_are_refused(size, fault, rng):
    X = size * rng.standard_normal((10, 2))
    for rule in ("scale", "median"):
        with pytest.raises(ValueError, match=rf"Gaussian: gamma='{rule}' cannot be taken from .* are too {fault}"):
            Gaussian(gamma=rule).resolve(X)


def test_the_inverse_square_ends_in_0_and_infinity():
    assert [inverse_square(scale) for scale in (2.0, 1e-200, 1e200)] == [0.25, np.inf, 0.0]
