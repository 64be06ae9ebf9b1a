"""Random factors: both kinds write products with the right mean and moments."""

import numpy as np
from scipy import sparse

from mercer.features.sketches.factors import SignFactors
from mercer.features.sketches.hashes import draw_signs
from mercer.testing import rounding, sample_rows


def test_products_of_signs_are_the_same_in_both_layouts_and_by_hand():
    X, rng = sample_rows(9), np.random.RandomState(0)
    widths, scales = np.array([6, 4]), rng.standard_normal(6)
    signs = draw_signs(rng, (5, 10))
    factors = SignFactors(signs)
    expected = scales * (X @ signs[:, :6])
    expected[:, :4] *= X @ signs[:, 6:]
    for rows in (X, sparse.csr_array(X)):
        out = np.empty((9, 6))
        factors.writer(rows, widths, scales)(slice(0, 9), out)
        np.testing.assert_allclose(out, expected, atol=rounding(np.float64, 20))


def test_moments_of_signs_by_their_definitions():
    X = sample_rows(3)
    signs = 2.0 * ((np.arange(32)[:, None] >> np.arange(5)) & 1) - 1  # all 32 vectors of signs
    W = signs @ X.T
    mean, moment = SignFactors(draw_signs(np.random.RandomState(0), (5, 4))).moments(X, X)
    np.testing.assert_allclose(mean, W.T @ W / 32, atol=1e-12)
    np.testing.assert_allclose(moment, (W**2).T @ W**2 / 32, atol=1e-12)
