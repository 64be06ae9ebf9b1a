"""Degree by degree: expansions equal their kernels, widths add up, Taylor sketches of series are right."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from mercer import (
    DotProduct,
    Exponential,
    Gaussian,
    Polynomial,
    Sigmoid,
    SplitSketch,
    TensorSketch,
    VovkInfinite,
    VovkPolynomial,
)
from mercer.features.expansions import (
    exponential_expansion,
    gaussian_expansion,
    series_expansion,
    split_expansion,
)
from mercer.features.strata import _proportional, smooth_pieces
from mercer.testing import assert_mean_close, sample_rows

COSH = DotProduct(np.cosh, [0.0 if n % 2 else 1 / math.factorial(n) for n in range(25)])


@pytest.mark.parametrize(
    ("kernel", "expand"),
    [
        (Gaussian(gamma=0.8), gaussian_expansion),
        (Exponential(gamma=0.8), exponential_expansion),
        (VovkPolynomial(5), lambda k, X: series_expansion("test", k, X.shape[1])),
        (Polynomial(4, gamma=0.7, coef0=0.5), split_expansion),
        (Polynomial(3), split_expansion),
    ],
    ids=lambda value: type(value).__name__,  # the text of a function holds its address
)
def test_an_expansion_sums_to_its_kernel(kernel, expand):
    X = sample_rows(10) + 0.2
    expansion = expand(kernel, X)
    V, G = expansion.rows(X)
    total = sum(np.outer(G[:, k], G[:, k]) * (V @ V.T) ** k for k in range(expansion.last_degree + 1))
    np.testing.assert_allclose(total, kernel(X), rtol=1e-9)
    a, H = expansion.sparse_rows(sparse.csr_array(X))
    np.testing.assert_allclose(H, G, rtol=1e-9)
    assert a.shape == (10,)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8), st.integers(0, 500))
def test_shares_are_whole_and_add_up(shares, total):
    widths = _proportional(np.array(shares), total)
    assert sum(widths) == total
    assert all(width >= (1 if total >= len(shares) else 0) for width in widths)


@given(st.integers(1, 5000))
def test_pieces_are_smooth_and_add_up(width):
    pieces = smooth_pieces(width)
    assert sum(pieces) == width
    for piece in pieces:
        for prime in (2, 3, 5):
            while piece % prime == 0:
                piece //= prime  # noqa: PLW2901
        assert piece == 1


@pytest.mark.parametrize(
    "sketch",
    [
        TensorSketch(Exponential(gamma=0.8), n_components=400),
        TensorSketch(Gaussian(gamma=0.8), n_components=400),
        TensorSketch(VovkPolynomial(4), n_components=60),
        TensorSketch(COSH, n_components=400),
    ],
    ids=repr,
)
def test_mean_and_variance_of_a_taylor_sketch(sketch):
    check_about_its_mean(sketch, sample_rows(6, 12) + 0.1)


@pytest.mark.parametrize(
    "split",
    [
        SplitSketch(Polynomial(2, coef0=1.0), n_components=20),
        SplitSketch(Polynomial(3, gamma=2.0, coef0=0.5), n_components=200),
        SplitSketch(Polynomial(4, coef0=0.5), n_components=40),
        SplitSketch(Polynomial(2), n_components=7),  # too few for the linear part: all but a^2 is sketched
    ],
    ids=repr,
)
def test_mean_and_variance_of_a_split_sketch(split):
    check_about_its_mean(split, sample_rows(6, 8) + 0.1)


def check_about_its_mean(feature_map, X, n_draws=400):
    """The mean over draws is the kernel less the degrees left out, and the variance about it is the one claimed."""
    fitted = clone(feature_map).fit(X)
    mean = fitted.kernel_(X) - fitted.strata_.lost(X, X)
    estimates = []
    for seed in range(n_draws):
        Z = clone(feature_map).set_params(random_state=seed).fit_transform(X)
        estimates.append(Z @ Z.T)
    upper = np.triu_indices(len(X))
    atol = 1e-12 * np.abs(mean).max()
    assert_mean_close(np.array(estimates)[:, *upper], mean[upper], atol=atol)
    assert_mean_close((np.array(estimates) - mean)[:, *upper] ** 2, fitted.variance(X)[upper], atol=atol**2)
    assert np.any(fitted.variance(X) > 0)


def test_a_taylor_sketch_beats_what_it_is_compared_with_on_digits():
    """Gaussian kernel at the median distance, D = 1024: at most .006, where Fourier features have .031."""
    X = normalize(load_digits().data)[:1000]
    distances = np.sqrt(np.maximum(2 - 2 * X @ X.T, 0))
    kernel = Gaussian(gamma=0.5 / np.median(distances[np.triu_indices(1000, 1)]) ** 2)
    Z = TensorSketch(kernel, n_components=1024, random_state=0).fit_transform(X)
    K = kernel(X)
    assert np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K) <= 0.006


def test_sparse_rows_give_the_features_of_dense_ones():
    X = sparse.random_array((40, 60), density=0.2, format="csr", rng=0)
    for kernel in (Gaussian(gamma=0.3), Exponential(gamma=0.5), VovkPolynomial(4)):
        for n_components in (10, 300):
            sketch = TensorSketch(kernel, n_components=n_components, random_state=0).fit(X.toarray() / 3)
            np.testing.assert_allclose(sketch.transform(X / 3), sketch.transform(X.toarray() / 3), atol=1e-12)


@pytest.mark.parametrize(
    ("sketch", "X", "message"),
    [
        (TensorSketch(Sigmoid()), None, r"a_3 = -0.333333 is negative"),
        (TensorSketch(VovkInfinite()), [[1.0, 1.0]], r"needs \|x\|\^2 < 1 on every row, and X reaches 2"),
        (TensorSketch(Gaussian(gamma=1.0), n_sketches=2), None, r"n_sketches must be 1 for Gaussian\(gamma=1.0\)"),
    ],
)
def test_bad_parameters_are_refused(sketch, X, message):
    with pytest.raises(ValueError, match=message):
        sketch.fit(sample_rows() if X is None else X)
