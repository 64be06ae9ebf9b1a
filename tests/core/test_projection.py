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


@pytest.mark.parametrize("n", [*ROWS, 100])
@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS.keys())
def test_dense(level, dtype, n, d, widths):
    rng = np.random.default_rng([n, d])
    n_features = 4 + max(widths, default=0)
    X = strided(draw_rows(rng, n, d, dtype))
    X.flags.writeable = False
    W = strided(draw_rows(rng, d, sum(widths), dtype))
    got, expected = strided(empty((n, n_features), dtype)), empty((n, n_features), dtype)
    _core.project_product(X, W, np.array(widths, dtype=np.int64), got)
    reference.project_product(X, W, np.array(widths, dtype=np.int64), expected)
    assert_agrees(got, expected, product_terms(d, widths))
    assert np.isnan(got.base[:, n_features:]).all()


@pytest.mark.parametrize("d", [600, 1500])
def test_dense_rows_longer_than_a_block(level, dtype, d):
    rng = np.random.default_rng(d)
    X, W = draw_rows(rng, 70, d, dtype), draw_rows(rng, d, 90, dtype)
    widths = np.array([50, 40])
    got, expected = empty((70, 50), dtype), empty((70, 50), dtype)
    _core.project_product(X, W, widths, got)
    reference.project_product(X, W, widths, expected)
    assert_agrees(got, expected, product_terms(d, widths))


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
    X, W = draw_rows(rng, 33, 40, dtype), draw_rows(rng, 40, 70, dtype)
    X[5] = np.nan
    widths = np.array([50, 20])
    together = empty((33, 50), dtype)
    _core.project_product(X, W, widths, together)
    for row in range(33):
        alone = empty((1, 50), dtype)
        _core.project_product(X[row : row + 1], W, widths, alone)
        np.testing.assert_array_equal(alone[0], together[row])
