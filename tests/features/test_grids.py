"""Grids of random pitch: the probability of a shared cell is the kernel, and what has no grids is refused."""

import numpy as np
import pytest

from mercer import Cauchy, Columns, Gaussian, Laplacian, Linear, Matern, ScaledColumns
from mercer.features.grids import draw_grids, require_grids
from mercer.testing import assert_mean_close


def test_an_expression_draws_grids_of_its_own_kernel(rng):
    kernel = ScaledColumns(Laplacian(gamma=0.5), [1.0, 0.0, 2.0]) * Columns(Matern(0.3, length_scale=1.0), [1])
    drawn = draw_grids("test", kernel, rng, 20_000, 3)
    assert drawn.columns.tolist() == [0, 2, 1]
    shift = np.array([0.3, 0.2, 0.4])
    share = np.prod(np.maximum(0, 1 - np.abs(shift[drawn.columns]) / drawn.pitches), axis=1)
    expected = kernel(shift[np.newaxis], np.zeros((1, 3)))[0]
    assert_mean_close(share[:, np.newaxis], expected, detect=0.1)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Cauchy(length_scale=1.0), "not a product over columns of functions that are convex"),
        (Laplacian(gamma=1.0) * Columns(Gaussian(gamma=1.0), [0]), r"Gaussian\(gamma=1.0\) .* concave"),
        (Laplacian(gamma=1.0) * Linear(), r"Linear\(\) .* it is not shift-invariant"),
    ],
)
def test_the_part_without_grids_is_named(kernel, message):
    with pytest.raises(ValueError, match=f"^owner: .*{message}"):
        require_grids("owner", kernel)
