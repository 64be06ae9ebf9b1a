"""Random Maclaurin: contract, moments, the distribution of degrees, H0/1, truncation, warnings."""

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Composed,
    DotProduct,
    Exponential,
    Gaussian,
    Linear,
    Polynomial,
    RandomMaclaurin,
    Sigmoid,
    VovkInfinite,
    VovkPolynomial,
)
from mercer.testing import assert_mean_close, check_feature_map, sample_rows


@parametrize_with_checks([RandomMaclaurin()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


COSH = DotProduct(np.cosh, [0.0 if n % 2 else 1 / math.factorial(n) for n in range(40)])


@pytest.mark.parametrize(
    "maclaurin",
    [
        RandomMaclaurin(n_components=32),
        RandomMaclaurin(Polynomial(3, gamma=0.5, coef0=1.0), n_components=32),
        RandomMaclaurin(Exponential(gamma=0.7), n_components=32),
        RandomMaclaurin(Exponential(gamma=0.7), n_components=32, p=3.0),
        RandomMaclaurin(VovkPolynomial(4), n_components=32),
        RandomMaclaurin(COSH, n_components=32),
        RandomMaclaurin(Polynomial(3, gamma=0.5, coef0=1.0), n_components=32, h01=True),
        RandomMaclaurin(Exponential(gamma=0.7), n_components=32, h01=True, p=1.5),
        RandomMaclaurin(COSH, n_components=32, h01=True),  # a constant to append, no linear part
        RandomMaclaurin(Polynomial(1, coef0=2.0), n_components=6, h01=True),  # nothing left to draw: exact
    ],
    ids=repr,
)
def test_mean_variance_and_rate(maclaurin):
    check_feature_map(maclaurin, sklearn_checks=False)


def test_vovk_infinite_inside_its_domain():
    check_feature_map(RandomMaclaurin(VovkInfinite(), n_components=64), 0.7 * sample_rows(), sklearn_checks=False)


def test_degrees_follow_the_normalised_law():
    """The frequencies of the degrees 0, 2, 4 of cosh over many draws are q_n ~ 2^-(n+1)."""
    draws = [RandomMaclaurin(COSH, n_components=50, random_state=seed).fit(sample_rows()) for seed in range(300)]
    assert draws[0].distribution_.sum() == pytest.approx(1.0)
    assert draws[0].distribution_[1::2].sum() == 0
    frequencies = [[(draw.degrees_ == n).mean() for n in (0, 2, 4)] for draw in draws]
    assert_mean_close(frequencies, np.array([1, 1 / 4, 1 / 16]) * 3 / 4, detect=0.1)


def test_the_draw_of_a_seed_never_changes():
    drawn = RandomMaclaurin(Exponential(gamma=1.0), n_components=10, random_state=0).fit(np.zeros((1, 2)))
    assert drawn.degrees_.tolist() == GOLDEN_DEGREES
    assert drawn.signs_.tolist() == GOLDEN_SIGNS
    assert (drawn.degrees_.dtype, drawn.signs_.dtype) == (np.int64, np.int8)


GOLDEN_DEGREES = [4, 3, 1, 1, 1, 1, 1, 0, 0, 0]
GOLDEN_SIGNS = [[-1, 1, -1, -1, 1, -1, -1, 1, 1, -1, 1, 1], [-1, -1, 1, -1, -1, -1, 1, 1, 1, 1, 1, -1]]


def test_truncation_error_is_the_tail_of_the_series_at_the_longest_row():
    X = sample_rows()
    r = (X**2).sum(axis=1).max()
    cut = RandomMaclaurin(Exponential(gamma=2.0), max_degree=3).fit(X)
    expected = np.exp(2 * r) - sum((2 * r) ** n / math.factorial(n) for n in range(4))
    assert cut.truncation_error_ == pytest.approx(expected, rel=1e-10)
    assert cut.degrees_.max() <= 3
    assert RandomMaclaurin(Polynomial(3)).fit(X).truncation_error_ == 0
    assert RandomMaclaurin(VovkInfinite(), max_degree=2).fit(X).truncation_error_ == pytest.approx(r**3 / (1 - r))


def test_a_truncated_map_is_within_its_truncation_error_on_average():
    X, kernel = sample_rows(), Exponential(gamma=2.0)
    draws = []
    for seed in range(400):
        cut = RandomMaclaurin(kernel, max_degree=2, n_components=64, random_state=seed)
        Z = cut.fit_transform(X)
        draws.append(Z @ Z.T)
    t = X @ X.T
    assert_mean_close(np.array(draws), 1 + 2 * t + 2 * t**2)
    assert np.abs(kernel(X) - (1 + 2 * t + 2 * t**2)).max() <= cut.truncation_error_ * (1 + 1e-12)


def test_h01_appends_the_constant_and_the_linear_part_with_gamma_inside():
    X = sample_rows()
    Z = RandomMaclaurin(Polynomial(2, gamma=0.5, coef0=2.0), n_components=10, h01=True).fit_transform(X)
    np.testing.assert_allclose(Z[:, 0], 2.0)
    np.testing.assert_allclose(Z[:, 1:6], np.sqrt(2.0) * X)
    assert Z.shape == (6, 10)


def test_h01_says_the_least_number_of_features():
    with pytest.raises(ValueError, match=r"counts the 6 exact features too and must be at least 7, got 6"):
        RandomMaclaurin(Polynomial(2, coef0=1.0), n_components=6, h01=True).fit(sample_rows())


def test_h01_on_a_homogeneous_kernel_says_that_it_appends_nothing():
    with pytest.warns(UserWarning, match="h01=True has nothing to append"):
        plain = RandomMaclaurin(Polynomial(2), h01=True, random_state=0).fit(sample_rows())
    expected = RandomMaclaurin(Polynomial(2), random_state=0).fit(sample_rows())
    np.testing.assert_array_equal(plain.transform(sample_rows()), expected.transform(sample_rows()))


def test_vovk_infinite_warns_where_its_variance_diverges_and_names_a_scale_that_does():
    X = np.full((3, 4), 0.45)  # |x|^2 = 0.81
    with pytest.warns(
        UserWarning, match=r"variance of VovkInfinite\(\) is infinite .* Multiply X by less than 0\.\d+"
    ) as said:
        RandomMaclaurin(VovkInfinite(), random_state=0).fit(X)
    scale = float(str(said[0].message).split("less than ")[1].split(",")[0])
    RandomMaclaurin(VovkInfinite()).fit(0.99 * scale * X)  # no warning: warnings are errors here


def test_a_composed_kernel_warns_by_the_moments_of_its_inner_draws_not_by_the_rows():
    """With W a draw of 0.6 Gaussian p E[W^4] = 2 * 1.5 * 0.36 = 1.08 on every row; of 0.05 Gaussian 0.0075."""
    short, long = 0.01 * sample_rows(20, 3), 3 * np.random.RandomState(0).randn(20, 3)
    with pytest.warns(
        UserWarning, match=r"reaches 1\.08 times .* Multiply the inner kernel by less than 0\.962"
    ) as said:
        RandomMaclaurin(Composed(VovkInfinite(), 0.6 * Gaussian(gamma=1.0)), random_state=0).fit(short)
    scale = float(str(said[0].message).split("less than ")[1].split(",")[0])
    RandomMaclaurin(Composed(VovkInfinite(), 0.6 * scale * Gaussian(gamma=1.0)), random_state=0).fit(short)
    calm = RandomMaclaurin(Composed(VovkInfinite(), 0.05 * Gaussian(gamma=1.0)), random_state=0).fit(long)
    assert calm.variance(long).max() < 0.1
    RandomMaclaurin(Composed(VovkInfinite(), 0.6 * Gaussian(gamma=1.0)), max_degree=9).fit(short)


def test_the_divergence_of_a_composed_kernel_is_that_of_its_worst_row():
    """Over Linear() the draws are those of the plain kernel: the same rows warn, wherever they stand."""
    X = np.vstack([np.full((150, 4), 0.01), np.full((1, 4), 0.45), np.full((150, 4), 0.01)])
    with pytest.warns(UserWarning, match="is infinite on these rows"):
        RandomMaclaurin(Composed(VovkInfinite(), Linear()), random_state=0).fit(X)
    RandomMaclaurin(Composed(VovkInfinite(), Linear()), random_state=0).fit(X[:150])


@pytest.mark.parametrize(
    ("maclaurin", "X", "message"),
    [
        (
            RandomMaclaurin(Sigmoid(gamma=0.5)),
            None,
            r"a_3 = -0.0416667 is negative \(Kar and Karnick, 2012, Theorem 2\)",
        ),
        (RandomMaclaurin(Sigmoid(coef0=-1.0)), None, r"a_0 = -0.761594 is negative"),
        (RandomMaclaurin(Gaussian(gamma=1.0)), None, r"kernel must be a dot-product kernel f\(<x, y>\)"),
        (RandomMaclaurin(p=1.0), None, r"p must be a finite number > 1, got 1.0"),
        (RandomMaclaurin(max_degree=-1), None, r"max_degree must be an integer >= 0, got -1"),
        (RandomMaclaurin(max_degree=1), None, r"max_degree=1 leaves no degree of Polynomial\(2\)"),
        (RandomMaclaurin(VovkInfinite()), [[1.0, 1.0]], r"needs \|x\|\^2 < 1 on every row, and X reaches 2"),
    ],
)
def test_bad_parameters_are_refused(maclaurin, X, message):
    with pytest.raises(ValueError, match=message):
        maclaurin.fit(sample_rows() if X is None else X)


def test_a_matrix_of_signs_beyond_memory_is_refused_with_its_size():
    X = sparse.csr_array((np.ones(1), ([0], [7])), shape=(1, 10_000_000))
    with pytest.raises(MemoryError, match=r"n_components=10000 needs [\d,.]+ GiB for 20000 sign vectors of 10000000"):
        RandomMaclaurin(n_components=10_000).fit(X)


def test_a_series_given_as_a_function_does_not_end():
    endless = DotProduct(np.cosh, lambda n: 0.0 if n % 2 else 1 / math.factorial(n))
    listed = RandomMaclaurin(COSH, random_state=0, max_degree=38).fit(sample_rows())
    np.testing.assert_array_equal(
        RandomMaclaurin(endless, random_state=0, max_degree=38).fit_transform(sample_rows()),
        listed.transform(sample_rows()),
    )
    assert len(RandomMaclaurin(endless).fit(sample_rows()).distribution_) == 61


def test_linear_kernel():
    check_feature_map(RandomMaclaurin(Linear(), n_components=16), sklearn_checks=False)
