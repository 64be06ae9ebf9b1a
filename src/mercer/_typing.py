"""Types that many packages share."""

from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

if TYPE_CHECKING:  # so that asking for versions does not load SciPy
    from scipy import sparse
    from typing_extensions import override
else:

    def override(method: Any) -> Any:
        """Mark a method that takes the place of an inherited one, whose docstring it shares (``typing.override``)."""
        return method


__all__ = ["Array", "Csr", "Rows", "is_sparse", "override"]

Array = np.ndarray[Any, np.dtype[Any]]
# SciPy has no type stubs: mypy accepts anything as a Csr.
Csr: TypeAlias = "sparse.csr_array"
# Rows of numbers, dense or sparse.
Rows: TypeAlias = "Array | Csr"


def is_sparse(X: object) -> TypeGuard[Csr]:
    """Return whether rows are sparse, in a way that a type checker understands."""
    from scipy import sparse  # noqa: PLC0415, so that asking for versions does not load SciPy

    return bool(sparse.issparse(X))
