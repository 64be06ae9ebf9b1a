"""Cosines and sines of turns, the last step of every Fourier feature map; and of dense projections."""

import numpy as np

from mercer._typing import Array


def cos_sin(out: Array, offsets: Array, scale: float) -> bool:
    """Replace turns t in ``out`` (n, D) by scale * cos(2 pi t) and scale * sin(2 pi t).

    With p pairs and s single features, D = 2p + s and s = len(offsets): columns [0, p) hold the turns of the pairs and
    become their cosines, columns [p, 2p) become their sines, and column 2p + i, turns too, becomes
    scale * cos(2 pi (t + offsets[i])). Returns whether all turns were finite.
    """
    n_pairs = (out.shape[1] - len(offsets)) // 2
    finite = bool(np.isfinite(out[:, :n_pairs]).all() and np.isfinite(out[:, 2 * n_pairs :]).all())
    if n_pairs:
        turns = out[:, :n_pairs].astype(np.float64)
        out[:, n_pairs : 2 * n_pairs] = scale * _cosine(turns, quarter=3)
        out[:, :n_pairs] = scale * _cosine(turns, quarter=0)
    if len(offsets):
        turns = out[:, 2 * n_pairs :].astype(np.float64)
        out[:, 2 * n_pairs :] = scale * _cosine(_fraction(turns) + offsets, quarter=0)
    return finite


def fourier_features(X: Array, W: Array, offsets: Array, scale: float, out: Array) -> bool:
    """Overwrite out (n, 2p + s) with cosines and sines of the turns X W, W (d, p + s), in the layout of ``cos_sin``."""
    n_pairs = W.shape[1] - len(offsets)
    if n_pairs:
        np.matmul(X, W[:, :n_pairs], out=out[:, :n_pairs])
    if len(offsets):
        np.matmul(X, W[:, n_pairs:], out=out[:, 2 * n_pairs :])
    return cos_sin(out, offsets, scale)


def _fraction(turns: Array) -> Array:
    return turns - np.rint(turns)


def _cosine(turns: Array, quarter: int) -> Array:
    """Return cos(2 pi (t + quarter / 4)), computed from the nearest quarter turn: rounding 2 pi t would lose digits."""
    r = _fraction(turns)
    nearest = np.rint(4 * r)
    angle = 2 * np.pi * (r - nearest / 4)
    k = (nearest.astype(np.int64) + quarter) % 4
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.asarray(np.choose(k, [cosine, -sine, -cosine, sine]))
