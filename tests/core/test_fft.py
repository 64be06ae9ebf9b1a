"""The lane FFT against another FFT."""

import numpy as np
import pytest
from oracle import BUCKETS, ROWS, assert_agrees, draw_rows, empty
from scipy import fft

from mercer import _core


@pytest.mark.parametrize("length", [*BUCKETS, 2048, 3125, 4096, 5000, 20736])
def test_agrees_with_scipy(level, dtype, length):
    X = draw_rows(np.random.default_rng(length), 9, length, dtype)
    out = empty(X.shape, np.result_type(dtype, np.complex64))
    _core.fft(X, out)
    assert_agrees(out, fft.fft(X), terms=4 * np.log2(2 * length))


@pytest.mark.parametrize("n", ROWS)
def test_every_number_of_rows(level, dtype, n):
    X = draw_rows(np.random.default_rng(n), n, 60, dtype)
    out = empty(X.shape, np.result_type(dtype, np.complex64))
    _core.fft(X, out)
    assert_agrees(out, fft.fft(X), terms=4 * np.log2(120))


def test_more_lengths_than_the_cache_keeps(dtype):
    """Plans are made again after they were dropped."""
    rng = np.random.default_rng(0)
    for length in [*BUCKETS, *BUCKETS]:
        X = draw_rows(rng, 2, length, dtype)
        out = empty(X.shape, np.result_type(dtype, np.complex64))
        _core.fft(X, out)
        assert_agrees(out, fft.fft(X), terms=4 * np.log2(2 * length))


def test_is_smooth():
    smooth = {2**a * 3**b * 5**c for a in range(11) for b in range(7) for c in range(5)}
    assert [n for n in range(-5, 1025) if _core.is_smooth(n)] == sorted(n for n in smooth if n <= 1024)


def test_other_lengths_are_refused():
    X = np.zeros((2, 7), dtype=np.float32)
    with pytest.raises(ValueError, match=r"out.shape\[1\] must have no prime factor but 2, 3 and 5, got 7"):
        _core.fft(X, X.astype(np.complex64))
