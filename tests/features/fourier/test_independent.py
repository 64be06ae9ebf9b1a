"""Random Fourier features: unbiased with their variance, for every shift-invariant kernel."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Cauchy,
    Columns,
    ExponentialPower,
    FourierFeatures,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    RationalQuadratic,
    ScaledColumns,
    components_for,
)
from mercer.features.bounds.fourier import rahimi_recht_components
from mercer.kernels import LowOrder
from mercer.testing import assert_mean_close, check_feature_map, sample_rows

X = 2 * sample_rows(5)


@parametrize_with_checks([FourierFeatures(), FourierFeatures(pairs=False)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "feature_map",
    [
        FourierFeatures(Gaussian(gamma=0.7), n_components=10),
        FourierFeatures(Gaussian(gamma=0.7), n_components=11),
        FourierFeatures(Gaussian(gamma=0.7), n_components=10, pairs=False),
        FourierFeatures(Laplacian(gamma=0.6), n_components=12),
        FourierFeatures(
            Matern(0.5, length_scale=1.0) * ScaledColumns(Cauchy(length_scale=2.0), [1, 0, 2, 1, 1]), n_components=9
        ),
        FourierFeatures(Gaussian(gamma=0.7), n_components=10, order=2),
        FourierFeatures(ScaledColumns(Laplacian(gamma=0.6), [1, 0, 2, 1, 1]), n_components=11, order=1.5),
    ],
    ids=repr,
)
def test_the_laws(feature_map):
    check_feature_map(feature_map, X, sklearn_checks=False)


@pytest.mark.parametrize(
    "kernel", [Matern(0.1, length_scale=1.0), ExponentialPower(0.3, length_scale=1.0), RationalQuadratic(0.4)], ids=repr
)
def test_rough_kernels_are_unbiased_in_float32_too(kernel):
    rows = X.astype(np.float32)
    maps = [FourierFeatures(kernel, n_components=200, random_state=seed).fit(rows) for seed in range(200)]
    upper = np.triu_indices(5, 1)
    estimates = [(Z @ Z.T)[upper] for Z in (m.transform(rows).astype(np.float64) for m in maps)]
    assert_mean_close(estimates, maps[0].kernel_(X)[upper], detect=0.2)


@pytest.mark.parametrize("order", [1.0, 2.5, 9.0])
def test_an_order_is_that_of_the_kernel_approximated(order):
    """The mean of the map is the kernel of low order, to a false alarm in 1e-6 runs; the laws check the variance."""
    kernel = Gaussian(gamma=0.5)
    maps = [FourierFeatures(kernel, n_components=100, order=order, random_state=seed).fit(X) for seed in range(300)]
    assert maps[0].kernel_ == LowOrder(kernel, order=order)
    upper = np.triu_indices(5, 1)
    assert_mean_close([(Z @ Z.T)[upper] for Z in (m.transform(X) for m in maps)], maps[0].kernel_(X)[upper], detect=0.1)
    share = np.mean([np.mean(m.frequencies_ != 0) for m in maps])
    assert abs(share - min(1.0, order / 5)) < 0.01  # of 75,000 entries: five standard errors are below 0.01


def test_an_order_reaches_into_products_and_is_checked():
    fitted = FourierFeatures(Gaussian(gamma=1.0) * ScaledColumns(Laplacian(gamma=1.0), [1] * 5), order=2).fit(X)
    low = LowOrder(Gaussian(gamma=1.0)) * ScaledColumns(LowOrder(Laplacian(gamma=1.0)), [1] * 5)
    assert fitted.kernel_ == low
    with pytest.raises(ValueError, match="FourierFeatures: order must be a finite number > 0, got -1"):
        FourierFeatures(order=-1).fit(X)


def test_one_feature_and_many():
    for n_components in (1, 2, 3, 257):
        for pairs in (True, False):
            Z = FourierFeatures(
                Gaussian(gamma=1.0), n_components=n_components, pairs=pairs, random_state=0
            ).fit_transform(X)
            assert Z.shape == (5, n_components)
            assert np.abs(Z).max() <= (2 / n_components) ** 0.5 * (1 + 1e-12)


def test_pairs_are_cosines_then_sines():
    fitted = FourierFeatures(Gaussian(gamma=1.0), n_components=9, random_state=0).fit(X)
    phases = X @ fitted.frequencies_
    expected = np.hstack([np.cos(phases[:, :4]), np.sin(phases[:, :4]), np.cos(phases[:, 4:] + fitted.offsets_)])
    np.testing.assert_allclose(fitted.transform(X), np.sqrt(2 / 9) * expected, atol=1e-14)


def test_a_scaled_kernel_is_scaled_data():
    weights = [1.0, 2.0, 0.5, 0.0, 3.0]
    inner = FourierFeatures(Gaussian(gamma=0.7), n_components=20, random_state=0)
    wrapped = FourierFeatures(ScaledColumns(Gaussian(gamma=0.7), weights), n_components=20, random_state=0)
    np.testing.assert_allclose(wrapped.fit_transform(X), inner.fit_transform(X * weights), atol=1e-13)


def test_the_bandwidth_is_found_in_fit():
    fitted = FourierFeatures(Gaussian(gamma="median"), random_state=0).fit(X)
    assert fitted.kernel == Gaussian(gamma="median")
    assert fitted.kernel_ == Gaussian(gamma="median").resolve(X)


def test_large_arguments_lose_what_the_documentation_says():
    far = (X + 100).astype(np.float32)
    fitted = FourierFeatures(Gaussian(gamma=1.0), n_components=200, random_state=0).fit(far)
    exact = fitted.transform(far.astype(np.float64))
    turns = np.abs(far.astype(np.float64) @ fitted.frequencies_).max() / (2 * np.pi)
    assert np.abs(fitted.transform(far) - exact).max() < 2 * np.pi * 4e-7 * turns * (2 / 200) ** 0.5 * far.shape[1]


def test_csr_equals_dense_in_both_precisions():
    rng = np.random.RandomState(0)
    dense = rng.standard_normal((40, 300)) * (rng.random_sample((40, 300)) < 0.1)
    for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 1e-5)):
        fitted = FourierFeatures(Gaussian(gamma=0.1), n_components=131, random_state=0).fit(dense.astype(dtype))
        np.testing.assert_allclose(
            fitted.transform(sparse.csr_array(dense.astype(dtype))),
            fitted.transform(dense.astype(dtype)),
            atol=tolerance,
        )


@pytest.mark.parametrize("kernel", [Polynomial(2), Gaussian(gamma=1.0) + Gaussian(gamma=2.0)], ids=repr)
def test_other_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match=r"FourierFeatures: kernel must be shift-invariant, such as Gaussian, .* got "):
        FourierFeatures(kernel).fit(X)
    with pytest.raises(ValueError, match=r"Columns: columns must be below .* got 7 and 5 columns"):
        FourierFeatures(Columns(Gaussian(gamma=1.0), [7])).fit(X)


def test_components_for_knows_the_inequalities():
    rows = 0.3 * sample_rows(30)
    kernel = Gaussian(gamma=0.5)
    pointwise = components_for(kernel, rows, error=0.1, kind="absolute", method="fourier")
    uniform = components_for(kernel, rows, error=0.1, kind="uniform", method="fourier")
    assert int(pointwise) < int(uniform)
    assert uniform.inequality.startswith("Rahimi and Recht, Claim 1")
    errors = []
    for seed in range(40):
        Z = FourierFeatures(kernel, n_components=int(pointwise), random_state=seed).fit_transform(rows)
        errors.append(np.abs(Z @ Z.T - kernel(rows)).max())
    assert np.mean(np.array(errors) > 0.1) < 0.5
    with pytest.raises(ValueError, match=r"no inequality is known for kind='uniform'"):
        components_for(Laplacian(gamma=1.0), rows, error=0.1, kind="uniform", method="fourier")


def test_the_rahimi_recht_bound():
    one = rahimi_recht_components(Gaussian(gamma=0.5), diameter=2.0, n_features=2, error=0.1)
    finer = rahimi_recht_components(Gaussian(gamma=0.5), diameter=2.0, n_features=2, error=0.05)
    assert 4 * one < finer < 5 * one
    with pytest.raises(ValueError, match=r"frequencies of Laplacian\(gamma=1.0\) have no finite mean square"):
        rahimi_recht_components(Laplacian(gamma=1.0), 2.0, 2, 0.1)
    with pytest.raises(ValueError, match="confidence must be below 1"):
        rahimi_recht_components(Gaussian(gamma=1.0), 2.0, 2, 0.1, confidence=1.0)
