"""Hinge and insensitive losses in passes over blocks: averaged Pegasos, with a duality gap that costs no memory."""

from collections.abc import Callable, Iterable

import numpy as np

from mercer._typing import Array, Rows
from mercer.checkpoints import LoopState, resumable
from mercer.solvers.scores import linear_scores
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.incumbent import Incumbent
from mercer.solvers.support_vectors.svm_dual import PLAIN_LOSSES, check_loss

TAKES = PLAIN_LOSSES

# Rows per step.
_BATCH_ROWS = 64
# The gap is first measured after this number of passes, and again whenever the number has grown 1.5 times: each
# measurement is one more pass.
_FIRST_LOOK = 3
_LOOK_GROWTH = 1.5


def pegasos(
    passes: Callable[[], Iterable[tuple[Rows, Array, Array | None]]],
    shape: tuple[int, int],
    n_rows: int,
    *,
    C: float,
    loss: str,
    epsilon: float = 0.0,
    tol: float = 1e-2,
    max_iter: int = 100,
) -> Solution:
    r"""Minimise :math:`\frac12 \|w\|^2 + C \sum_i c_i \ell(t_i, \langle w, z_i \rangle)` for each column of targets.

    Steps of length 1/t along the subgradients of few rows keep :math:`w = G / \tau`, where G sums
    :math:`C c_i \sigma_i z_i` over the visits that found a loss (sigma its sign) and tau counts the passes, from 1 on.
    So :math:`\beta_i = C c_i \sum \sigma_i / \tau` lies in the box of the dual at every moment, w is the sum of
    :math:`\beta_i z_i`, and the dual objective needs only two running sums. The iterates are averaged with weights t,
    dual and primal alike. The average with the lowest objective is returned, or w = 0 if its objective is lowest.

    Parameters
    ----------
    passes : function
        Each call yields ``(Z, Y, weight)`` of all blocks of rows; weight is None where all are 1.
    shape : (n_features, n_targets)
    n_rows : int
    C : float
    loss : one of ``TAKES``
        "hinge", of targets +1 and -1, or "epsilon_insensitive".
    epsilon : float
    tol : float
        Largest relative duality gap. The gap falls as 1 / passes: 0.02 to 0.05 is realistic, 1e-4 is not.
    max_iter : int
        Largest number of passes, without those that measure the gap.

    Returns
    -------
    Solution
        ``value`` (n_targets, n_features + 1), the intercept, weight of a constant feature, last.

    References
    ----------
    S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos: primal estimated sub-gradient solver for SVM",
    Math. Programming 127, 2011. S. Lacoste-Julien, M. Schmidt and F. Bach, "A simpler approach to obtaining an O(1/t)
    convergence rate for the projected stochastic subgradient method", 2012.
    """
    kind = check_loss("pegasos", loss, TAKES)
    state = _State(shape[1], shape[0], n_rows, C, kind.one_sided, epsilon if not kind.one_sided else 0.0)
    history, look, number = list[float](), _FIRST_LOOK, 0
    with resumable("averaged Pegasos", in_place=True) as loop:
        if loop.state is not None:
            history, look, number = loop.state["history"], loop.state["look"], loop.state["number"]
            state.restore(loop.state["state"])
        while True:
            loop.advance(
                {"history": history, "look": look, "number": number, "state": state.kept}, at=f"pass {number + 1}"
            )
            if number == max_iter or (history and history[-1] <= tol):
                break
            number += 1
            for Z, Y, weight in passes():
                state.update(Z, Y, weight)
            if number in (look, max_iter):
                look = max(look + 1, int(look * _LOOK_GROWTH))
                state.measure(passes())
                history.append(float(state.best.relative_gaps.max()))
    gap, passes_made = history[-1], number + len(history)
    found = Solution.converged(
        state.best.value, "averaged pegasos", iterations=number, history=history, gap=gap, passes=passes_made
    )
    if gap <= tol:
        return found
    left = f"{max_iter} passes left a duality gap of {gap:.1e} of the objective, and {tol:g} was asked for"
    remedies = [Remedy.MEMORY, Remedy.SQUARED_LOSS, Remedy.COST]
    return found.unfinished(Status.ITERATION_LIMIT, left, remedies)


class _State:
    """The sums that make w and its dual, and their running means."""

    def __init__(self, n_targets: int, n_features: int, n_rows: int, C: float, one_sided: bool, epsilon: float):
        self.n_rows, self.C, self.one_sided, self.epsilon = n_rows, C, one_sided, epsilon
        self.sum = np.zeros((n_targets, n_features + 1))
        self.sum_linear = np.zeros(n_targets)  # of t beta - epsilon |beta|, times tau
        self.mean, self.mean_linear = np.zeros_like(self.sum), np.zeros(n_targets)
        self.tau, self.steps = 1.0, 0
        self.rng = np.random.RandomState(0)
        self.best = Incumbent(*self.sum.shape)

    @property
    def kept(self) -> LoopState:
        """What the next pass depends on, for a checkpoint."""
        best = (self.best.value, self.best.objectives, self.best.gaps)
        return {**{name: value for name, value in vars(self).items() if name != "best"}, "best": best}

    def restore(self, kept: LoopState) -> None:
        """Take over what ``kept`` returned in another process."""
        self.best.value, self.best.objectives, self.best.gaps = kept["best"]
        vars(self).update({name: value for name, value in kept.items() if name != "best"})

    def update(self, Z: Rows, Y: Array, weight: Array | None) -> None:
        """Step along the rows of a block, a few together, in random order."""
        order = self.rng.permutation(len(Y))
        for start in range(0, len(Y), _BATCH_ROWS):
            batch = order[start : start + _BATCH_ROWS]
            self._step(Z[batch], Y[batch], None if weight is None else weight[batch])

    def _step(self, Z: Rows, Y: Array, weight: Array | None) -> None:
        scores = _scores(Z, self.sum / self.tau)
        residual = Y - scores
        if self.one_sided:
            signs = np.where(Y * residual > 0, Y, 0.0)
        else:
            signs = np.where(np.abs(residual) > self.epsilon, np.sign(residual), 0.0)
        signs *= self.C if weight is None else self.C * weight[:, None]
        self.sum[:, :-1] += (Z.T @ signs.astype(Z.dtype)).T
        self.sum[:, -1] += signs.sum(axis=0)
        self.sum_linear += np.sum(Y * signs - self.epsilon * np.abs(signs), axis=0)
        self.tau += len(Y) / self.n_rows
        self.steps += 1
        share = 2.0 / (self.steps + 1)
        self.mean += share * (self.sum / self.tau - self.mean)
        self.mean_linear += share * (self.sum_linear / self.tau - self.mean_linear)

    def measure(self, blocks: Iterable[tuple[Rows, Array, Array | None]]) -> None:
        """Measure the means and w = 0 in one pass, and keep the best point."""
        losses, at_zero = np.zeros((2, len(self.mean)))
        for Z, Y, weight in blocks:
            losses += self._losses(Y, _scores(Z, self.mean), weight)
            at_zero += self._losses(Y, np.zeros_like(Y), weight)
        self.best.offer_zero(self.C * at_zero)
        squares = np.einsum("kj,kj->k", self.mean, self.mean) / 2
        primal = squares + self.C * losses
        self.best.offer(self.mean, primal, np.maximum(primal + squares - self.mean_linear, 0.0))

    def _losses(self, Y: Array, scores: Array, weight: Array | None) -> Array:
        residual = Y - scores
        excess = np.maximum(Y * residual if self.one_sided else np.abs(residual) - self.epsilon, 0.0)
        return np.asarray(excess.sum(axis=0) if weight is None else weight @ excess)


def _scores(Z: Rows, value: Array) -> Array:
    return linear_scores(Z, value[:, :-1].T, value[:, -1])
