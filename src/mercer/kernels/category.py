"""The kernel of categories: what makes one kernel learn several tasks."""

from dataclasses import dataclass, field

import numpy as np

from mercer._typing import Array, Rows, is_sparse, override
from mercer.kernels.base import Kernel
from mercer.validation import check_real


@dataclass(frozen=True, repr=False)
class SameCategory(Kernel):
    r"""The kernel :math:`c + 1[s = s']` of rows that are codes of categories: equal where all columns are.

    Multitask learning is a product: with the number of the task in column 0,
    ``Columns(SameCategory(offset=c), [0]) * Columns(k, rest)`` is :math:`(c + 1[s = s'])\, k(x, x')`. Each task then
    has its own function and shares one with all: c = 0 keeps the tasks apart, and a large c is one task.

    Parameters
    ----------
    offset : float, default=0.0
        c >= 0, what different categories have in common.

    References
    ----------
    T. Evgeniou and M. Pontil, "Regularized multi-task learning", KDD 2004.

    Examples
    --------
    >>> from mercer import SameCategory
    >>> SameCategory(offset=0.5)([[1.0], [2.0]])
    array([[1.5, 0.5],
           [0.5, 1.5]])
    """

    offset: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", check_real("SameCategory", "offset", self.offset, least=0))

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        X, Y = (A.toarray() if is_sparse(A) else A for A in (X, Y))
        dtype = np.result_type(X.dtype, Y.dtype)
        same = np.ones((X.shape[0], Y.shape[0]), dtype=bool)
        for x, y in zip(X.T, Y.T, strict=True):
            same &= x[:, None] == y
        return np.asarray(same.astype(dtype) + dtype.type(self.offset))

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return np.full(X.shape[0], 1.0 + self.offset, dtype=X.dtype)
