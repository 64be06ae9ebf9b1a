"""Rotations: orthogonal directions, radii of their distribution, and both kinds of projections."""

import numpy as np
import pytest

from mercer import Gaussian
from mercer.features.fourier.phases import MatrixProjections
from mercer.features.fourier.rotations import ExactRotation, HadamardRotation, stratified_radii
from mercer.features.fourier.structured import HadamardProjections
from mercer.testing import assert_mean_close

KERNEL = Gaussian(gamma=0.5)


def test_directions_are_orthogonal_in_blocks_and_have_their_radii():
    drawn = ExactRotation.draw(KERNEL, 24, 12, 5, np.random.RandomState(0))
    assert drawn.frequencies.shape == (5, 12)
    np.testing.assert_allclose(np.linalg.norm(drawn.frequencies, axis=0), drawn.radii)
    for start in (0, 5, 10):
        block = drawn.frequencies[:, start : start + 5] / drawn.radii[start : start + 5]
        np.testing.assert_allclose(block.T @ block, np.eye(block.shape[1]), atol=1e-12)
    assert isinstance(drawn.projections(object()), MatrixProjections)


def test_signs_fill_blocks_of_a_power_of_two():
    drawn = HadamardRotation.draw(KERNEL, 40, 20, 9, np.random.RandomState(0))
    assert drawn.signs.shape == (3, 2, 16)
    assert set(np.unique(drawn.signs)) == {-1, 1}
    assert isinstance(drawn.projections(object()), HadamardProjections)
    assert drawn.variance(KERNEL, np.eye(9), np.eye(9), 0) is None


def test_stratified_radii_have_the_mean_square_of_independent_ones():
    squares = [np.square(stratified_radii(KERNEL, np.random.RandomState(seed), 8, 6)).mean() for seed in range(2000)]
    assert_mean_close(squares, 6.0, false_alarm=1e-6)  # chi^2 of 6 degrees of freedom, frequencies of variance 1


@pytest.mark.parametrize(("n_features", "is_known"), [(4, False), (6, True)])
def test_the_closed_form_needs_enough_columns(n_features, is_known):
    X = np.eye(n_features)
    drawn = ExactRotation.draw(KERNEL, 16, 8, n_features, np.random.RandomState(0))
    assert (drawn.variance(KERNEL, X, X, 0) is not None) == is_known
