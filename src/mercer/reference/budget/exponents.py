"""The exponents of Gaussian kernel values."""

from mercer._typing import Array
from mercer.reference.budget import arithmetic


def gaussian_exponents(X: Array, Y: Array, gamma: float, out: Array, lower: bool = False) -> None:
    """Overwrite ``out`` (n, m) with min(gamma |x - y|^2, 1e150) for the rows x of X (n, d) and y of Y (m, d).

    The square is that of the difference x - y: it is exact where rows are close to each other and far from 0, and does
    not depend on the other rows. With ``lower``, where Y is X, row i ends with column i.
    """
    for i, x in enumerate(X):
        stop = i + 1 if lower else len(Y)
        out[i, :stop] = arithmetic.exponents(x, Y[:stop], gamma)
