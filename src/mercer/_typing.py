"""Types that many packages share."""

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, np.dtype[Any]]
# Rows of numbers, dense or sparse. SciPy has no type stubs, so that mypy takes the second member for anything.
Rows: TypeAlias = Array | sparse.csr_array
