"""How far apart rows must be for a shift-invariant kernel to be small."""

import numpy as np
import pytest

from mercer import Cauchy, Columns, ExponentialPower, Gaussian, Laplacian, Matern, RationalQuadratic, ScaledColumns
from mercer.kernels.spectral import reaches

KERNELS = [
    Gaussian(gamma=0.1),
    Gaussian(gamma=1e8),
    Laplacian(gamma=2.0),
    Matern(1.5, length_scale=3.0),
    Matern(0.5, length_scale=1e-5),
    Cauchy(length_scale=2.0),
    RationalQuadratic(1.5, length_scale=0.5),
    ExponentialPower(1.2, length_scale=1.0),
]


@pytest.mark.parametrize("level", [0.5, 0.01])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_kernel_at_its_reach_is_the_level_in_every_column(kernel, level):
    found = reaches(kernel, 3, level)
    np.testing.assert_allclose(kernel(np.zeros((1, 3)), np.diag(found))[0], level, rtol=1e-6)


def test_expressions_carry_their_columns():
    inner = reaches(Gaussian(gamma=1.0), 1, 0.01)[0]
    scaled = reaches(ScaledColumns(Gaussian(gamma=1.0), [2.0, 0.0, -0.5]), 3, 0.01)
    np.testing.assert_allclose(scaled, [inner / 2, np.inf, inner * 2])
    np.testing.assert_allclose(reaches(Columns(Gaussian(gamma=1.0), [2, 0]), 3, 0.01), [inner, np.inf, inner])
    product = reaches(Columns(Gaussian(gamma=1.0), [0]) * Laplacian(gamma=0.01), 2, 0.01)
    np.testing.assert_allclose(product, [inner, -np.log(0.01) / 0.01])
