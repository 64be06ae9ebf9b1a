"""Types that many packages share."""

from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from scipy.sparse import csr_array as Csr  # noqa: N812
    from typing_extensions import override
else:
    # SciPy is not loaded for a type, so that asking for versions stays quick.
    Csr = Any

    def override(method: Any) -> Any:
        """Mark a method that takes the place of an inherited one, whose docstring it shares (``typing.override``)."""
        return method


__all__ = ["Array", "Csr", "Rows", "RowsLike", "Seed", "is_sparse", "override"]

Array = np.ndarray[Any, np.dtype[Any]]
# Rows of numbers, dense or sparse. SciPy has no type stubs: mypy accepts anything as a Csr.
Rows: TypeAlias = Array | Csr
# Rows as users give them: an array, lists, a data frame (which can become an array), or a CSR matrix.
RowsLike: TypeAlias = ArrayLike | Csr
# What ``random_state`` may be.
Seed: TypeAlias = int | np.random.RandomState | None


def is_sparse(X: object) -> TypeGuard[Csr]:
    """Return whether rows are sparse, in a way that a type checker understands."""
    if isinstance(X, np.ndarray):  # nearly always, and SciPy's own answer takes longer
        return False
    from scipy import sparse  # noqa: PLC0415, so that asking for versions does not load SciPy

    return bool(sparse.issparse(X))
