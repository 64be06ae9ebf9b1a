"""Ridge regression by products with the features alone: for sparse ones, and for D beyond what D x D matrices allow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.learners.rows import FeatureRows
from mercer.solvers import ShiftedSolutions, Solution, conjugate_gradients, shifted_conjugate_gradients
from mercer.stats import Gradient

# Random signs whose products estimate a trace: the error of the degrees of freedom is below sqrt(2 df / 4).
_PROBES = 4
# Alphas past the best that must have converged, and be worse, before the path ends.
_PAST_THE_BEST = 3


@dataclass(frozen=True)
class CentredSystem:
    """G and H of centred ridge regression, G by its products: a pass over the rows each.

    Attributes
    ----------
    right : ndarray of shape (D, n_targets)
        H.
    squares : ndarray of shape (n_targets,)
        The targets' sums of squares about their means.
    weight : float
    feature_mean, target_mean : ndarray
    product : function of an array of shape (D, m) that returns G times it
    """

    right: Array
    squares: Array
    weight: float
    feature_mean: Array
    target_mean: Array
    product: Callable[[Array], Array]


def centred_system(rows: FeatureRows, n_targets: int) -> CentredSystem:
    """Return the system of some rows, whose features are held if they fit the budget."""
    rows.hold()

    def sums(Z: Any, Y: Array, weight: Array | None) -> Gradient:
        ones = np.hstack([Y, np.ones((len(Y), 1))])
        weighted = ones if weight is None else weight[:, None] * ones
        return Gradient.of(rows.n_features, n_targets + 1).update(Z, weighted, np.sum(weighted * ones, axis=0))

    totals = rows.reduce("sums", sums, Gradient.of(rows.n_features, n_targets + 1))
    weight = float(totals.constant[-1])
    mean, target_mean = totals.vector[:, -1] / weight, totals.constant[:-1] / weight
    right = totals.vector[:, :-1] - np.outer(totals.vector[:, -1], target_mean)
    squares = np.maximum(totals.loss[:-1] - totals.constant[:-1] * target_mean, 0.0)

    def product(direction: Array) -> Array:
        def work(Z: Any, Y: Array, weight: Array | None) -> Gradient:
            scores = Z @ direction.astype(Z.dtype) - mean @ direction
            return Gradient.of(*direction.shape).update(Z, scores if weight is None else weight[:, None] * scores)

        total: Array = rows.reduce("product", work, Gradient.of(*direction.shape)).vector
        return total

    return CentredSystem(right, squares, weight, mean, target_mean, product)


def solve_one(system: CentredSystem, alpha: float, tol: float) -> Solution:
    """Solve for one alpha by conjugate gradients."""
    return conjugate_gradients(lambda v: np.asarray(system.product(v) + alpha * v), system.right, tol=tol)


def solve_path(system: CentredSystem, alphas: Array, n_rows: float, tol: float) -> tuple[Solution, Array, Array]:
    r"""Return the best solution by generalised cross-validation, the scores and coefficients of all alphas.

    The degrees of freedom are :math:`D - \alpha \, \mathrm{tr}(G + \alpha I)^{-1}`, the trace estimated by
    :math:`v^T (G + \alpha I)^{-1} v` for random signs v (Hutchinson, 1990), always the same ones. The products of one
    sequence of conjugate gradients serve all alphas and signs. It ends where the scores have passed their least by
    three alphas; those that have not converged by then have a score of inf.
    """
    D, n_targets = system.right.shape
    signs = np.random.RandomState(0).choice([-1.0, 1.0], size=(D, _PROBES))
    order = np.argsort(alphas)[::-1]

    def score(alpha: float, solved: Array) -> float:
        coef, images = solved[:, :n_targets], solved[:, n_targets:]
        explained = np.einsum("ij,ij->j", system.right + alpha * coef, coef)
        residual = np.maximum(system.squares - explained, 0.0).sum()
        freedom = np.clip(D - alpha * np.einsum("ij,ij->", signs, images) / _PROBES, 0.0, D)
        left = n_rows - freedom - 1
        return float(n_rows * residual / left**2) if left > 0 else np.inf

    def scores(found: ShiftedSolutions) -> Array:
        pairs = zip(alphas, found.values, found.converged, strict=True)
        return np.array([score(alpha, solved) if ready else np.inf for alpha, solved, ready in pairs])

    def enough(found: ShiftedSolutions) -> bool:
        falling = scores(found)[order]
        return int(np.isfinite(falling).sum()) > int(np.argmin(falling)) + _PAST_THE_BEST

    found = shifted_conjugate_gradients(
        system.product, np.hstack([system.right, signs]), alphas, tol=tol, enough=enough
    )
    known = scores(found)
    best = int(np.argmin(known))
    details = {"solver": "shifted conjugate gradients", "converged": int(found.converged.sum())}
    coefs = found.values[:, :, :n_targets]
    status, advice = "success", ""
    if not found.converged.any():
        status, advice = "iteration limit", f"{found.iterations} products reached no alpha: give larger alphas."
    elif not found.converged.all() and not enough(found):
        reached = f"{found.iterations} products reached alphas down to {alphas[found.converged].min():.1e}"
        status, advice = "iteration limit", f"{reached}, and a better one may lie below: raise the least of alphas."
    return Solution(coefs[best], status, found.iterations, (), advice, details), known, coefs
