"""Second moments against sums in plain NumPy."""

import numpy as np
import pytest
from scipy import sparse

from mercer.stats import CrossMoments, Gradient, Moments
from mercer.testing import rounding


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_moments_are_the_sums_they_claim(rng, make):
    Z, Y, w = rng.standard_normal((50, 3)), rng.standard_normal((50, 2)), rng.random_sample(50)
    moments = Moments.of(3, 2).update(make(Z), Y, w)
    z, y = (w @ Z) / w.sum(), (w @ Y) / w.sum()
    gram, cross, squares = moments.centred()
    np.testing.assert_allclose(moments.feature_mean, z, rtol=1e-13)
    np.testing.assert_allclose(moments.target_mean, y, rtol=1e-13)
    np.testing.assert_allclose(gram, (w[:, None] * (Z - z)).T @ (Z - z), atol=1e-13)
    np.testing.assert_allclose(cross, (w[:, None] * (Z - z)).T @ (Y - y), atol=1e-13)
    np.testing.assert_allclose(squares, w @ (Y - y) ** 2, rtol=1e-13)
    both = CrossMoments.of(3, 2).update(make(Z), Y, w)
    np.testing.assert_allclose(both.covariance(), cross / w.sum(), atol=1e-14)
    np.testing.assert_allclose(Gradient.of(3, 2).update(make(Z), Y, 2.0).vector, Z.T @ Y, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_blocks_to_be_merged_give_the_same_moments(rng, dtype, is_weighted):
    Z, Y = rng.standard_normal((50, 3)).astype(dtype), rng.standard_normal((50, 2))
    w = rng.random_sample(50) if is_weighted else None
    whole, merged = Moments.of(3, 2, np.full(3, 0.5)), Moments.of(3, 2, np.full(3, 0.5))
    for rows in (slice(0, 20), slice(20, 50)):
        arguments = (Y[rows], None if w is None else w[rows])
        merged.merge(whole.of_block(Z[rows].copy(), *arguments))
    whole.update(Z, Y, w)
    assert merged.gram.dtype == np.float64
    for name, value in vars(whole).items():
        np.testing.assert_allclose(getattr(merged, name), value, rtol=0, atol=50 * rounding(dtype, 50), err_msg=name)


def test_weights_are_repetitions(rng):
    Z, y, w = rng.standard_normal((20, 3)), rng.standard_normal(20), rng.randint(4, size=20)
    one = Moments.of(3, 1).update(Z, y, w.astype(float))
    other = Moments.of(3, 1).update(np.repeat(Z, w, axis=0), np.repeat(y, w))
    for name, value in vars(one).items():
        np.testing.assert_allclose(value, getattr(other, name), atol=1e-13, err_msg=name)


def test_an_origin_saves_float32_moments_far_from_zero(rng):
    Z = (1000 + rng.standard_normal((5000, 3))).astype(np.float32)
    exact = (Z - Z.mean(axis=0, dtype=np.float64)).T @ (Z - Z.mean(axis=0, dtype=np.float64))
    errors = []
    for origin in (None, Z[:100].mean(axis=0, dtype=np.float64)):
        gram, _, _ = Moments.of(3, 1, origin).update(Z, np.zeros(5000)).centred()
        errors.append(np.abs(gram - exact).max() / exact.max())
    # Z - o is rounded to float32: 2^-24 of 1000 at most, against a spread of 1
    assert errors[1] <= 2 * 1000 * 2.0**-24
    assert errors[0] > 10 * errors[1]


def test_moments_about_other_origins_do_not_merge():
    with pytest.raises(ValueError, match="only moments about the same origin can be merged"):
        Moments.of(2, 1).merge(Moments.of(2, 1, np.ones(2)))
