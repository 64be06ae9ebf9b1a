"""Quadratic programs of low rank in a box, with or without a sum: the duals of the plain losses."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import cho_solve

from mercer._typing import Array
from mercer.solvers.box.interior_point import Solve, interior_point, robust_factor
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.dense_rows import Design

# For programs with a fixed sum: a gap below this number, relative to the squared sum of x_i |z_i|, counts as rounding.
# The minimum of such a program may be 0, and then no gap is small relative to the minimum.
_NOISE = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LowRankProgram:
    r"""Minimise :math:`\frac12 \|\sum_i \beta_i z_i\|^2 + \sum_{si} c_{si} x_{si}` over :math:`0 \le x_{si} \le u_i`.

    Here :math:`\beta_i = \sum_s \sigma_{si} x_{si}`: there is one side s if the sign of beta is known, and two sides,
    with signs +1 and -1, if beta can have either sign.

    Attributes
    ----------
    Z : ndarray of shape (n, D)
    signs, linear : ndarray of shape (n_sides, n)
        sigma and c.
    upper : ndarray of shape (n,)
        u > 0.
    constant : float
        A further feature of each z, after those of Z.
    total : float, optional
        The sum of all x, in (0, sum of u); only with one side.
    """

    Z: Array
    signs: Array
    linear: Array
    upper: Array
    constant: float = 0.0
    total: float | None = None

    @property
    def design(self) -> Design:
        """The rows with their constant feature."""
        return Design(self.Z, self.constant)


def low_rank_program(program: LowRankProgram, *, tol: float = 1e-6, max_iter: int = 100) -> Solution:
    r"""Solve a ``LowRankProgram`` by an interior-point method.

    The equations of a step are solved for the change of :math:`w = \sum_i \beta_i z_i`, with the D x D matrix
    :math:`I + Z^T \Theta^{-1} Z` for a diagonal Theta, so that a step costs O(n D^2) time and O(D^2) memory.

    Returns
    -------
    Solution
        ``value`` is w, of shape (D + 1,). ``details["duals"]`` is beta, inside the box; ``details["guess"]`` is beta
        with the entries that will end at a bound put there. ``gap`` is the duality gap of w and beta, relative to the
        primal objective; the distance of w from the sum of beta_i z_i is included.

    References
    ----------
    M. Ferris and T. Munson, "Interior-point methods for massive support vector machines", SIAM J. Optim. 13, 2002.
    """
    share = 0.5 if program.total is None else program.total / float(program.upper.sum())
    solver = "interior point"
    if share >= 1:
        weights = program.design.weights(program.signs[0] * program.upper)
        duals = program.signs[0] * program.upper
        return Solution.converged(weights, solver, gap=0.0, duals=duals, guess=duals)
    design, back = program.design.within_span()
    noise = _NOISE * (share * float(program.upper @ design.norms())) ** 2 if program.total is not None else 0.0
    quadratic = _LowRank(design, program.signs, program.linear, program.total or 0.0, noise)
    start = np.broadcast_to(share * program.upper, program.signs.shape)
    found = interior_point(quadratic, start, program.upper, total=program.total, tol=tol, max_iter=max_iter)
    duals, guess = ((program.signs * x).sum(axis=0) for x in (found.x, found.guess))
    weights, gap = back(found.image), found.error
    if gap <= tol:
        return Solution.converged(
            weights, solver, iterations=found.iterations, history=found.history, gap=gap, duals=duals, guess=guess
        )
    return Solution.stopped(
        weights,
        solver,
        Status.ITERATION_LIMIT if found.iterations >= max_iter else Status.STALLED,
        f"{found.iterations} steps left a duality gap of {gap:.1e} of the objective",
        [Remedy.SCALE, Remedy.COST],
        iterations=found.iterations,
        history=found.history,
        gap=gap,
        duals=duals,
        guess=guess,
    )


@dataclass(frozen=True)
class _LowRank:
    """The quadratic of a ``LowRankProgram``; the image of x is w."""

    design: Design
    signs: Array
    linear: Array
    total: float
    noise: float

    def image(self, x: Array) -> Array:
        """Return w."""
        return self.design.weights((self.signs * x).sum(axis=0))

    def gradient(self, image: Array) -> Array:
        """Return sigma <z, w> + c."""
        return cast(Array, self.signs * self.design.scores(image) + self.linear)

    def factor(self, theta: Array) -> Solve:
        """Return the solver of theta x + sigma <z, w> = r, where w = sum of sigma x z + missing."""
        factor = robust_factor(self.design.shifted_gram(np.sqrt((1 / theta).sum(axis=0))))

        def solve(r: Array, missing: Array) -> tuple[Array, Array]:
            scaled = r / theta
            weights = cho_solve(factor, self.image(scaled) + missing, check_finite=False)
            return scaled - self.signs * self.design.scores(weights) / theta, weights

        return solve

    def error(self, gap: float, losses: float, image: Array, missing: Array, rho: float) -> float:
        """Return the duality gap of w and beta, relative to the primal objective at w; 0 if the gap is rounding."""
        primal = 0.5 * float(image @ image) + losses - rho * self.total
        gap += 0.5 * float(missing @ missing)
        return 0.0 if 0 <= gap <= self.noise else gap / max(abs(primal), np.finfo(float).tiny)
