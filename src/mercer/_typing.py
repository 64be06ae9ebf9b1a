"""Types that many packages share."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

__all__ = ["Array", "Rows", "override"]

Array = np.ndarray[Any, np.dtype[Any]]
# Rows of numbers, dense or sparse. SciPy has no type stubs, so that mypy takes the second member for anything.
Rows: TypeAlias = Array | sparse.csr_array

if TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method: Any) -> Any:
        """Mark a method that takes the place of an inherited one, whose docstring it shares (``typing.override``)."""
        return method
