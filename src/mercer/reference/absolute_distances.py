"""L1 distances to fixed rows."""

import numpy as np
from scipy.spatial.distance import cdist

from mercer._typing import Array


def absolute_distances(X: Array, fixed: Array, out: Array) -> None:
    """Write the sums over the columns of |x - y| for all pairs of rows of ``X`` (n, d) and of ``fixed`` (m, d)."""
    np.copyto(out, cdist(X, fixed, "cityblock"), casting="same_kind")
