"""Subsequences: the compiled core equals NumPy at every SIMD level, and what is too small is cleared."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _core, reference
from mercer.structures import Strings

CODES = np.full(256, 255, dtype=np.uint8)
CODES[np.frombuffer(b"acgt", np.uint8)] = np.arange(4)
TEXTS = Strings(["acgtnacgt", "", "a", "ttttacg", "n"])


def exact_tables(length):
    index = np.minimum(np.arange(256), 3) * 4 ** np.arange(length)[:, None]
    return index.astype(np.int32), np.ones((length, 256), np.int8), 4 ** np.arange(length + 1)


def hashed_tables(length, width):
    rng = np.random.RandomState(length)
    index = rng.randint(width, size=(length, 256)).astype(np.int32)
    return index, (2 * rng.randint(2, size=(length, 256)) - 1).astype(np.int8), np.full(length + 1, width)


def tables(length, width):
    return exact_tables(length) if width is None else hashed_tables(length, width)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [None, 1, 5, 33, 64])
def test_sketches(level, dtype, length, width):
    index, sign, widths = tables(length, width)
    out, expected = (np.full((len(TEXTS), widths[-1]), 7.0, kind) for kind in (dtype, np.float64))
    given = (TEXTS.text, TEXTS.pointers(), CODES, index, sign, widths, 0.6)
    _core.subsequence_sketch(*given, out)
    reference.subsequence_sketch(*given, expected)
    # sums of at most 9^5 terms of at most 1, each rounded a few times per letter
    np.testing.assert_allclose(out, expected, rtol=0, atol=100 * np.finfo(dtype).eps * max(1.0, np.abs(expected).max()))


@settings(max_examples=20)
@given(st.lists(st.text("acgtn", max_size=9), min_size=1, max_size=3), st.integers(1, 4), st.sampled_from([0.3, 1.0]))
def test_values(texts, length, decay):
    X, Y = Strings(texts), Strings(["acgtacgt", "gca"])
    for other, shape in ((Y, (len(X), 2)), (X, (len(X), 1))):
        given = (X.text, X.pointers(), other.text, other.pointers(), CODES, length, decay)
        out, expected = np.empty(shape), np.empty(shape)
        _core.subsequence_values(*given, out)
        reference.subsequence_values(*given, expected)
        np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_letters_long_ago_leave_no_subnormal_numbers(level, dtype):
    """Behind 5,000 other letters the first ones weigh 0.5^5000: nothing is left of them, and nothing is slow."""
    text = Strings(["ac" + "n" * 5000 + "gt"])
    index, sign, widths = hashed_tables(3, 64)
    out = np.empty((1, 64), dtype)
    _core.subsequence_sketch(text.text, text.pointers(), CODES, index, sign, widths, 0.5, out)
    assert not out.any()


def test_bad_arguments_are_named():
    index, sign, widths = hashed_tables(2, 8)
    given = (TEXTS.text, TEXTS.pointers(), CODES)
    out = np.empty((len(TEXTS), 8))
    with pytest.raises(ValueError, match=r"widths\[-1\] must be out.shape\[1\] = 9, got 8"):
        _core.subsequence_sketch(*given, index, sign, widths, 0.5, np.empty((len(TEXTS), 9)))
    with pytest.raises(ValueError, match=r"index.shape\[1\] must be 256"):
        _core.subsequence_sketch(*given, np.ascontiguousarray(index[:, :4]), sign[:, :4].copy(), widths, 0.5, out)
    with pytest.raises(ValueError, match="shifts that stay in widths"):
        _core.subsequence_sketch(*given, index + 8, sign, widths, 0.5, out)
    with pytest.raises(ValueError, match="shifts that stay in widths"):
        _core.subsequence_sketch(*given, index, sign, np.array([1, 4, 8]), 0.5, out)
    with pytest.raises(ValueError, match=r"length must lie in \[1, 64\]"):
        _core.subsequence_values(TEXTS.text, TEXTS.pointers(), *given, 0, 0.5, np.empty((5, 5)))
    with pytest.raises(ValueError, match=r"out.shape\[0\] must be"):
        _core.subsequence_values(TEXTS.text, TEXTS.pointers(), *given, 2, 0.5, np.empty((4, 5)))
