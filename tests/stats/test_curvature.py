"""Sums of Hessians against plain NumPy."""

import numpy as np
import pytest
from scipy import sparse

from mercer.stats import Curvature


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_curvature_is_the_sums_it_claims(rng, make):
    Z, losses, first, second = rng.standard_normal((50, 3)), *rng.random_sample((3, 50, 2))
    curvature = Curvature.of(3, 2).update(make(Z), losses, first, second)
    np.testing.assert_allclose(curvature.values, losses.sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(curvature.gradients, Z.T @ first, atol=1e-13)
    for j in range(2):
        np.testing.assert_allclose(curvature.hessians[j], (second[:, [j]] * Z).T @ Z, atol=1e-13)
