"""Degree by degree: expansions equal their kernels, widths add up, Taylor sketches of series are right."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
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
from mercer.features.sketches.expansions import (
    exponential_expansion,
    gaussian_expansion,
    split_expansion,
)
from mercer.features.sketches.strata import _proportional, smooth_pieces
from mercer.features.sketches.variances import PairMoments
from mercer.testing import assert_mean_close, check_feature_map, sample_rows

COSH = DotProduct(np.cosh, [0.0 if n % 2 else 1 / math.factorial(n) for n in range(25)])


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


def check_about_its_mean(feature_map, X, n_draws=200):
    """The mean over draws is the kernel less the degrees left out, and the mean squared error is the one claimed."""
    rows = np.vstack([X, -0.5 * X[:2, ::-1]])  # rows of fit, and others
    fitted = clone(feature_map).fit(X)
    estimates = []
    for seed in range(n_draws):
        Z = clone(feature_map).set_params(random_state=seed).fit(X).transform(rows)
        estimates.append(Z @ Z.T)
    K, upper = fitted.kernel_(rows), np.triu_indices(len(rows))
    atol = 1e-12 * np.abs(K).max()
    assert_mean_close(np.array(estimates)[:, *upper], fitted.strata_.mean(rows, rows)[upper], atol=atol)
    assert_mean_close((np.array(estimates) - K)[:, *upper] ** 2, fitted.variance(rows)[upper], atol=atol**2)
    assert np.any(fitted.variance(rows) > 0)


@pytest.mark.parametrize(
    "sketch",
    [
        TensorSketch(Gaussian(gamma=2.0), n_components=30),
        TensorSketch(VovkPolynomial(4), n_components=12),
        SplitSketch(Polynomial(4, coef0=0.5), n_components=12),
    ],
    ids=repr,
)
def test_the_kit_sees_the_error_that_a_biased_map_claims(sketch):
    others = {"n_sketches": []} if isinstance(sketch, TensorSketch) else {}  # a series has no other number
    check_feature_map(sketch, n_draws=100, sklearn_checks=False, unbiased=False, data_dependent=True, others=others)


def _squared_errors(fitted, rows):
    Z = fitted.transform(rows)
    return (Z @ Z.T - fitted.kernel_(rows)) ** 2


@pytest.mark.parametrize(
    ("kernel", "x", "lost"),
    [
        (VovkInfinite(), np.full((40, 1), 0.97**0.5), 0.97**31 / 0.03),  # of 33.3
        (Gaussian(gamma=1.0), np.linspace(-5, 5, 41)[:, None], stats.poisson.sf(30, 50)),  # of 1
        (Exponential(gamma=1.0), np.linspace(0, 8, 9)[:, None], np.exp(64) * stats.poisson.sf(30, 16)),
    ],
    ids=["Vovk", "Gaussian", "exponential"],
)
def test_degrees_beyond_the_last_one_are_told_and_counted(kernel, x, lost):
    """One column: all degrees are exact, and what is left of the error is the tail of the series."""
    sketch = TensorSketch(kernel, n_components=200, random_state=0).fit(x)
    assert sketch.truncated_at_ == 30
    assert sketch.dropped_degrees_.tolist() == []
    assert sketch.truncation_error_ == pytest.approx(lost, rel=1e-6)
    np.testing.assert_allclose(sketch.variance(x), _squared_errors(sketch, x), rtol=1e-6, atol=1e-12 * lost**2)
    assert sketch.variance(x).max() == pytest.approx(lost**2, rel=1e-6)
    sparse_fit = TensorSketch(kernel, n_components=200, random_state=0).fit(sparse.csr_array(x))
    assert sparse_fit.truncation_error_ == pytest.approx(lost, rel=1e-6)


def test_a_series_that_ends_is_not_cut():
    sketch = TensorSketch(VovkPolynomial(4), n_components=60).fit(sample_rows())
    assert sketch.truncated_at_ is None
    assert sketch.truncation_error_ == 0


def test_dropped_degrees_are_counted():
    """With degrees 0 to 2 exact and all others dropped nothing is random, and the squared bias is all of the error."""
    X = np.random.RandomState(0).randn(200, 5) / 2
    sketch = TensorSketch(Gaussian(gamma=0.3), n_components=60, random_state=0).fit(X)
    assert sketch.exact_degrees_.tolist() == [0, 1, 2]
    assert sketch.dropped_degrees_.tolist() == list(range(3, 31))
    np.testing.assert_allclose(sketch.variance(X), _squared_errors(sketch, X), atol=1e-14)
    assert sketch.variance(X).max() > 0.1


SERIES = [
    TensorSketch(Gaussian(gamma=0.1), n_components=200),
    TensorSketch(Exponential(gamma=0.1), n_components=200),
    TensorSketch(VovkInfinite(), n_components=50),
    TensorSketch(COSH, n_components=50),
    SplitSketch(Polynomial(2), n_components=50),
    SplitSketch(Polynomial(5, coef0=1.0), n_components=50),
    SplitSketch(Polynomial(4), n_components=30),
]


@pytest.mark.parametrize("sketch", SERIES, ids=repr)
@pytest.mark.parametrize("kind", ["one row", "copies of a row", "zeros", "parallel rows", "a column of zeros"])
def test_every_degree_is_kept_or_listed(sketch, kind):
    """Also where the rows of ``fit`` say nothing of the degrees; and rows that ``fit`` did not see are told apart."""
    one = np.array([[0.3, -0.2, 0.1, 0.5]])
    X = {
        "one row": one,
        "copies of a row": np.repeat(one, 7, axis=0),
        "zeros": np.zeros((5, 4)),
        "parallel rows": np.outer([0.1, 0.5, 1.0, -1.0], one),
        "a column of zeros": sample_rows(9, 4) * [1, 0, 1, 1],
    }[kind]
    fitted = clone(sketch).set_params(random_state=0).fit(X)
    told = [*fitted.exact_degrees_, *fitted.allocation_, *fitted.dropped_degrees_]
    assert sorted(told) == fitted.strata_.expansion.degrees
    assert max(*fitted.exact_degrees_, *fitted.allocation_, 0) >= 1
    rows = sample_rows(8, 4)
    Z = fitted.transform(rows)
    assert np.linalg.matrix_rank(Z) > 4  # more than the degrees 0 and 1 could give
    assert fitted.variance(rows).mean() < np.mean(fitted.kernel_(rows) ** 2)  # better than no feature at all


def test_coefficients_of_zero_are_no_degrees():
    sketch = TensorSketch(COSH, n_components=20).fit(sample_rows(6, 12))
    told = [*sketch.exact_degrees_, *sketch.allocation_, *sketch.dropped_degrees_]
    assert sorted(told) == list(range(0, 25, 2))


def test_a_map_fitted_on_one_row_errs_as_it_claims_elsewhere():
    """As with the first block of a stream. False alarm 1e-6."""
    X = 0.5 * np.random.RandomState(0).randn(6, 5)
    sketch = TensorSketch(Gaussian(gamma=0.3), n_components=100)
    # The shares are planned on made-up rows, which are drawn: over the draws the claims vary a little too.
    draws = [clone(sketch).set_params(random_state=seed).fit(X[:1]) for seed in range(150)]
    errors, claims = [_squared_errors(draw, X) for draw in draws], [draw.variance(X) for draw in draws]
    size = np.mean(claims, axis=0)
    assert_mean_close(np.subtract(errors, claims) + size, size, detect=1.5, atol=1e-14)


def test_too_few_features_for_any_bargain_still_sketch_the_degree_that_carries_most():
    X = np.random.RandomState(0).randn(200, 300)
    sketch = TensorSketch(Gaussian(gamma="scale"), n_components=8, random_state=0).fit(X)
    assert sketch.exact_degrees_.tolist() == [0]
    assert sketch.allocation_ == {1: 7}
    assert sketch.dropped_degrees_.tolist() == list(range(2, 31))


def test_rows_too_far_for_floats_drop_degrees_and_say_so():
    X = 1e8 * np.random.RandomState(0).randn(20, 3)
    sketch = TensorSketch(Exponential(gamma=1e-20), n_components=50, random_state=0).fit(X)
    assert np.isfinite(sketch.transform(X)).all()
    far = TensorSketch(Gaussian(gamma=1.0), n_components=50, random_state=0).fit(X)
    assert far.truncation_error_ == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("sketch", "X"),
    [
        (TensorSketch(VovkPolynomial(3), n_components=1), sample_rows()),
        (TensorSketch(Gaussian(gamma=1.0), n_components=1), sample_rows()[:1]),
        (SplitSketch(Polynomial(2, coef0=1.0), n_components=1), np.zeros((5, 3))),
    ],
    ids=["series", "one row", "zeros"],
)
def test_one_feature_is_no_constant(sketch, X):
    """Where degree 0 is the same for all rows another degree is sketched in its place, and degree 0 is listed."""
    fitted = sketch.set_params(random_state=0).fit(X)
    assert fitted.exact_degrees_.tolist() == []
    assert list(fitted.allocation_.values()) == [1]
    assert fitted.dropped_degrees_[0] == 0
    assert np.ptp(fitted.transform(sample_rows(6, X.shape[1]))) > 0


def test_one_feature_is_degree_0_where_that_varies_or_is_all_there_is():
    X = sample_rows()
    assert SplitSketch(Polynomial(2), n_components=1).fit(X).exact_degrees_.tolist() == [0]
    assert TensorSketch(Gaussian(gamma=2.0), n_components=1).fit(X).exact_degrees_.tolist() == [0]
    constant = TensorSketch(VovkPolynomial(1), n_components=1).fit(X)
    assert constant.exact_degrees_.tolist() == [0]
    assert constant.variance(X).max() == 0


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


@pytest.mark.parametrize(
    ("kernel", "expand"),
    [
        (Gaussian(gamma=0.3), gaussian_expansion),
        (Exponential(gamma=0.3), exponential_expansion),
        (Polynomial(3, gamma=0.5, coef0=0.7), split_expansion),
        (Polynomial(3), split_expansion),
    ],
    ids=lambda value: type(value).__name__,
)
def test_moments_of_a_sample_are_those_of_its_rows_made_dense(kernel, expand):
    """Over several parts of the columns, some of them without an entry in the sample."""
    X = sparse.random_array((40, 5000), density=0.02, format="csr", rng=np.random.default_rng(0))
    expansion = expand(kernel, X)
    V, G = expansion.rows(X[:20].toarray())
    expected = PairMoments.of(V, V)
    for sample in (X[:20], X[:20].toarray()):
        pairs, weights = expansion.moments(sample)
        for name in ("t", "N", "s"):
            np.testing.assert_allclose(getattr(pairs, name), getattr(expected, name), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(weights, G, rtol=1e-9)
