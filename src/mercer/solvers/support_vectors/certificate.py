"""The best weights and duals found for support vector problems, with the duality gap between them."""

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import core
from mercer._typing import Array, Rows
from mercer.parallel import for_each_block, row_blocks
from mercer.solvers.support_vectors.incumbent import Incumbent
from mercer.solvers.support_vectors.svm_dual import BoxProblems

# Rows and columns of one product: fixed, so that the bits do not depend on the threads.
_CHECK_ROWS = 4096
_SUM_COLUMNS = 512


class Certificate(Incumbent):
    """The best weights and duals of K problems on rows that are held.

    Attributes
    ----------
    duals : ndarray of shape (n, K)
        The duals with the highest dual objective.
    is_precise : bool
        Whether products are taken in float64. Large duals that cancel need more than the precision of float32
        features.
    """

    def __init__(self, Z: Rows, problems: BoxProblems):
        self._Z, self._problems = Z, problems
        self._rows, self._columns = row_blocks(Z.shape[0], _CHECK_ROWS), row_blocks(Z.shape[1], _SUM_COLUMNS)
        at_zero = np.zeros(problems.targets.shape[1])
        for rows in self._rows:
            at_zero += problems.losses(rows, np.zeros_like(problems.targets[rows])).sum(axis=0)
        super().__init__(len(at_zero), Z.shape[1] + 1)
        self.offer_zero(at_zero)
        self.duals = np.zeros_like(problems.targets, dtype=np.float64)
        self.is_precise = False

    def weights(self, duals: Array) -> Array:
        """Return the weights that belong to duals, of shape (K, D + 1), summed in float64."""
        Z, value = self._Z, np.zeros((duals.shape[1], self._Z.shape[1] + 1))
        value[:, -1] = self._problems.constant * duals.sum(axis=0)
        factors = duals.astype(self._dtype, copy=False)
        if sparse.issparse(Z):
            for rows in self._rows:
                value[:, :-1] += (Z[rows].T @ factors[rows]).T
            return value

        def work(columns: slice) -> None:
            for rows in self._rows:
                value[:, columns] += factors[rows].T @ Z[rows, columns]

        for_each_block(work, self._columns)
        return value

    def measure(self, duals: Array, value: Array | None = None, chosen: Array | None = None) -> None:
        """Measure duals, with their weights or with others, and keep what is better than all found before.

        Parameters
        ----------
        duals : ndarray of shape (n, K)
        value : ndarray of shape (K, D + 1), optional
            By default, the weights that belong to the duals. Weights from Newton steps are slightly more accurate.
        chosen : ndarray of bool of shape (K,), optional
            The problems whose weights and duals may be replaced.
        """
        of_duals = self.weights(duals)
        value = of_duals if value is None else value
        gaps, objectives = self._measured(value, duals)
        gaps += 0.5 * np.square(value - of_duals).sum(axis=1)
        higher = self.offer(value, objectives, gaps, chosen)
        self.duals[:, higher] = duals[:, higher]

    @property
    def _dtype(self) -> DTypeLike:
        return np.float64 if self.is_precise else self._Z.dtype

    def _measured(self, value: Array, duals: Array) -> tuple[Array, Array]:
        """Return each problem's sum of the gaps of its coordinates, and its objective."""
        parts = np.empty((len(self._rows), 2, len(value)))
        weights = value[:, :-1].T.astype(self._dtype)
        constant = self._problems.constant * value[:, -1]

        def work(numbered: tuple[int, slice]) -> None:
            number, rows = numbered
            scores = core.scores(self._Z[rows], weights).astype(np.float64) + constant
            parts[number, 0] = self._problems.gaps(rows, scores, duals[rows]).sum(axis=0)
            parts[number, 1] = self._problems.losses(rows, scores).sum(axis=0)

        for_each_block(work, list(enumerate(self._rows)))
        gaps, losses = parts.sum(axis=0)
        return np.maximum(gaps, 0.0), losses + 0.5 * np.einsum("kj,kj->k", value, value)
