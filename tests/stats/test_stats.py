"""Statistics: their laws, exact values, float32 products that keep float64 sums, and wrong ones refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.stats import CrossMoments, Curvature, Gradient, Moments, Stacked, Totals
from mercer.testing import check_statistic, rounding


@st.composite
def _cut_rows(draw):
    n = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**31 - 1))
    cuts = draw(st.lists(st.integers(0, n), max_size=5))
    return np.random.RandomState(seed), n, cuts


def _arguments(kind, rng, n, sparse_rows):
    Z, Y, weight = rng.standard_normal((n, 4)), rng.standard_normal((n, 2)), rng.random_sample(n)
    Z = sparse.csr_array(Z * (Z > 0)) if sparse_rows else Z
    return {
        Moments: (Moments.of(4, 2, None if sparse_rows else np.full(4, 0.5)), (Z, Y, weight)),
        CrossMoments: (CrossMoments.of(4, 2), (Z, Y, weight)),
        Curvature: (Curvature.of(4, 2), (Z, Y, Y[:, ::-1], Y**2)),
        Gradient: (Gradient.of(4, 2), (Z, Y)),
        Totals: (Totals.of(2), (Y,)),
    }[kind]


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("kind", [Moments, CrossMoments, Curvature, Gradient, Totals])
@settings(max_examples=40)
@given(case=_cut_rows())
def test_the_laws(kind, sparse_rows, case):
    rng, n, cuts = case
    empty, rows = _arguments(kind, rng, n, sparse_rows)
    check_statistic(empty, rows, cuts, rtol=rounding(np.float64, 30))


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


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_curvature_is_the_sums_it_claims(rng, make):
    Z, losses, first, second = rng.standard_normal((50, 3)), *rng.random_sample((3, 50, 2))
    curvature = Curvature.of(3, 2).update(make(Z), losses, first, second)
    np.testing.assert_allclose(curvature.values, losses.sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(curvature.gradients, Z.T @ first, atol=1e-13)
    for j in range(2):
        np.testing.assert_allclose(curvature.hessians[j], (second[:, [j]] * Z).T @ Z, atol=1e-13)


def test_weights_are_repetitions(rng):
    Z, y, w = rng.standard_normal((20, 3)), rng.standard_normal(20), rng.randint(4, size=20)
    one = Moments.of(3, 1).update(Z, y, w.astype(float))
    other = Moments.of(3, 1).update(np.repeat(Z, w, axis=0), np.repeat(y, w))
    for name, value in vars(one).items():
        np.testing.assert_allclose(value, getattr(other, name), atol=1e-13, err_msg=name)


def test_products_of_float32_rows_keep_float64_sums():
    """Ones: exact sums of 2^25 + 3 rows would stop at 2^24 in float32; here 4096 of them at a time are exact."""
    n = 4096 * 3 + 5
    moments = Moments.of(2, 1)
    moments.gram += 2.0**24
    moments.update(np.ones((n, 2), dtype=np.float32), np.ones(n))
    assert moments.gram[0, 1] == 2**24 + n
    assert moments.gram.dtype == moments.cross.dtype == np.float64


def test_the_error_of_a_float32_gram_does_not_grow_with_the_rows(rng):
    """Each product rounds 4096 terms: at most gamma_4096 = 4096 * 2^-24 = 2.5e-4 of sum |z|^2, whatever n."""
    Z = rng.standard_normal((40_000, 2)).astype(np.float32)
    gram = Moments.of(2, 1).update(Z, np.zeros(len(Z))).gram
    exact = [[float(sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(Z[:, i], Z[:, j], strict=True)))
              for j in range(2)] for i in range(2)]  # fmt: skip
    # the bound for one float32 sum over all rows is ten times as large
    assert np.abs(gram - exact).max() <= 4096 * 2.0**-24 * np.abs(np.diag(exact)).max()


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


class _KeepsTheLast(Gradient):
    def merge(self, other):
        self.vector = other.vector.copy()
        return self


class _CountsUpdates(Gradient):
    def update(self, Z, residuals, loss=0.0):
        return super().update(Z, residuals, loss + 1)


@pytest.mark.parametrize("wrong", [_KeepsTheLast, _CountsUpdates])
def test_the_kit_refuses_a_wrong_statistic(rng, wrong):
    rows = (rng.standard_normal((9, 2)), rng.standard_normal((9, 1)))
    with pytest.raises(AssertionError, match=r"identity|cuts change"):
        check_statistic(wrong.of(2, 1), rows, [3, 5])


def test_stacked_rows_keep_their_order_however_they_are_merged():
    first, second, third = (Stacked().update(np.full(n, n)) for n in (2, 1, 3))
    left = first.zero().merge(first).merge(second).merge(third).rows()
    right = first.zero().merge(first).merge(second.zero().merge(second).merge(third)).rows()
    np.testing.assert_array_equal(left, [2, 2, 1, 3, 3, 3])
    np.testing.assert_array_equal(left, right)
