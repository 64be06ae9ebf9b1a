"""Ridge regression by products with the features, where they are sparse or D x D matrices exceed the memory."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array, Rows
from mercer.fitting import FeatureRows, SampledRows
from mercer.learners.hashing import splitmix64
from mercer.solvers import (
    Remedy,
    ShiftedSolutions,
    Solution,
    Status,
    conjugate_gradients,
    gcv_score,
    shifted_conjugate_gradients,
)
from mercer.stats import Gradient, Totals

# Random vectors of signs that estimate a trace, over the features and over the rows. With signs of features, the
# standard error of the degrees of freedom is below sqrt(2 df / 4). With few rows the trace has a few large terms.
_SIGNS, _PROBES = 4, 8
# The path ends when this many alphas below the best have converged and are worse.
_PAST_THE_BEST = 3
# The name of the solver of a path, in ``Solution.details``.
_SOLVER = "shifted conjugate gradients"


@dataclass(frozen=True)
class CentredSystem:
    """The system (G + alpha I) w = H of centred ridge regression; a product with G is a pass over the rows.

    Attributes
    ----------
    rows : FeatureRows
    right : ndarray of shape (D, n_targets + n_probes)
        H, of the targets and of the probes.
    weight : float
    n_counted : int
        Rows of weight > 0.
    feature_mean : ndarray of shape (D,)
    target_mean : ndarray of shape (n_targets + n_probes,)
    n_probes : int
        Columns of random signs next to the targets, divided by the roots of the weights.
    """

    rows: FeatureRows
    right: Array
    weight: float
    n_counted: int
    feature_mean: Array
    target_mean: Array
    n_probes: int = 0

    @property
    def n_targets(self) -> int:
        """The number of targets, probes left out."""
        return len(self.target_mean) - self.n_probes

    def product(self, direction: Array) -> Array:
        """Return G times an array of shape (D, m)."""

        def work(Z: Rows, Y: Array, weight: Array | None) -> Gradient:
            scores = self._predicted(Z, direction)
            return Gradient.of(*direction.shape).update(Z, scores if weight is None else weight[:, None] * scores)

        total: Array = self.rows.reduce("product", work, Gradient.of(*direction.shape)).vector
        return total

    def residuals(self, coefs: Array) -> Array:
        """Return the residual sums of squares (m, k) of coefficients (m, D, k) for the first k columns, in a pass."""
        m, D, k = coefs.shape
        flat = np.moveaxis(coefs, 0, 1).reshape(D, m * k)

        def work(first_row: int, Z: Rows, Y: Array, weight: Array | None) -> Totals:
            columns = _with_probes(Y, weight, first_row, self.n_probes)[:, :k] - self.target_mean[:k]
            errors = columns[:, None, :] - self._predicted(Z, flat).reshape(len(Y), m, k)
            squares = np.square(errors).reshape(len(Y), m * k)
            return Totals(squares.sum(axis=0) if weight is None else weight @ squares)

        sums: Array = self.rows.reduce_numbered("residuals", work, Totals.of(m * k)).values
        return sums.reshape(m, k)

    def _predicted(self, Z: Rows, coefs: Array) -> Array:
        predicted: Array = np.asarray(Z @ coefs.astype(Z.dtype), dtype=np.float64) - self.feature_mean @ coefs
        return predicted


def centred_system(rows: FeatureRows, target_origin: Array, *, with_probes: bool = False) -> CentredSystem:
    """Return the system of all rows; their features are held if they fit the memory budget.

    ``target_origin`` is a point near the mean of the targets: without it H would be a small difference of large sums.
    """
    rows.hold()
    n_probes = _PROBES if with_probes else 0
    origin = np.append(target_origin, np.zeros(n_probes))
    shape = rows.n_features, len(origin) + 1

    def sums(first_row: int, Z: Rows, Y: Array, weight: Array | None) -> Gradient:
        columns = _with_probes(Y, weight, first_row, n_probes) - origin
        weight = np.ones(len(Y)) if weight is None else weight
        columns = weight[:, None] * np.hstack([columns, np.ones((len(Y), 1))])
        return Gradient.of(*shape).update(Z, columns, int(np.count_nonzero(weight)))

    totals = rows.reduce_numbered("sums", sums, Gradient.of(*shape))
    weight = float(totals.constant[-1])
    mean, shift = totals.vector[:, -1] / weight, totals.constant[:-1] / weight
    right = totals.vector[:, :-1] - np.outer(totals.vector[:, -1], shift)
    return CentredSystem(rows, right, weight, int(totals.loss), mean, origin + shift, n_probes)


def _with_probes(Y: Array, weight: Array | None, first_row: int, n_probes: int) -> Array:
    """Return Y with columns of random signs, which depend on the number of the row, over the roots of the weights."""
    if not n_probes:
        return Y
    numbers = np.arange(first_row, first_row + len(Y), dtype=np.uint64)
    bits = (splitmix64(numbers)[:, None] >> np.arange(n_probes, dtype=np.uint64)) & np.uint64(1)
    signs = 2.0 * bits - 1.0
    if weight is not None:
        signs *= np.divide(1.0, np.sqrt(weight), out=np.zeros(len(Y)), where=weight > 0)[:, None]
    return np.hstack([Y, signs])


def solve_one(system: CentredSystem, alpha: float, tol: float, gain_tol: float = 0.0) -> Solution:
    """Solve for one alpha by conjugate gradients, preconditioned by the leading part of G on sampled rows."""
    inverse = SampledRows(system.rows).leading_part().inverse(system.weight, alpha)

    def product(direction: Array) -> Array:
        return np.asarray(system.product(direction) + alpha * direction)

    return conjugate_gradients(product, system.right, precondition=inverse, tol=tol, gain_tol=gain_tol)


def solve_path(system: CentredSystem, alphas: Array, n_rows: float, tol: float) -> tuple[Solution, Array, Array]:
    r"""Return the best solution by generalised cross-validation, and the scores and coefficients of all alphas.

    The remaining degrees of freedom are a trace, estimated with random signs v (Hutchinson, 1990), the same for every
    alpha. With fewer features than rows, v has one sign per feature and the estimate is
    :math:`n - D + \alpha v^T (G + \alpha I)^{-1} v`. Else v has one sign per row, and the estimate is the minimum of
    the ridge problem with target v. A separate pass measures the residuals. One sequence of conjugate gradients serves
    all alphas and signs. It ends when three alphas below the best have converged; alphas that have not converged by
    then have a score of inf.
    """
    score = _Scores(system, alphas, n_rows)
    order = np.argsort(alphas)[::-1]

    def enough(found: ShiftedSolutions) -> bool:
        falling = score(found)[order]
        return int(np.isfinite(falling).sum()) > int(np.argmin(falling)) + _PAST_THE_BEST

    right = np.hstack([system.right, score.signs])
    found = shifted_conjugate_gradients(system.product, right, alphas, tol=tol, enough=enough)
    scores, coefs = score(found), found.values[:, :, : system.n_targets]
    best = coefs[int(np.argmin(scores))]
    if found.converged.all() or enough(found):
        n_converged, n_products = int(found.converged.sum()), found.iterations
        return Solution.converged(best, _SOLVER, iterations=n_products, converged=n_converged), scores, coefs
    return _stopped(best, found, alphas), scores, coefs


def _stopped(best: Array, found: ShiftedSolutions, alphas: Array) -> Solution:
    """Return the solution of a path that ended at the limit of iterations."""
    left, remedy = f"{found.iterations} products reached no alpha", Remedy.ALPHAS
    if found.converged.any():
        least = alphas[found.converged].min()
        left = f"{found.iterations} products reached alphas down to {least:.1e}, and a better one may lie below"
        remedy = Remedy.LEAST_ALPHA
    status, n_converged = Status.ITERATION_LIMIT, int(found.converged.sum())
    return Solution.stopped(best, _SOLVER, status, left, [remedy], iterations=found.iterations, converged=n_converged)


class _Scores:
    """The scores of alphas, each measured once it has converged."""

    def __init__(self, system: CentredSystem, alphas: Array, n_rows: float):
        self._system, self._alphas, self._n_rows = system, alphas, n_rows
        n_signs = 0 if system.n_probes else _SIGNS
        self.signs = np.random.RandomState(0).choice([-1.0, 1.0], size=(len(system.right), n_signs))
        self._known, self._measured = np.full(len(alphas), np.inf), np.zeros(len(alphas), dtype=bool)

    def __call__(self, found: ShiftedSolutions) -> Array:
        new = np.flatnonzero(found.converged & ~self._measured)
        if len(new):
            system, solved = self._system, found.values[new]
            k = system.right.shape[1]
            residuals = system.residuals(solved[:, :, :k])
            for i, alpha in enumerate(self._alphas[new]):
                left = self._left(alpha, solved[i], residuals[i, system.n_targets :])
                residual = float(residuals[i, : system.n_targets].sum())
                self._known[new[i]] = gcv_score(residual, left, self._n_rows)
            self._measured[new] = True
        return self._known

    def _left(self, alpha: float, solved: Array, of_probes: Array) -> float:
        """Return the estimate of the remaining degrees of freedom."""
        system = self._system
        n_columns, D = system.right.shape[1], len(solved)
        if not system.n_probes:
            trace = alpha * float(np.einsum("ij,ij->", self.signs, solved[:, n_columns:])) / _SIGNS
            return self._n_rows - 1 - D + float(np.clip(trace, 0.0, D))
        squares = np.square(solved[:, system.n_targets : n_columns]).sum(axis=0)
        trace = float(np.mean(of_probes + alpha * squares))
        return self._n_rows - system.n_counted + min(trace, system.n_counted - 1.0)
