"""Products of Hadamard and diagonal matrices: the projections of structured orthogonal features and Fastfood."""

import numpy as np

from mercer._typing import Array
from mercer.reference.fourier import cos_sin


def hadamard(Z: Array) -> None:
    """Replace each row z of Z (n, p), p a power of two, by H z with the unnormalised Sylvester-Hadamard matrix H."""
    n, p = Z.shape
    span = 1
    while span < p:
        pairs = Z.reshape(n, p // (2 * span), 2, span)
        top, bottom = pairs[:, :, 0].copy(), pairs[:, :, 1]
        pairs[:, :, 0] += bottom
        np.subtract(top, bottom, out=pairs[:, :, 1])
        span *= 2


def hadamard_features(
    X: Array, diagonals: Array, permutation: Array, lengths: Array, offsets: Array, scale: float, out: Array
) -> bool:
    """Overwrite out (n, D) with cosines and sines of structured projections of the dense rows of X (n, d).

    Block b of the projection is H D_s ... H D_2 P H D_1 [x, 0] with the diagonals (s, n_blocks, p), p >= d a power of
    two, and P the gather by row b of ``permutation`` (n_blocks, p), the identity where that has no rows. The blocks
    stacked, cut to m = len(lengths) projections and multiplied by ``lengths``, are the turns that ``cos_sin`` takes:
    those of the pairs, then the len(offsets) single ones. Returns whether all turns were finite.
    """
    n_stages, n_blocks, size = diagonals.shape
    n_single, m = len(offsets), len(lengths)
    n_pairs = m - n_single
    turns = np.empty((X.shape[0], n_blocks * size), dtype=out.dtype)
    for b in range(n_blocks):
        Z = np.zeros((X.shape[0], size), dtype=out.dtype)
        Z[:, : X.shape[1]] = X
        for stage in range(n_stages):
            if stage == 1 and len(permutation):
                Z = Z[:, permutation[b]]
            Z *= diagonals[stage, b]
            hadamard(Z)
        turns[:, b * size : (b + 1) * size] = Z
    out[:, :n_pairs] = turns[:, :n_pairs] * lengths[:n_pairs]
    out[:, 2 * n_pairs :] = turns[:, n_pairs:m] * lengths[n_pairs:]
    return cos_sin(out, offsets, scale)
