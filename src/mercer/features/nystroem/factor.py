"""The Gram matrix of the landmarks, factored: its eigenvalues and the projection that they give."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array, Rows
from mercer.features.nystroem.candidates import Landmarks
from mercer.features.nystroem.gram import check_spectrum, gram_of_landmarks, principal_directions
from mercer.features.nystroem.inverse_root import eigenvectors, trapezoidal, triangular_inverse_root
from mercer.kernels import Kernel
from mercer.parallel import one_blas_thread


@dataclass(frozen=True)
class Factor:
    """The eigenvalues of W = k(I, I) that were kept, largest first, and two inverse roots P with P P^T = W^+.

    Attributes
    ----------
    eigenvalues : ndarray of shape (r,)
    inverse_root : ndarray of shape (m, r)
        Upper trapezoidal.
    projection : ndarray of shape (m, r)
        Columns in the order of the eigenvalues, for a reduction; the same array as ``inverse_root`` if W was not
        factored by its eigenvectors.
    """

    eigenvalues: Array
    inverse_root: Array
    projection: Array

    @classmethod
    def of(cls, kernel: Kernel, chosen: Landmarks, dtype: np.dtype[np.floating], *, rotated: bool) -> "Factor":
        """Factor W, dropping eigenvalues below eps(dtype) times the largest; ``rotated``: no reduction will follow."""
        W, cutoff = gram_of_landmarks(kernel, chosen, dtype), float(np.finfo(dtype).eps)
        scale = 1.0 if chosen.scale is None else chosen.scale[:, None]
        if rotated and (found := triangular_inverse_root(W, cutoff)) is not None:
            root = scale * found[1]
            return cls(found[0][::-1], root, root)
        values, vectors = eigenvectors(W)
        check_spectrum(kernel, values, dtype)
        kept = values > cutoff * values[-1]
        eigenvalues = values[kept][::-1]
        projection: Array = scale * (vectors[:, kept][:, ::-1] / np.sqrt(eigenvalues))
        return cls(eigenvalues, trapezoidal(projection), projection)

    def reduced(self, kernel: Kernel, X: Rows, landmarks: Rows, rank: int | None, *, by_pca: bool) -> Array:
        """Return the projection to ``rank`` features: the inverse root itself if there are no more than that."""
        if rank is None or rank >= self.projection.shape[1]:
            return self.inverse_root
        if not by_pca:
            return np.ascontiguousarray(self.projection[:, :rank])
        directions = principal_directions(kernel, X, landmarks, self.projection, rank)
        with one_blas_thread():
            return np.asarray(self.projection @ directions)
