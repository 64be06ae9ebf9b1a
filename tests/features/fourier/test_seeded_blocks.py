"""Slabs of features drawn from seeds: the laws of maps, nothing stored, and slab by slab the same as all at once."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import Gaussian, Laplacian, Matern, Polynomial, config_context, feature_map
from mercer.features import SeededBlocks, ShiftInvariantFeatures
from mercer.features.fourier.seeded_blocks import WIDE
from mercer.testing import check_feature_map, sample_rows

WIDTHS = [3, 8, 70]  # Sobol, an exact rotation, fast transforms


def _rows(n_columns, n_rows=50, dtype=np.float64):
    return np.random.RandomState(n_columns).randn(n_rows, n_columns).astype(dtype)


@parametrize_with_checks([SeededBlocks(), SeededBlocks(n_components=10, slab=4)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Laplacian(gamma=0.2)], ids=repr)
def test_it_keeps_the_laws_of_maps(kernel):
    """Slabs of 15 features have the variance of a closed form: orthogonal frequencies, and independent ones."""
    feature_map = SeededBlocks(kernel, n_components=30, slab=15)
    check_feature_map(feature_map, sample_rows(5), sklearn_checks=False, others={"slab": [3]})


@pytest.mark.parametrize("n_columns", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slabs_side_by_side_are_the_transform(n_columns, dtype):
    X = _rows(n_columns, dtype=dtype)
    wide = SeededBlocks(Gaussian(gamma=0.1), n_components=301, slab=64, random_state=0).fit(X)
    Z = wide.transform(X)
    assert Z.dtype == dtype
    parts = [(columns, part.copy()) for columns, part in wide.slabs(X)]
    assert [columns.stop - columns.start for columns, _ in parts] == [64, 64, 64, 64, 45]
    np.testing.assert_array_equal(np.hstack([part for _, part in parts]), Z)


@pytest.mark.parametrize("n_columns", WIDTHS)
def test_products_slab_by_slab_are_those_with_all_features(n_columns):
    X, rng = _rows(n_columns), np.random.RandomState(1)
    wide = SeededBlocks(Matern(1.5), n_components=200, slab=48, random_state=0).fit(X)
    Z, W, rows = wide.transform(X), rng.randn(200, 3), wide.in_slabs(X)
    np.testing.assert_allclose(rows @ W, Z @ W, atol=1e-12)
    np.testing.assert_allclose(wide.times(X, W), Z @ W, atol=1e-12)
    np.testing.assert_allclose(rows.gram(), Z @ Z.T, atol=1e-12)
    assert rows.shape == Z.shape


def test_csr_rows_have_the_features_of_dense_ones():
    X = np.where(_rows(70) > 0.5, _rows(70), 0.0)
    wide = SeededBlocks(Gaussian(gamma=0.1), n_components=100, slab=32, random_state=0).fit(X)
    np.testing.assert_allclose(wide.transform(sparse.csr_array(X)), wide.transform(X), atol=1e-12)


def test_slabs_are_drawn_independently():
    """No two slabs share a frequency: 16 slabs of 8 on 8 columns, drawn from seeds that differ by one number."""
    X = _rows(8)
    wide = SeededBlocks(Gaussian(), n_components=128, slab=8, random_state=0).fit(X)
    frequencies = np.hstack([wide.slab_map(number).frequencies_ for number in range(wide.n_slabs)])
    assert len(np.unique(frequencies.round(12), axis=1).T) == frequencies.shape[1]


def test_a_wider_map_begins_with_the_slabs_of_a_narrower_one():
    X = _rows(8)
    few, many = (SeededBlocks(Gaussian(), n_components=n, slab=16, random_state=3).fit(X) for n in (32, 80))
    np.testing.assert_allclose(few.transform(X) * 32**0.5, many.transform(X)[:, :32] * 80**0.5, atol=1e-12)
    np.testing.assert_allclose(many.first_slabs(2).transform(X), few.transform(X), atol=1e-12)
    assert many.n_features_out_ == 80  # the map itself is as it was


def test_a_fitted_map_holds_no_frequencies():
    X = _rows(28)
    sizes = [len(pickle.dumps(SeededBlocks(n_components=n, random_state=0).fit(X))) for n in (1000, 10_000_000)]
    assert abs(sizes[1] - sizes[0]) < 16  # the number itself takes a few bytes more


def test_a_refit_forgets_the_slabs_that_it_had_drawn():
    X = _rows(8)
    wide = SeededBlocks(Gaussian(gamma=0.1), n_components=64, slab=16, random_state=0)
    before = wide.fit_transform(X)
    wide.set_params(kernel=Gaussian(gamma=1.0)).fit(X)
    fresh = SeededBlocks(Gaussian(gamma=1.0), n_components=64, slab=16, random_state=0).fit(X)
    np.testing.assert_array_equal(wide.transform(X), fresh.transform(X))
    assert not np.allclose(before, wide.transform(X))


def test_a_change_of_the_parameter_does_not_change_a_fitted_map():
    X = _rows(8)
    wide = SeededBlocks(Gaussian(), n_components=64, slab=16, random_state=0).fit(X)
    before = wide.transform(X)
    np.testing.assert_array_equal(wide.set_params(slab=32).transform(X), before)


def test_feature_map_takes_it_for_many_features_alone():
    assert isinstance(feature_map(Gaussian(), WIDE), ShiftInvariantFeatures)
    assert isinstance(feature_map(Gaussian(), WIDE + 1), SeededBlocks)
    assert isinstance(feature_map(Gaussian() * Laplacian(), WIDE + 1), SeededBlocks)


def test_rows_that_are_not_finite_are_named():
    X = _rows(8)
    wide = SeededBlocks(Gaussian(), n_components=64, slab=16, random_state=0).fit(X)
    X[17, 2] = np.nan
    with pytest.raises(ValueError, match="row 17"):
        wide.transform(X)
    with pytest.raises(ValueError, match="row 17"):
        wide.times(X, np.ones((64, 1)))


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="SeededBlocks: slab must be an integer >= 1, got 0"):
        SeededBlocks(slab=0).fit(_rows(3))
    with pytest.raises(ValueError, match="SeededBlocks: kernel must be shift-invariant"):
        SeededBlocks(Polynomial(2)).fit(_rows(3))


def test_threads_do_not_change_the_features():
    X = _rows(28, 5000, np.float32)
    wide = SeededBlocks(Gaussian(), n_components=300, slab=128, random_state=0).fit(X)
    found = []
    for threads in (1, 2):
        with config_context(threads=threads):
            found.append(wide.transform(X))
    np.testing.assert_array_equal(*found)
