"""Support vector problems by LIBLINEAR in scikit-learn: used if the core was not compiled."""

from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, LinearSVR

from mercer._typing import Array, Rows
from mercer.solvers.scores import linear_scores
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.svm_dual import LOSSES, BoxProblems, check_loss

TAKES = frozenset(LOSSES)


def liblinear(
    Z: Rows, targets: Array, cost: Array, *, loss: str, epsilon: float = 0.0, tol: float = 1e-4, max_iter: int = 1000
) -> Solution:
    r"""Minimise :math:`\frac12 \|w_k\|^2 + \sum_i c_i \ell(t_{ik}, \langle w_k, z_i \rangle)`, one problem at a time.

    The objective is that of ``coordinate_descent``. ``tol`` is the tolerance of LIBLINEAR on the projected gradient; no
    duality gap is known. A problem whose weights are worse than w = 0 gets w = 0, and the status says so.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (n, D)
    targets : ndarray of shape (n, K)
    cost : ndarray of shape (n,)
    loss : one of ``TAKES``
    epsilon, tol, max_iter : see ``sklearn.svm.LinearSVR``

    Returns
    -------
    Solution
        ``value`` (K, D + 1), the weight of the constant feature last.

    References
    ----------
    R.-E. Fan et al., "LIBLINEAR: a library for large linear classification", JMLR 9, 2008.
    """
    kind = check_loss("liblinear", loss, TAKES)
    options = {"loss": loss, "dual": True, "tol": tol, "max_iter": max_iter, "random_state": 0}
    value = np.zeros((targets.shape[1], Z.shape[1] + 1))
    epochs = 0
    for k, target in enumerate(targets.T):
        model = LinearSVC(**options) if kind.one_sided else LinearSVR(epsilon=epsilon, **options)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # the status says so
            model.fit(Z, target, cost)
        value[k, :-1], value[k, -1] = np.ravel(model.coef_), np.ravel(model.intercept_)[0]
        epochs = max(epochs, int(model.n_iter_))
    problems = BoxProblems.of(loss, targets, cost, epsilon=epsilon)
    scores, every = linear_scores(Z, value[:, :-1].T, value[:, -1]), slice(0, len(targets))
    objectives = problems.losses(every, scores).sum(axis=0) + 0.5 * np.einsum("kj,kj->k", value, value)
    worse = ~(objectives <= problems.losses(every, np.zeros_like(scores)).sum(axis=0))
    value[worse] = 0.0
    solver, remedies = "liblinear", [Remedy.MAX_ITER_OR_TOL, Remedy.COST, Remedy.SCALE]
    if epochs >= max_iter:
        left, status = f"{max_iter} epochs were not enough", Status.ITERATION_LIMIT
        return Solution.stopped(value, solver, status, left, remedies, iterations=epochs)
    if worse.any():
        left, status = f"{epochs} epochs ended with a larger objective than w = 0 has", Status.STALLED
        return Solution.stopped(value, solver, status, left, remedies, iterations=epochs)
    return Solution.converged(value, solver, iterations=epochs)
