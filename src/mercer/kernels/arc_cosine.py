"""The arc-cosine kernels (Cho and Saul, 2009): infinitely wide layers of step, ReLU and squared-ReLU units."""

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.kernels.evaluation.distances import squared_distances
from mercer.validation import check_integer

_LARGEST_ORDER = 2


@dataclass(frozen=True, repr=False)
class ArcCosine(Kernel):
    r"""The arc-cosine kernel :math:`\frac{1}{\pi} \|x\|^n \|y\|^n J_n(\theta)` of order n = 0, 1 or 2.

    It is the mean of :math:`2\, \Theta(w \cdot x) \Theta(w \cdot y) (w \cdot x)^n (w \cdot y)^n` over Gaussian w, theta
    the angle between x and y.

    Parameters
    ----------
    order : int
        0, 1 or 2.

    References
    ----------
    Y. Cho and L. Saul, "Kernel methods for deep learning", NIPS 2009.

    Examples
    --------
    >>> from mercer import ArcCosine
    >>> ArcCosine(0)([[1.0, 0.0]], [[0.0, 1.0]])
    array([[0.5]])
    """

    order: int

    def __post_init__(self) -> None:
        order = check_integer("ArcCosine", "order", self.order, least=0)
        if order > _LARGEST_ORDER:
            raise ValueError(f"ArcCosine: order must be 0, 1 or 2, got {order}.")
        object.__setattr__(self, "order", order)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        x, y = (row_norms(A.astype(np.float64)) for A in (X, Y))
        sizes = np.outer(x, y)
        # The angle from the chord |x/|x| - y/|y||: the arc cosine of the product loses half the digits at small angles.
        chord = np.clip(squared_distances(_unit(X), _unit(Y)), 0, 4)
        theta = 2 * np.arctan2(np.sqrt(chord), np.sqrt(4 - chord))
        # A row of zeros has no angle. Its features are 0, hence its kernel.
        return np.where(sizes > 0, sizes**self.order * self._angular(theta) / np.pi, 0.0)

    def _angular(self, theta: Array) -> Array:
        left = np.pi - theta
        if self.order == 0:
            return left
        sine, cosine = np.sin(theta), np.cos(theta)
        if self.order == 1:
            return sine + left * cosine
        return np.asarray(3 * sine * cosine + left * (1 + 2 * cosine**2))

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        squares = row_norms(X, squared=True)
        return np.asarray((squares > 0) * squares**self.order * (1.0, 1.0, 3.0)[self.order])


def _unit(X: Rows) -> Rows:
    return normalize(X.astype(np.float64))
