"""A new map: a Gaussian random projection, for the linear kernel."""

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from mercer.features import KernelMap
from mercer.kernels import Linear


class GaussianProjection(KernelMap):
    """Features G^T x / sqrt(D) with a Gaussian matrix G: an unbiased estimate of <x, y>.

    Its variance is (|x|^2 |y|^2 + <x, y>^2) / D.
    """

    _natural_kernel = Linear()

    def check_kernel(self, kernel):
        """Refuse every kernel but the linear one."""
        if not isinstance(kernel, Linear):
            raise ValueError(
                f"GaussianProjection: kernel must be Linear(), got {kernel!r}. "
                "Use feature_map(kernel)."
            )

    def _draw(self, kernel, X, n_components, rng):
        self.projection_ = rng.standard_normal((X.shape[1], n_components)) / np.sqrt(
            n_components
        )
        return n_components

    def writer(self, X):
        """Return the product of rows with the projection."""
        projection = self.projection_.astype(X.dtype)

        def write(rows, out):
            out[...] = safe_sparse_dot(X[rows], projection, dense_output=True)

        return write

    def exact_variance(self, X, Y):
        """Return the variance of a Gaussian projection."""
        squares = np.outer((X**2).sum(axis=1), (Y**2).sum(axis=1))
        return (squares + (X @ Y.T) ** 2) / self.n_features_out_
