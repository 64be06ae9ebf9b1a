"""Float32 tiles of radial kernels agree with the kernel: near pairs, far rows, repeated rows, and outliers."""

import numpy as np
import pytest

from mercer import Cauchy, ExponentialPower, Matern, RationalQuadratic
from mercer.kernels.evaluation.radial_tiles import radial_tiles
from mercer.testing import sample_rows

KERNELS = [
    Matern(0.5, length_scale=0.7),
    Matern(1.5, length_scale=2.0),
    Matern(2.5, length_scale=1.3),
    ExponentialPower(1.0, length_scale=1.5),
    ExponentialPower(0.7, length_scale=1.5),
    Cauchy(length_scale=1.2),
    RationalQuadratic(2.0, length_scale=1.2),
]


def _roots(q):
    return np.sqrt(q)


def _distances(X, Y):
    return np.linalg.norm(X[:, None].astype(float) - Y[None].astype(float), axis=2)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_tiles_agree_with_the_kernel(kernel):
    X, Y = sample_rows(40, 5).astype(np.float32), sample_rows(30, 5, seed=1).astype(np.float32)
    tile = kernel.evaluator(Y, np.float32)(X)
    assert tile.dtype == np.float32
    # An error of 1e-5 |x| in a distance, and |x| is below 5 length scales here.
    np.testing.assert_allclose(tile, kernel(X.astype(float), Y.astype(float)), atol=5e-5)


def test_a_row_is_at_distance_0_of_itself():
    X = (sample_rows(50, 4) * 3 + 100.0).astype(np.float32)
    assert np.all(np.diagonal(radial_tiles(X, 1.0, _roots)(X)) == 0)


def test_near_pairs_keep_their_distances():
    # Rows of length 10 that differ by 1e-3: the expanded square has an error of 1e-5, ten times their squared distance.
    X = 10 * sample_rows(20, 3).astype(np.float32)
    Y = X + np.float32(1e-3)
    found = np.diagonal(radial_tiles(Y, 1.0, _roots)(X))
    np.testing.assert_allclose(found, np.diagonal(_distances(X, Y)), rtol=1e-3)


@pytest.mark.parametrize("far", ["X", "Y"])
def test_rows_far_from_the_others_keep_their_distances(far):
    # In float32 the square of 3e4 leaves a distance of 1 no digit.
    rows = {name: sample_rows(6, 3, seed=s).astype(np.float32) for s, name in enumerate("XY")}
    rows[far][2] = 3e4
    rows["XY".replace(far, "")][3] = 3e4 + 1
    found = radial_tiles(rows["Y"], 1.0, _roots)(rows["X"])
    np.testing.assert_allclose(found, _distances(rows["X"], rows["Y"]), rtol=1e-5)


def test_squares_that_overflow_are_far():
    X, Y = sample_rows(6, 3).astype(np.float32), sample_rows(5, 3, seed=1).astype(np.float32)
    X[4] = 1e25
    with np.errstate(over="ignore", invalid="ignore"):
        found = radial_tiles(Y, 1.0, _roots)(X)
    assert np.all(found[4] > 1e20)
    np.testing.assert_allclose(found[:4], _distances(X[:4], Y), rtol=1e-4)


def test_an_empty_tile():
    Y = sample_rows(3, 2).astype(np.float32)
    assert radial_tiles(Y, 1.0, _roots)(Y[:0]).shape == (0, 3)
