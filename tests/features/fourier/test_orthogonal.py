"""Orthogonal features: exact rotations with their variance, structured ones from 64 columns on."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.linalg import hadamard
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import Cauchy, ExponentialPower, FourierFeatures, Gaussian, Laplacian, Matern, OrthogonalFeatures
from mercer.features.fourier.rotations import stratified_radii
from mercer.features.fourier.structured import padded_size
from mercer.testing import assert_mean_close, check_feature_map, sample_rows

X = 2 * sample_rows(5)


@parametrize_with_checks([OrthogonalFeatures()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_components", [10, 11, 24])
def test_the_laws_of_the_gaussian(n_components):
    check_feature_map(OrthogonalFeatures(Gaussian(gamma=0.7), n_components=n_components), X, sklearn_checks=False)


@pytest.mark.parametrize(
    "kernel",
    [Matern(0.5, length_scale=1.0), Matern(2.2, length_scale=1.0), Cauchy(length_scale=1.0), ExponentialPower(1.3)],
    ids=repr,
)
def test_other_radial_kernels_are_unbiased(kernel):
    check_feature_map(OrthogonalFeatures(kernel.resolve(X), n_components=20), X, sklearn_checks=False, variance=False)


def test_structured_maps_keep_the_protocol():
    rows = sample_rows(6, 70)
    feature_map = OrthogonalFeatures(Gaussian(gamma=2.0), n_components=50)
    check_feature_map(feature_map, rows, sklearn_checks=False, unbiased=False, variance=False)
    assert feature_map.fit(rows).signs_.shape == (3, 1, 128)


@pytest.mark.parametrize("n_features", [64, 100])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=1.0), Matern(1.5, length_scale=0.7)], ids=repr)
def test_structured_maps_have_no_visible_bias_from_64_columns_on(kernel, n_features):
    rows = sample_rows(4, n_features) * 1.5
    estimates = []
    for seed in range(400):
        Z = OrthogonalFeatures(kernel, n_components=64, random_state=seed).fit_transform(rows)
        estimates.append((Z @ Z.T)[np.triu_indices(4, 1)])
    # Their own bias is below 1/d; the test sees errors of a few per cent.
    expected = kernel(rows)[np.triu_indices(4, 1)]
    assert_mean_close(np.array(estimates), expected, detect=0.1, atol=1e-6)


def test_below_64_columns_structure_warns_and_auto_rotates():
    with pytest.warns(UserWarning, match="structured=True is biased below 64 columns, and X has 5"):
        OrthogonalFeatures(Gaussian(gamma=1.0), structured=True).fit(X)
    assert hasattr(OrthogonalFeatures(Gaussian(gamma=1.0)).fit(X), "frequencies_")


@pytest.mark.parametrize("n_features", [3, 20, 64, 100])
def test_structured_features_are_those_of_the_explicit_matrix(n_features):
    rows = sample_rows(5, n_features)
    feature_map = OrthogonalFeatures(Gaussian(gamma=1.0), n_components=301, random_state=0, structured=True)
    with pytest.warns(UserWarning, match="biased") if n_features < 64 else nullcontext():
        fitted = feature_map.fit(rows)
    size = padded_size(n_features)
    H, blocks = hadamard(size) / size**0.5, []
    for one, two, three in fitted.signs_.transpose(1, 0, 2):
        blocks.append((H * three) @ (H * two) @ (H * one))
    V = np.vstack(blocks)[: len(fitted.radii_)]
    np.testing.assert_allclose(blocks[0] @ blocks[0].T, np.eye(size), atol=1e-12)
    phases = rows @ (fitted.radii_[:, np.newaxis] * V[:, :n_features]).T
    expected = np.hstack([np.cos(phases[:, :150]), np.sin(phases[:, :150]), np.cos(phases[:, 150:] + fitted.offsets_)])
    np.testing.assert_allclose(fitted.transform(rows), np.sqrt(2 / 301) * expected, atol=1e-12)


def test_frequencies_of_a_block_are_orthogonal():
    fitted = OrthogonalFeatures(Gaussian(gamma=1.0), n_components=24, random_state=0).fit(X)
    for start in (0, 5):
        block = fitted.frequencies_[:, start : start + 5]
        products = block.T @ block
        np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-12 * products.max())


def test_stratified_radii_have_the_distribution_and_less_spread():
    rng = np.random.RandomState(0)
    kernel = Matern(0.5, length_scale=1.0)
    squash = lambda radii: 1 / (1 + radii)  # noqa: E731, a bounded function of heavy-tailed radii
    stratified = np.array([squash(stratified_radii(kernel, rng, 20, 3)) for _ in range(2000)])
    reference = squash(kernel.radii(rng, 400_000, 3)).mean()
    assert_mean_close(stratified[:, :3], reference, detect=0.1, atol=1e-3)
    independent = squash(kernel.radii(rng, 40_000, 3)).reshape(2000, 20)
    assert stratified.mean(axis=1).var() < 0.2 * independent.mean(axis=1).var()


def test_few_columns_take_their_variance_from_redraws():
    rows = 2 * sample_rows(4, 2)
    fitted = OrthogonalFeatures(Gaussian(gamma=0.7), n_components=8, random_state=0).fit(rows)
    estimates = []
    for seed in range(2000):
        Z = OrthogonalFeatures(Gaussian(gamma=0.7), n_components=8, random_state=seed).fit_transform(rows)
        estimates.append((Z @ Z.T)[np.triu_indices(4, 1)])
    claimed = fitted.variance(rows)[np.triu_indices(4, 1)]
    assert 0.7 < np.var(estimates, axis=0).sum() / claimed.sum() < 1.4


def test_less_error_than_independent_frequencies():
    rows = sample_rows(20, 10) * 2
    kernel = Gaussian(gamma=0.5)
    orthogonal = OrthogonalFeatures(kernel, n_components=40).fit(rows).variance(rows)
    independent = FourierFeatures(kernel, n_components=40).fit(rows).variance(rows)
    assert np.all(orthogonal <= independent * (1 + 1e-9))
    assert orthogonal.mean() < 0.5 * independent.mean()


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"OrthogonalFeatures: kernel must be radial .* got Laplacian\(gamma=1.0\)"):
        OrthogonalFeatures(Laplacian(gamma=1.0)).fit(X)
    with pytest.raises(ValueError, match=r"structured must be True, False or 'auto', got 'yes'"):
        OrthogonalFeatures(structured="yes").fit(X)
