"""The Gram matrix of the landmarks: checked, and what is taken from it to reduce the rank."""

import numpy as np
from scipy.linalg import eigh

from mercer._typing import Array, Rows
from mercer.features.nystroem.candidates import Landmarks
from mercer.kernels import Kernel, PrecomputedKernel
from mercer.parallel import for_each_block, one_blas_thread, row_blocks


def gram_matrix(K: Rows) -> Array:
    """Return the Gram matrix that ``fit`` was given, dense, refusing one that is not square or symmetric."""
    K = K if isinstance(K, np.ndarray) else np.asarray(K.toarray())
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"Nystroem: with kernel='precomputed' fit takes the square Gram matrix of the training rows, got shape "
            f"{K.shape}."
        )
    gap, size = float(np.abs(K - K.T).max()), float(np.abs(K).max())
    if gap > np.sqrt(np.finfo(K.dtype).eps) * size:
        raise ValueError(
            f"Nystroem: the precomputed Gram matrix is not symmetric: K and its transpose differ by {gap:.6g}. "
            "Pass k(X, X), or (K + K.T) / 2 if the difference is noise."
        )
    return K


def precision(kernel: Kernel, X: Rows) -> np.dtype[np.floating]:
    """Return the precision that the kernel values of these rows have."""
    if isinstance(kernel, PrecomputedKernel):
        return np.dtype(kernel.K.dtype)
    return np.dtype(X.dtype if X.dtype in (np.float32, np.float64) else np.float64)


def gram_of_landmarks(kernel: Kernel, chosen: Landmarks, dtype: np.dtype[np.floating]) -> Array:
    """Return W in float64, scaled as drawn, refusing an asymmetric or non-finite one."""
    # One thread of BLAS: some processors round a product of two threads in another way.
    with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
        W = kernel.evaluator(chosen.points, np.float64)(chosen.points)
    kernel.check_finite(W)
    gap = float(np.abs(W - W.T).max())
    if gap > np.sqrt(np.finfo(dtype).eps) * float(np.abs(W).max()):
        raise ValueError(f"Nystroem: {kernel!r} is not symmetric: k(x, y) and k(y, x) differ by {gap:.6g}.")
    W = (W + W.T) / 2
    return W if chosen.scale is None else chosen.scale[:, None] * W * chosen.scale


def check_spectrum(kernel: Kernel, values: Array, dtype: np.dtype[np.floating]) -> None:
    """Refuse a negative eigenvalue that rounding cannot explain."""
    if values[-1] <= 0:
        raise ValueError(
            f"Nystroem: {kernel!r} has no positive eigenvalue on the landmarks (the largest is {values[-1]:.6g}); "
            "there is nothing to approximate."
        )
    if values[0] < -np.sqrt(np.finfo(dtype).eps) * values[-1]:
        raise ValueError(
            f"Nystroem: {kernel!r} is not positive semi-definite: its Gram matrix on the landmarks has the eigenvalue "
            f"{values[0]:.6g} (the largest is {values[-1]:.6g}). Choose a kernel that is, or add to its diagonal."
        )


def principal_directions(kernel: Kernel, X: Rows, landmarks: Rows, projection: Array, rank: int) -> Array:
    """Return the leading eigenvectors of Z^T Z; not centred, on purpose: it is Z Z^T that is approximated."""
    columns = kernel.evaluator(landmarks, np.float64)
    blocks = row_blocks(X.shape[0])
    r = projection.shape[1]
    sums = np.zeros((r, r))
    # Blocks are added in order, so that the result does not depend on the threads: a few at a time bounds the memory.
    for start in range(0, len(blocks), 8):
        some = blocks[start : start + 8]
        parts = np.empty((len(some), r, r))

        def work(rows: slice, some: list[slice] = some, parts: Array = parts) -> None:
            Z = columns(X[rows]) @ projection
            np.matmul(Z.T, Z, out=parts[some.index(rows)])

        for_each_block(work, some)
        sums += parts.sum(axis=0)
    with one_blas_thread():
        _, vectors = eigh(sums, subset_by_index=(r - rank, r - 1), check_finite=False)
    return np.asarray(vectors[:, ::-1])


def jackknife_variance(root: Array, A: Array, B: Array) -> Array:
    """Return the jackknife's variance, given an inverse root of W and the kernel values of rows with the landmarks.

    Without landmark i the estimate falls by a_i(x) a_i(y) / B_ii, with B = W^+ and a(x) = k(x, I) B: the inverse of a
    matrix with a row and a column removed.
    """
    m = len(root)
    scale = 1 / np.einsum("ij,ij->i", root, root)
    A, B = (values @ root @ root.T for values in (A, B))
    mean = (A * scale) @ B.T / m
    squares = (A * scale) ** 2 @ (B**2).T
    return np.asarray(np.maximum((m - 1) / m * (squares - m * mean**2), 0.0))
