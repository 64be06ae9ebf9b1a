"""Random Maclaurin over composed kernels: fresh scalar draws, unbiased, with their variance."""

import numpy as np
import pytest

from mercer import (
    Columns,
    Composed,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    RandomMaclaurin,
    ScaledColumns,
    feature_map,
)
from mercer.features.sketches.scalar_draws import scalar_draws
from mercer.kernels import Kernel
from mercer.testing import assert_mean_close, check_feature_map, sample_rows

INNER = [
    Linear(),
    Polynomial(2, coef0=0.5),
    Linear() + 0.5 * Exponential(gamma=0.5),
    Linear() * Polynomial(2, coef0=1.0),
    Normalized(Polynomial(2, coef0=0.5)),
    Composed(Polynomial(2, coef0=0.3), 0.5 * Linear()),
    Gaussian(gamma=1.5),
    ScaledColumns(Laplacian(gamma=0.8), [1.0, 2.0, 0.5, 1.0, 0.0]) + Columns(Linear(), [0, 2]),
]


@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_columns_are_independent_scalar_draws(inner):
    """Mean k, second moment as claimed, and no correlation between the products of two columns."""
    X = sample_rows(4)
    K, upper = inner(X), np.triu_indices(4)
    products = []
    for seed in range(600):
        draws = scalar_draws(inner, X, 6, np.random.RandomState(seed))
        W = np.empty((4, 6))
        draws.writer(X)(slice(0, 4), W)
        products.append([np.outer(w, w)[upper] for w in W.T])
    products = np.array(products)
    assert_mean_close(products.mean(axis=1), K[upper])
    assert_mean_close((products**2).mean(axis=1), draws.second_moment(X, X)[upper])
    assert_mean_close(products[:, 0] * products[:, 1], K[upper] ** 2)


@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_maclaurin_over_a_composition(inner):
    kernel = Composed(Exponential(gamma=0.5), inner)
    check_feature_map(RandomMaclaurin(kernel, n_components=32), sklearn_checks=False)


def test_feature_map_finds_it():
    kernel = Composed(Polynomial(2, coef0=1.0), Linear() + Polynomial(2))
    chosen = feature_map(kernel, 50, random_state=0).fit(sample_rows())
    assert isinstance(chosen, RandomMaclaurin)
    assert chosen.kernel_ == kernel


def test_the_bandwidth_of_an_inner_kernel_is_found_in_fit():
    chosen = RandomMaclaurin(Composed(Exponential(gamma=1.0), Gaussian(gamma="scale")), random_state=0).fit(
        sample_rows()
    )
    assert chosen.kernel_ == Composed(Exponential(gamma=1.0), Gaussian(gamma="scale").resolve(sample_rows()))
    assert isinstance(chosen.kernel_.inner.gamma, float)


def test_truncation_is_bounded_by_the_inner_diagonal():
    X, kernel = sample_rows(), Composed(Exponential(gamma=1.0), Polynomial(2, coef0=0.5))
    cut = RandomMaclaurin(kernel, max_degree=2).fit(X)
    r = kernel.inner.diag(X).max()
    assert cut.truncation_error_ == pytest.approx(np.exp(r) - 1 - r - r**2 / 2)


class _NoMap(Kernel):
    def evaluate(self, X, Y):
        return np.ones((len(X), len(Y)))

    def evaluate_diag(self, X):
        return np.ones(len(X))


def test_what_has_no_unbiased_draw_is_refused():
    with pytest.raises(ValueError, match=r"no unbiased scalar draw is known for the inner kernel _NoMap\(\)"):
        RandomMaclaurin(Composed(Exponential(gamma=1.0), _NoMap())).fit(sample_rows())
    with pytest.raises(ValueError, match="h01=True needs an exact linear part"):
        RandomMaclaurin(Composed(Exponential(gamma=1.0), Linear()), h01=True).fit(sample_rows())
