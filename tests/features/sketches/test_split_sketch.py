"""The split sketch: contract, moments, the error it promises on digits, sparse rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import Exponential, Polynomial, SplitSketch, TensorSketch
from mercer.testing import check_feature_map, sample_rows


@parametrize_with_checks([SplitSketch()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    return normalize(load_digits().data)[:1000]


def test_the_kit():
    check_feature_map(
        SplitSketch(Polynomial(2, coef0=1.0), n_components=20),
        sample_rows(6, 8) + 0.1,
        sklearn_checks=False,
        data_dependent=True,
    )


@pytest.mark.parametrize(("degree", "most"), [(2, 0.002), (3, 0.006), (4, 0.012)])
def test_the_error_on_digits(digits, degree, most):
    """At D = 1024 the relative Frobenius error is at most what it promises, 10 times below Tensor Sketch's."""
    kernel = Polynomial(degree, coef0=1.0)
    K = kernel(digits)

    def error(kind, seed):
        Z = kind(kernel, n_components=1024, random_state=seed).fit_transform(digits)
        return np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)

    split = np.mean([error(SplitSketch, seed) for seed in range(3)])
    assert split <= most
    assert 10 * split <= np.mean([error(TensorSketch, seed) for seed in range(3)])


def test_a_degree_is_dropped_only_where_it_costs_more_than_it_carries(digits):
    split = SplitSketch(Polynomial(10, coef0=1.0), n_components=256, random_state=0).fit(digits)
    assert split.exact_degrees_.tolist() == [0, 1]
    assert 10 in split.dropped_degrees_
    X = digits[:200]
    V, G = split.strata_.expansion.rows(X)
    for degree in split.dropped_degrees_:
        weight = np.outer(G[:, degree], G[:, degree])
        signal = np.mean((weight * (V @ V.T) ** degree) ** 2)
        alone = TensorSketch(Polynomial(int(degree)), n_components=190).fit(V).variance(V)
        assert signal < np.mean(weight**2 * alone) * 10  # the sample of the plan was another one: a factor to spare


def test_exact_where_all_monomials_fit():
    X = sample_rows(30, 4)
    split = SplitSketch(Polynomial(2, coef0=1.0), n_components=40, random_state=0)
    Z = split.fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, Polynomial(2, coef0=1.0)(X), rtol=1e-12)
    assert Z.shape == (30, 1 + 5 + 15)


@pytest.mark.parametrize("n_components", [10, 200])
def test_sparse_rows_give_the_features_of_dense_ones(rng, n_components):
    X = sparse.random_array((40, 60), density=0.2, format="csr", rng=0)
    split = SplitSketch(Polynomial(3, coef0=0.5), n_components=n_components, random_state=0).fit(X.toarray())
    np.testing.assert_allclose(split.transform(X), split.transform(X.toarray()), atol=1e-12)


def test_the_direction_is_the_top_singular_vector(digits):
    split = SplitSketch(Polynomial(2, coef0=1.0), random_state=0).fit(digits)
    rows = np.column_stack([digits, np.ones(1000)])
    top = np.linalg.svd(rows, full_matrices=False)[2][0]
    assert abs(split.direction_ @ top) == pytest.approx(1.0, abs=1e-10)


def test_rows_of_zeros_do_not_break_it():
    Z = SplitSketch(Polynomial(2), n_components=10, random_state=0).fit_transform(np.zeros((5, 3)))
    np.testing.assert_array_equal(Z @ Z.T, np.zeros((5, 5)))


def test_another_kernel_is_refused():
    with pytest.raises(ValueError, match=r"SplitSketch: kernel must be a Polynomial, got Exponential\(gamma=1.0\)"):
        SplitSketch(Exponential(gamma=1.0)).fit(sample_rows())
