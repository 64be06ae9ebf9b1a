"""The exponents of Gaussian kernel values."""

import numpy as np

from mercer._typing import Array

# Exponents beyond are cut: their kernel value is 0, and sums of them stay finite.
LARGEST_EXPONENT = 1e150


def gaussian_exponents(X: Array, Y: Array, gamma: float, out: Array, lower: bool = False) -> None:
    """Overwrite ``out`` (n, m) with min(gamma |x - y|^2, 1e150) for the rows x of X (n, d) and y of Y (m, d).

    The square is that of the difference x - y: it is exact where rows are close to each other and far from 0, and does
    not depend on the other rows. With ``lower``, where Y is X, row i ends with column i.
    """
    for i, x in enumerate(X):
        stop = i + 1 if lower else len(Y)
        np.minimum(gamma * np.square(x - Y[:stop]).sum(axis=1), LARGEST_EXPONENT, out=out[i, :stop])
