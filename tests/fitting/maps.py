"""A map that is easy to check: the columns of X and their squares."""

import numpy as np
from scipy import sparse


class Squares:
    """Features (x, x^2), dense or sparse; counts the rows it makes features of, and fails where asked."""

    def __init__(self, *, is_sparse=False):
        self.is_sparse, self.n_made, self.fails_at = is_sparse, 0, None

    def transform(self, X):
        Z = np.empty((X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
        self.write_features(X, Z)
        return sparse.csr_array(Z) if self.is_sparse else Z

    def write_features(self, X, out):
        self.n_made += X.shape[0]
        if self.fails_at is not None and self.n_made >= self.fails_at:
            self.fails_at = None
            raise MemoryError("no memory left")
        out[:, : X.shape[1]], out[:, X.shape[1] :] = X, X**2
