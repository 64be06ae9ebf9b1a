"""Tensor Sketch: the count sketch of a tensor power, by FFT (Pham and Pagh, 2013, Algorithm 1)."""

import numpy as np

from mercer._typing import Array
from mercer.reference.border import check_hashes
from mercer.reference.count_sketch import count_sketch, count_sketch_csr


def convolve(sketches: Array, out: Array) -> None:
    """Overwrite out (n, D) with the circular convolution, row by row, of the m sketches (m, n, D)."""
    from scipy import fft  # noqa: PLC0415 - so that asking for versions does not load it

    n_buckets = out.shape[1]
    spectrum = fft.rfft(sketches[0], axis=1)
    for sketch in sketches[1:]:
        spectrum *= fft.rfft(sketch, axis=1)
    out[...] = fft.irfft(spectrum, n=n_buckets, axis=1)


def _add_constant(sketch: Array, index: int, sign: int, constant: float) -> None:
    if constant:
        sketch[:, index] += sign * constant


def tensor_sketch(X: Array, index: Array, sign: Array, scale: float, constant: float, out: Array) -> None:
    """Overwrite out (n, D) with the sketch of the p-fold tensor power of each row [scale * x, constant].

    The tables index and sign are (p, d), or (p, d + 1) when constant is not 0, its hash in the last column.
    """
    check_hashes(index, sign, out.shape[1])
    n_columns = X.shape[1]
    sketches = np.empty((len(index), *out.shape), dtype=out.dtype)
    scaled = X * X.dtype.type(scale)
    for sketch, h, s in zip(sketches, index, sign, strict=True):
        count_sketch(scaled, h[:n_columns], s[:n_columns], sketch)
        _add_constant(sketch, h[-1], s[-1], constant)
    convolve(sketches, out)


def tensor_sketch_csr(
    data: Array,
    indices: Array,
    indptr: Array,
    index: Array,
    sign: Array,
    scale: float,
    constant: float,
    out: Array,
) -> None:
    """Overwrite out (n, D) with the Tensor Sketch of CSR rows; see tensor_sketch and count_sketch_csr."""
    check_hashes(index, sign, out.shape[1])
    sketches = np.empty((len(index), *out.shape), dtype=out.dtype)
    used = slice(indptr[0], indptr[-1])
    scaled = data[used] * data.dtype.type(scale)
    pointers = indptr - indptr[0]
    for sketch, h, s in zip(sketches, index, sign, strict=True):
        count_sketch_csr(scaled, indices[used], pointers, h, s, sketch)
        _add_constant(sketch, h[-1], s[-1], constant)
    convolve(sketches, out)
