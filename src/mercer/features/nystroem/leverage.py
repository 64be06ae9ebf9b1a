"""Ridge leverage scores, approximated: how much each row matters to a ridge regression on the kernel."""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from mercer._typing import Array
from mercer.features.nystroem.candidates import Candidates
from mercer.kernels import Kernel
from mercer.parallel import for_each_block, row_blocks

# Eigenvalues below this part of the largest do not count as rank: rounding would decide it, and with it the ridge.
_FLAT = 1e-10


def leverage_scores(kernel: Kernel, rows: Candidates) -> Array:
    r"""Return an upper estimate of the ridge leverage score of every row.

    .. math:: \ell_i = \big(K (K + \lambda I)^{-1}\big)_{ii}

    K is replaced by a Nystroem approximation Z Z^T with as many uniform landmarks. The score is that in the span of Z
    plus what the span leaves, min(1, (k(x, x) - |z|^2) / lambda). lambda is the ridge at which Z has half as many
    degrees of freedom as landmarks.
    """
    sketch = rows.X[rows.rng.permutation(rows.n)[: rows.m]]
    values, vectors = eigh(kernel.evaluator(sketch, np.float64)(sketch))
    kept = values > _FLAT * values[-1]
    projection = vectors[:, kept] / np.sqrt(values[kept])
    columns = kernel.evaluator(sketch, np.float64)
    Z = np.empty((rows.n, int(kept.sum())))

    def work(block: slice) -> None:
        np.matmul(columns(rows.X[block]), projection, out=Z[block])

    for_each_block(work, row_blocks(rows.n))
    spectrum, U = eigh(Z.T @ Z)
    spectrum = np.maximum(spectrum, 0.0)
    ridge = _ridge_of(spectrum, 0.5 * len(spectrum))
    inside = ((Z @ U) ** 2) @ (1 / (spectrum + ridge))
    outside = np.maximum(rows.diagonal(kernel) - np.einsum("ij,ij->i", Z, Z), 0.0)
    scores: Array = inside + np.minimum(outside / ridge, 1.0)
    return scores


def _ridge_of(spectrum: Array, degrees_of_freedom: float) -> float:
    """Return the lambda at which sum s / (s + lambda) is the given number."""

    def excess(log_ridge: float) -> float:
        return float((spectrum / (spectrum + np.exp(log_ridge))).sum() - degrees_of_freedom)

    top = float(np.log(spectrum.sum() + np.finfo(float).tiny))
    low, high = top - 80, top + np.log(len(spectrum) + 1.0) + 2
    return float(np.exp(brentq(excess, low, high))) if excess(low) > 0 > excess(high) else float(np.exp(low))
