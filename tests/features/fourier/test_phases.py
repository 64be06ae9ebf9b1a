"""Cosines and sines of projections: values, offsets, tall blocks, rows that are not finite."""

import numpy as np
import pytest

from mercer import FourierFeatures, Gaussian, Linear, config_context
from mercer.features.fourier.phases import MatrixProjections, phase_variance, require_shift_invariant
from mercer.testing import rounding, sample_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [6, 7])
def test_features_are_cosines_and_sines_of_the_phases(dtype, n_components):
    X = sample_rows(9).astype(dtype)
    fitted = FourierFeatures(Gaussian(gamma=0.5), n_components=n_components, random_state=0).fit(X)
    phases = X.astype(float) @ fitted.frequencies_
    pairs = phases[:, : n_components // 2]
    single = np.cos(phases[:, n_components // 2 :] + fitted.offsets_)
    expected = np.hstack([np.cos(pairs), np.sin(pairs), single]) * (2 / n_components) ** 0.5
    np.testing.assert_allclose(fitted.transform(X), expected, atol=rounding(dtype, 100))


def test_a_row_that_is_not_finite_shows_in_its_phases():
    X = sample_rows(9)
    fitted = FourierFeatures(Gaussian(gamma=0.5), n_components=6, random_state=0).fit(X)
    X[7, 1] = np.inf
    with pytest.raises(ValueError, match=r"X contains infinity \(inf\) at row 7, column 1"):
        fitted.transform(X)


def test_blocks_are_tall_unless_the_configuration_says_otherwise():
    projections = MatrixProjections(object(), np.zeros((3, 4)))
    for threads in (1, 2, 8):
        with config_context(threads=threads):
            assert projections.block_rows(10_000) == 625  # sixteen blocks, at most 1024 rows each
            assert projections.block_rows(1000) == 512
            # Reading that many frequencies is what a block costs.
            assert MatrixProjections(None, np.empty((2049, 2048))).block_rows(2000) == 1024
    with config_context(block_rows=100):
        assert projections.block_rows(10_000) == 100


def test_the_variance_of_pairs_is_below_that_of_offsets_near_the_diagonal():
    X, kernel = sample_rows(4), Gaussian(gamma=0.5)
    pairs, singles = phase_variance(kernel, X, X, 10, 0), phase_variance(kernel, X, X, 10, 10)
    np.testing.assert_allclose(np.diag(pairs), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.diag(singles), 0.05)


def test_a_kernel_without_frequencies_is_refused():
    with pytest.raises(ValueError, match=r"Owner: kernel must be shift-invariant, .* got Linear\(\)"):
        require_shift_invariant("Owner", Linear())
