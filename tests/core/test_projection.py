"""Products of projections: compiled against reference."""

import numpy as np
import pytest
from oracle import COLUMNS, ROWS, assert_agrees, draw_csr, draw_rows, empty, strided

from mercer import _core, reference

WIDTHS = {
    "none": (),
    "one": (1,),
    "equal": (100, 100, 100),
    "falling": (130, 64, 63, 5, 1),
    "with empty": (70, 20, 0),
}


def product_terms(d, widths):
    """Rounded operations behind one feature; products multiply relative errors, so each factor adds its own."""
    return (d + 1) * max(1, len(widths)) ** 2


def draw_codes(rng, d, widths):
    return rng.integers(0, 256, (-(-d // 8), sum(widths)), dtype=np.uint8)


@pytest.mark.parametrize("n", [*ROWS, 100])
@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS.keys())
def test_signs(level, dtype, n, d, widths):
    rng = np.random.default_rng([n, d])
    n_features = 4 + max(widths, default=0)
    X = strided(draw_rows(rng, n, d, dtype))
    X.flags.writeable = False
    codes, scales = draw_codes(rng, d, widths), rng.standard_normal(max(widths, default=0)).astype(dtype)
    got, expected = strided(empty((n, n_features), dtype)), empty((n, n_features), dtype)
    _core.sign_products(X, codes, np.array(widths, dtype=np.int64), scales, got)
    reference.sign_products(X, codes, np.array(widths, dtype=np.int64), scales, expected)
    assert_agrees(got, expected, product_terms(d, widths))
    assert np.isnan(got.base[:, n_features:]).all()


def test_a_code_is_eight_signs(level, dtype):
    """Against a matrix product written out; the bits beyond the last column say nothing."""
    rng = np.random.default_rng(0)
    X, signs = draw_rows(rng, 9, 21, dtype), rng.choice([-1, 1], (21, 30))
    codes = np.packbits(signs > 0, axis=0, bitorder="little")
    codes[-1] |= 0b11100000
    got = empty((9, 30), dtype)
    _core.sign_products(X, codes, np.array([30]), np.full(30, 0.5, dtype), got)
    assert_agrees(got, 0.5 * (X.astype(np.float64) @ signs), 22)


@pytest.mark.parametrize("n", ROWS)
@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS.keys())
def test_csr(level, dtype, n, d, widths):
    rng = np.random.default_rng([n, d])
    n_features = 4 + max(widths, default=0)
    rows = draw_csr(rng, n, d, dtype, np.int64 if n % 2 else np.int32)
    W = draw_rows(rng, d, sum(widths), dtype)
    got, expected = strided(empty((n, n_features), dtype)), empty((n, n_features), dtype)
    _core.project_product_csr(*rows, W, np.array(widths, dtype=np.int64), got)
    reference.project_product_csr(*rows, W, np.array(widths, dtype=np.int64), expected)
    assert_agrees(got, expected, product_terms(d, widths))


def test_a_row_does_not_depend_on_the_others(level, dtype):
    rng = np.random.default_rng(0)
    X, codes = draw_rows(rng, 33, 40, dtype), draw_codes(rng, 40, (50, 20))
    X[5] = np.nan
    widths, scales = np.array([50, 20]), np.ones(50, dtype)
    together = empty((33, 50), dtype)
    _core.sign_products(X, codes, widths, scales, together)
    for row in range(33):
        alone = empty((1, 50), dtype)
        _core.sign_products(X[row : row + 1], codes, widths, scales, alone)
        np.testing.assert_array_equal(alone[0], together[row])
