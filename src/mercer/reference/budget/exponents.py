"""The exponents of Gaussian kernel values."""

import numpy as np

from mercer._typing import Array


def gaussian_exponents(X: Array, Y: Array, gamma: float, out: Array) -> None:
    """Overwrite ``out`` (n, m) with gamma |x - y|^2 for the rows x of X (n, d) and y of Y (m, d), all float64.

    The square is that of the difference x - y: it is exact where rows are close to each other and far from 0, and does
    not depend on the other rows.
    """
    for i, x in enumerate(X):
        out[i] = gamma * np.square(x - Y).sum(axis=1)
