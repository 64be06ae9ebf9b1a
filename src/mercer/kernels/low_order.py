"""Products over columns in which each column takes part with a probability: kernels of low-order interactions."""

from dataclasses import dataclass, field

import numpy as np

from mercer._typing import Array, Rows, is_sparse, override
from mercer.kernels.base import Kernel
from mercer.kernels.stationary import StationaryKernel
from mercer.validation import check_real


@dataclass(frozen=True, repr=False)
class LowOrder(Kernel):
    r"""The kernel :math:`\prod_j (1 - p + p\, k(x_j, y_j))` of d columns, with :math:`p = \min(1, \text{order} / d)`.

    Multiplied out, it is a sum over all sets S of columns of :math:`p^{|S|} (1 - p)^{d - |S|} \prod_{j \in S} k(x_j,
    y_j)`: functions of a few columns each, ``order`` of them on average. A function of low order is learned from fewer
    rows than one of all columns at once. It is the mean of :math:`\prod_{j \in S} k` over random sets S that hold each
    column with probability p, so that Fourier features draw it by setting entries of the frequencies to 0:
    ``FourierFeatures(k, order=...)``.

    Parameters
    ----------
    kernel : shift-invariant kernel
        k, of one column, such as ``Gaussian`` or ``Laplacian``.
    order : float, default=2.0
        The mean number of columns that take part, positive. From d on it is the product of k over all columns.

    Notes
    -----
    Time O(d) kernel values of single columns per pair of rows.

    References
    ----------
    D. Duvenaud, H. Nickisch and C. E. Rasmussen, "Additive Gaussian processes", NIPS 2011.
    M. Stitson, A. Gammerman, V. Vapnik, V. Vovk, C. Watkins and J. Weston, "Support vector regression with ANOVA
    decomposition kernels", Advances in Kernel Methods, 1999.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> from mercer.kernels import LowOrder
    >>> LowOrder(Gaussian(gamma=1.0), order=1)([[0.0, 0.0]], [[1.0, 0.0]]).round(4)  # (1 + exp(-1)) / 2
    array([[0.6839]])
    """

    kernel: StationaryKernel
    order: float = field(default=2.0, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, StationaryKernel):
            raise ValueError(
                f"LowOrder: kernel must be a shift-invariant kernel of one column, such as Gaussian() or Laplacian(), "
                f"got {self.kernel!r}."
            )
        object.__setattr__(self, "order", check_real("LowOrder", "order", self.order, least=0, strict=True))

    def probability(self, n_features: int) -> float:
        """Return p for rows of ``n_features`` columns."""
        return min(1.0, self.order / n_features)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        dense = [np.asarray(A.toarray()) if is_sparse(A) else A for A in (X, Y)]
        p = self.probability(X.shape[1])
        product = np.ones((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
        for j in range(X.shape[1]):
            x, y = (np.ascontiguousarray(A[:, j : j + 1]) for A in dense)
            product *= (1 - p) + p * self.kernel.evaluate(x, y)
        return product

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return self.kernel.evaluate_diag(X)
