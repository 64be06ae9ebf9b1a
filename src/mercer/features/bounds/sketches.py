"""The number of features that maps of dot-product kernels need for a given error: the inequalities and constants.

Throughout, delta = 1 - confidence, and D is the number of features.

- Chebyshev: P(|khat - k| >= eps) <= Var / eps^2, with the exact variance of the map.
- Hoeffding over t averaged Tensor Sketches (Pham and Pagh, 2013, Lemmas 8 and 9): one sketch lies within +-R^(2p),
  where R is the largest 1-norm of a row [sqrt(gamma) x, sqrt(coef0)]. So
  P(|khat - k| >= eps) <= 2 exp(-t eps^2 / (2 R^(4p))) for any width of a sketch.
- Hoeffding over the D features of Random Maclaurin: |D Z(x) Z(y)| <= B = Q p f(p R^2), where Q is the sum of p^-(n+1)
  over the degrees in the distribution. So P(|khat - k| >= eps) <= 2 exp(-D eps^2 / (2 B^2)).
- Uniform over all rows of the ball |x|_1 <= R (Kar and Karnick, 2012, Theorem 4): the inequality at eps/2 on the pairs
  of a net of radius r = eps / (4L) in the Euclidean norm, with at most (1 + 2R/r)^d points, and a Lipschitz constant L
  of the error between the points: D >= (8 B^2 / eps^2) (ln(2/delta) + 2 d ln(1 + 8 R L / eps)). For Random Maclaurin
  L = R f'(R^2) + Q p^2 sqrt(d) R f'(p R^2), from |grad Z| <= sqrt(a_N / q_N) N sqrt(d) R^(N-1). For Tensor Sketch
  L = (1 + sqrt(d)) p R^(2p-1), since a sketch is linear in each factor and bounded by the product of the 1-norms.
"""

from collections.abc import Iterator
from math import inf, isfinite, sqrt

import numpy as np

from mercer._typing import Array, Rows
from mercer.features.bounds.rules import (
    NAME,
    Components,
    MeanSquare,
    Task,
    by_chebyshev,
    hoeffding,
    register_bounds,
    register_mean_square,
)
from mercer.features.sketches.degrees import degree_distribution, series
from mercer.features.sketches.linear import LinearFeatures
from mercer.features.sketches.maclaurin import RandomMaclaurin
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.features.sketches.variances import PairMoments, maclaurin_variance, power_sketch_variance
from mercer.kernels import DotProductKernel, Linear, Polynomial


def _one_norm(X: Rows) -> float:
    return float(np.asarray(np.abs(X).sum(axis=1)).max())


def _tensor_sketch_rule(chosen: TensorSketch, task: Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    kernel = Polynomial(1) if isinstance(task.kernel, Linear) else task.kernel
    if task.kind != "relative" and isinstance(kernel, Polynomial):
        degree = kernel.degree
        radius = sqrt(kernel.gamma) * _one_norm(task.X) + sqrt(kernel.coef0)
        lipschitz = (1 + sqrt(task.X.shape[1])) * degree * radius ** (2 * degree - 1)
        name = f"Hoeffding over averaged sketches, 1-norm {radius:.3g} (Pham and Pagh, Lemma 9)"
        t = hoeffding(task, radius ** (2 * degree), lipschitz=lipschitz, radius=radius)
        yield Components(t, name, n_sketches=int(t) if isfinite(t) else 1)


def _tensor_sketch_mean_square(chosen: TensorSketch, task: Task) -> MeanSquare | None:
    kernel = Polynomial(1) if isinstance(task.kernel, Linear) else task.kernel
    if not isinstance(kernel, Polynomial):
        return None
    degree = kernel.degree
    pairs = PairMoments.affine(task.sample, task.sample, kernel.gamma, kernel.coef0)
    if task.source == "exact":
        return MeanSquare(lambda n: power_sketch_variance(pairs, degree, n))
    if task.source == "bound":
        return MeanSquare(lambda n: (3**degree - 1) * pairs.N**degree / n, "Var <= (3^p - 1) N^p / D")
    printed = pairs.t ** (2 * degree) + pairs.N**degree
    return MeanSquare(lambda n: printed / n, "variance of Pham and Pagh's Lemma 6", "optimistic")


def _linear_rule(chosen: LinearFeatures, task: Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    yield Components(task.X.shape[1], "exact, one feature per column")


def _linear_mean_square(chosen: LinearFeatures, task: Task) -> MeanSquare:
    pairs, d = PairMoments.of(task.sample, task.sample), task.sample.shape[1]
    return MeanSquare(lambda n: np.zeros_like(pairs.t) if n >= d else power_sketch_variance(pairs, 1, n))


def _maclaurin_rule(chosen: RandomMaclaurin, task: Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    if task.kind != "relative" and isinstance(task.kernel, DotProductKernel):
        yield _maclaurin_hoeffding(task, task.kernel, series(NAME, task.kernel, task.p, None))


def _maclaurin_mean_square(chosen: RandomMaclaurin, task: Task) -> MeanSquare | None:
    if not isinstance(task.kernel, DotProductKernel):
        return None
    coefficients = series(NAME, task.kernel, task.p, None)
    distribution, pairs = degree_distribution(coefficients, task.p), PairMoments.of(task.sample, task.sample)
    with np.errstate(over="ignore"):
        one = maclaurin_variance(pairs.t, pairs.rademacher, coefficients, distribution, 1)
    return MeanSquare(lambda n: one / n)


def _maclaurin_hoeffding(task: Task, kernel: DotProductKernel, coefficients: Array) -> Components:
    radius, p = _one_norm(task.X), task.p
    name = f"Hoeffding over features, 1-norm {radius:.3g} (Kar and Karnick, Theorem 4)"
    if p * radius**2 >= kernel.radius:  # f(p R^2) diverges: the features are not bounded
        return Components(inf, name)
    degrees = np.arange(len(coefficients))
    mass = float(np.sum(p ** -(degrees[coefficients > 0] + 1.0)))
    with np.errstate(over="ignore"):
        bound = mass * p * float(np.polynomial.polynomial.polyval(p * radius**2, coefficients))
        slope = np.polynomial.polynomial.polyder(coefficients)
        at_p, at_1 = (float(np.polynomial.polynomial.polyval(q * radius**2, slope)) for q in (p, 1.0))
    lipschitz = radius * at_1 + mass * p**2 * sqrt(task.X.shape[1]) * radius * at_p
    return Components(hoeffding(task, bound, lipschitz=lipschitz, radius=radius), name)


register_bounds(TensorSketch, _tensor_sketch_rule)
register_bounds(RandomMaclaurin, _maclaurin_rule)
register_bounds(LinearFeatures, _linear_rule)
register_mean_square(TensorSketch, _tensor_sketch_mean_square)
register_mean_square(RandomMaclaurin, _maclaurin_mean_square)
register_mean_square(LinearFeatures, _linear_mean_square)
