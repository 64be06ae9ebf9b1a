"""The kernel of linearly transformed rows: a metric, such as one that was learned."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array, Rows, override
from mercer.kernels.transforms import TransformedKernel


@dataclass(frozen=True, repr=False, eq=False)
class Metric(TransformedKernel):
    r"""A kernel of transformed rows, :math:`k(x^T T, y^T T)`.

    A kernel of the distance becomes one of the distance :math:`\sqrt{(x - y)^T T T^T (x - y)}`: directions that do not
    matter are shortened, and columns may be mixed. ``ScaledColumns`` is the same with a diagonal T, without products.

    Parameters
    ----------
    kernel : Kernel
    matrix : array of shape (n_features, n_directions)
        T, finite. It is copied, and cannot be changed.

    Notes
    -----
    Time O(n d r) to transform n rows of d columns into r directions, once per call. The transformed rows are dense.

    Examples
    --------
    >>> from mercer import Gaussian, Metric
    >>> Metric(Gaussian(gamma=1.0), [[1.0], [-1.0]])([[3.0, 3.0]], [[5.0, 4.0]]).round(4)
    array([[0.3679]])
    """

    matrix: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            matrix = np.array(self.matrix, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = np.empty(0)
        if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
            raise ValueError(
                "Metric: matrix must be a two-dimensional array of finite numbers, one row per column of X, got "
                f"{np.shape(self.matrix)}. For one factor per column use ScaledColumns."
            )
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return self.kernel == other.kernel and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        # Adding 0 makes -0.0 the 0.0 that it is equal to.
        return hash((self.kernel, self.matrix.shape, (self.matrix + 0.0).tobytes()))

    def __repr__(self) -> str:
        return f"Metric({self.kernel!r}, {self.matrix.tolist()!r})"

    def apply(self, X: Rows) -> Array:
        """Return the rows of X times T, dense."""
        if X.shape[1] != len(self.matrix):
            raise ValueError(
                f"Metric: matrix must have one row for each column of X, got {len(self.matrix)} rows and {X.shape[1]} "
                "columns of X."
            )
        return np.asarray(X @ self.matrix.astype(X.dtype, copy=False))

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        inner = self.kernel.evaluator(self.apply(Y).astype(dtype, copy=False), dtype)
        return lambda X: inner(self.apply(X).astype(dtype, copy=False))
