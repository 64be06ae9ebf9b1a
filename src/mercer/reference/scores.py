"""Scores of linear models: rows of features times a few columns of weights."""

import numpy as np

from mercer._typing import Array


def scores(Z: Array, W: Array, out: Array) -> None:
    """Overwrite out (n, k) with the products of the rows of Z (n, D) and the rows of W (k, D)."""
    np.matmul(Z, W.T, out=out)
