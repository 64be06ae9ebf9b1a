"""Circular convolutions of count sketches, the arithmetic of Tensor Sketch, by products with Fourier matrices.

The spectrum of a count sketch is a product of the row with one matrix, so the forward transforms cost nothing extra.
The inverse transform is a matrix too: ONNX Runtime's ``DFT`` of real results takes transforms of twice the length.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mercer._typing import Array
from mercer.export.graph import Tensor


class Factor(NamedTuple):
    """A count sketch as a function of rows: rows @ matrix + shift."""

    rows: Tensor
    matrix: Array
    shift: Array | None


def hash_matrix(index: Array, sign: Array, n_buckets: int) -> Array:
    """Return the matrix of a count sketch: one signed entry per row."""
    matrix = np.zeros((len(index), n_buckets))
    matrix[np.arange(len(index)), index] = sign
    return matrix


def convolution(factors: Sequence[Factor], width: int) -> Tensor:
    """Write the circular convolution of count sketches of ``width`` buckets."""
    if len(factors) == 1:
        return _shifted(factors[0].rows @ factors[0].matrix, factors[0].shift)
    real, imaginary = _spectrum(factors[0])
    for factor in factors[1:]:
        other_real, other_imaginary = _spectrum(factor)
        real, imaginary = (
            real * other_real - imaginary * other_imaginary,
            real * other_imaginary + imaginary * other_real,
        )
    frequencies = np.eye(width // 2 + 1)
    return real @ np.fft.irfft(frequencies, n=width) + imaginary @ np.fft.irfft(1j * frequencies, n=width)


def _spectrum(factor: Factor) -> tuple[Tensor, Tensor]:
    spectrum = np.fft.rfft(factor.matrix, axis=1)
    shift = None if factor.shift is None else np.fft.rfft(factor.shift)
    return (
        _shifted(factor.rows @ spectrum.real, None if shift is None else shift.real),
        _shifted(factor.rows @ spectrum.imag, None if shift is None else shift.imag),
    )


def _shifted(values: Tensor, shift: Array | None) -> Tensor:
    return values if shift is None else values + shift
