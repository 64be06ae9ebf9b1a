"""The laws of the sums, and the precision of products."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.stats import CrossMoments, Curvature, Gradient, Moments, Totals
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
