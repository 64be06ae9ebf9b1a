"""How many features for a wanted error: exact variances and concentration inequalities, each with its constants.

Throughout, delta = 1 - confidence, and D is the number of features.

- Chebyshev: P(|khat - k| >= eps) <= Var / eps^2, with the exact variance of the map.
- Hoeffding over t averaged Tensor Sketches (Pham and Pagh, 2013, Lemmas 8 and 9): one sketch lies within +-R^(2p), R
  the largest 1-norm of a row [sqrt(gamma) x, sqrt(coef0)], so P(|khat - k| >= eps) <= 2 exp(-t eps^2 / (2 R^(4p))),
  whatever the width of a sketch.
- Hoeffding over the D features of Random Maclaurin: |D Z(x) Z(y)| <= B = Q p f(p R^2), with Q the mass p^-(n+1) of the
  degrees in the distribution before it is normalised, so P(|khat - k| >= eps) <= 2 exp(-D eps^2 / (2 B^2)).
- Uniform over all rows of the ball |x|_1 <= R (Kar and Karnick, 2012, Theorem 4): the inequality at eps/2 on the pairs
  of a net of radius r = eps / (4L) in the Euclidean norm, of at most (1 + 2R/r)^d points, and the Lipschitz constant
  L of the error between them: D >= (8 B^2 / eps^2) (ln(2/delta) + 2 d ln(1 + 8 R L / eps)). For Random Maclaurin
  L = R f'(R^2) + Q p^2 sqrt(d) R f'(p R^2), from |grad Z| <= sqrt(a_N / q_N) N sqrt(d) R^(N-1); for Tensor Sketch
  L = (1 + sqrt(d)) p R^(2p-1), since a sketch is linear in each factor and bounded by the 1-norms of all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, inf, isfinite, log, sqrt
from typing import Any, NoReturn

import numpy as np
from sklearn.utils import check_random_state

from mercer._typing import Array
from mercer.features.base import as_kernel
from mercer.features.dispatch import feature_map
from mercer.features.sketches.degrees import degree_distribution, series
from mercer.features.sketches.linear import LinearFeatures
from mercer.features.sketches.maclaurin import RandomMaclaurin
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.features.sketches.variances import PairMoments, maclaurin_variance, power_sketch_variance
from mercer.kernels import DotProductKernel, Kernel, Linear, Polynomial
from mercer.validation import check_integer, check_matrix, check_real

_NAME = "components_for"
_KINDS = ("relative", "absolute", "uniform")
_SOURCES = ("exact", "bound", "paper")
_MOST = 2**62


@dataclass(frozen=True)
class Components:
    """A number of features that suffices, and why.

    Attributes
    ----------
    n_components : int
        Features in all.
    n_sketches : int
        Sketches to average (``TensorSketch(n_sketches=...)``); 1 elsewhere.
    inequality : str
        What it rests on.
    nature : str
        ``"bound"``: holds. ``"measured"``: the bound of independent frequencies, for a map whose frequencies are
        orthogonal or quasi-random, and 10 %; their variance was no larger wherever it was measured. No theorem says so.
        ``"optimistic"``: the paper's formula, which does not hold for every pair.
    alternatives : tuple of Components
        What the other inequalities ask for, where that is less than 2^62.
    """

    n_components: float
    inequality: str
    nature: str = "bound"
    n_sketches: int = 1
    alternatives: tuple["Components", ...] = ()

    def __int__(self) -> int:
        return int(self.n_components)


@dataclass(frozen=True)
class _Task:
    """What is asked for: the rows (a sample for pairs, all for radii), the error and the probability of missing it."""

    kernel: Kernel
    X: Any
    sample: Array
    error: float
    delta: float
    kind: str
    source: str
    p: float

    def targets(self) -> Array:
        """Return the error allowed for each pair of sampled rows."""
        if self.kind == "absolute":
            return np.full((len(self.sample),) * 2, self.error)
        values = np.abs(self.kernel(self.sample))
        if not values.min() > 0:
            i, j = (int(k) for k in np.argwhere(values == 0)[0])
            raise ValueError(
                f"{_NAME}: kind='relative' needs k(x, y) != 0, and sampled rows {i} and {j} give 0. "
                "Use kind='absolute'."
            )
        return self.error * values


@dataclass(frozen=True)
class MeanSquare:
    """A bound on the mean squared error of a map on the sampled pairs, as a function of the number of features."""

    at: Callable[[int], Array]
    name: str = "exact variance"
    nature: str = "bound"


Rule = Callable[[Any, _Task], Iterator[Components]]
_rules: dict[type, Rule] = {}
_mean_squares: dict[type, Callable[[Any, _Task], MeanSquare | None]] = {}


def register_bounds(map_class: type, rule: Rule) -> None:
    """Say which inequalities hold for a map: ``rule(map, task)`` yields what each of them asks for."""
    _rules[map_class] = rule


def register_mean_square(map_class: type, mean_square: Callable[[Any, _Task], MeanSquare | None]) -> None:
    """Say what bounds the mean squared error of a map, for Chebyshev's inequality on compositions of it."""
    _mean_squares[map_class] = mean_square


def components_for(
    kernel: Any,
    X: Any,
    *,
    error: float,
    confidence: float = 0.95,
    kind: str = "relative",
    method: str = "auto",
    source: str = "exact",
    p: float = 2.0,
    n_samples: int = 300,
    random_state: Any = 0,
) -> Components:
    """Return how many features make the error at most ``error`` with probability ``confidence``.

    The map is the one that ``feature_map`` makes: sums, products, multiples, normalised kernels and kernels of some
    columns are walked as it walks them. The number is the least that any applicable inequality gives; ``alternatives``
    lists the others. It is a bound: the error is usually several times smaller. ``nature`` says where it is not proved.

    Parameters
    ----------
    kernel : Kernel
    X : array, CSR matrix or data frame
        Rows like those to be mapped. Variances are taken on a sample of them, radii on all.
    error : float
    confidence : float, default=0.95
    kind : {"relative", "absolute", "uniform"}
        For each pair of rows, |khat - k| <= error * k, or <= error; or <= error for all pairs of the ball that holds X
        at once, seen or not (a bound, and a very large number). Where the kernel scales or selects columns, the ball is
        that of the scaled or selected columns. ``"relative"`` asks for much where k is near 0, as the Gaussian of
        distant rows is: take ``"absolute"`` there.
    method : str, default="auto"
        The map, as in ``feature_map``.
    source : {"exact", "bound", "paper"}
        Where Tensor Sketch's variance comes from. ``"exact"``: the closed form on the sampled pairs. ``"bound"``:
        Var <= (3^p - 1) |x|^2p |y|^2p / D, which holds for every pair. ``"paper"``: Lemmas 6 and 7 of Pham and Pagh,
        Var <= (<x,y>^2p + |x|^2p |y|^2p) / D, optimistic: the product of hashes is not 4-wise independent, and for
        x = y = 1/sqrt(d) the true D Var tends to 6, 14, 30 at p = 2, 3, 4 where the lemma says 2.
    p : float, default=2.0
        Base of Random Maclaurin's distribution of degrees.
    n_samples : int, default=300
    random_state : int, RandomState or None
        Draws the sample.

    Returns
    -------
    Components

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Polynomial
    >>> from mercer.features import components_for
    >>> X = np.random.RandomState(0).rand(50, 10)
    >>> needed = components_for(Polynomial(2), X, error=0.5, confidence=0.9)
    >>> needed.inequality, int(needed) < 10_000
    ('Chebyshev, exact variance', True)
    """
    kernel = as_kernel(_NAME, kernel, Polynomial(2))
    X = check_matrix(_NAME, "X", X)
    kernel = kernel.resolve(X)
    error = check_real(_NAME, "error", error, least=0, strict=True)
    if not 0 < confidence < 1:
        raise ValueError(f"{_NAME}: confidence must lie between 0 and 1, got {confidence!r}.")
    _check_choice("kind", kind, _KINDS)
    _check_choice("source", source, _SOURCES)
    size = min(check_integer(_NAME, "n_samples", n_samples), X.shape[0])
    rows = X[check_random_state(random_state).choice(X.shape[0], size, replace=False)]
    sample = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    chosen = feature_map(kernel, method=method)
    task = _Task(kernel, X, sample, error, 1 - confidence, kind, source, p)
    found = sorted(candidates(chosen, task), key=lambda c: c.n_components)
    finite = [candidate for candidate in found if isfinite(candidate.n_components)]
    if not finite:
        _refuse(chosen, kind, found)
    best, *others = finite
    return Components(best.n_components, best.inequality, best.nature, best.n_sketches, tuple(others))


def _refuse(chosen: Any, kind: str, void: list[Components]) -> NoReturn:
    """Say why there is no number, and what to do."""
    measure = "Measure instead: mercer.gram.approximation_error(map, X)."
    if not void and kind == "uniform":
        measure = f"The methods 'fourier', 'maclaurin' and 'tensor_sketch' have one. {measure}"
    if not void:
        raise ValueError(f"{_NAME}: no inequality is known for kind={kind!r} and {_described(chosen)}. {measure}")
    asks = f"{void[0].inequality} asks for more than 2^62 features, or for no finite number"
    milder = "kind='absolute', a" if kind == "relative" else "A"
    raise ValueError(
        f"{_NAME}: for kind={kind!r}, {asks}. Take {milder.lower()} larger error or another method. {measure}"
    )


def _described(chosen: Any) -> str:
    members = [chosen.map] if hasattr(chosen, "map") else list(getattr(chosen, "maps", None) or [])
    name = type(chosen).__name__
    return f"{name} of {', '.join(_described(member) for member in members)}" if members else name


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{_NAME}: {name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def candidates(chosen: Any, task: _Task) -> Iterator[Components]:
    """Yield what every inequality that is known for a map asks for."""
    rule = _of_ancestor(_rules, chosen)
    if rule is not None:
        yield from rule(chosen, task)


def mean_square(chosen: Any, task: _Task) -> MeanSquare | None:
    """Return a bound on the mean squared error of a map, None where none is known."""
    known = _of_ancestor(_mean_squares, chosen)
    return None if known is None else known(chosen, task)


def _of_ancestor(table: dict[type, Any], chosen: Any) -> Any:
    return next((table[ancestor] for ancestor in type(chosen).__mro__ if ancestor in table), None)


def by_chebyshev(chosen: Any, task: _Task) -> Iterator[Components]:
    """Yield what Chebyshev's inequality asks for, where a mean square is known; not for all pairs at once."""
    known = None if task.kind == "uniform" else mean_square(chosen, task)
    if known is not None:
        allowed = task.delta * task.targets() ** 2
        n = least(lambda n: bool(np.all(known.at(n) <= allowed)))
        yield Components(n, f"Chebyshev, {known.name}", known.nature)


def least(enough: Callable[[int], bool], first: int = 1) -> float:
    """Return the least number that is enough, inf beyond 2^62; more must always be enough too."""
    high = first
    while not enough(high):
        high *= 2
        if high > _MOST:
            return inf
    low = max(high // 2, first - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def hoeffding(task: _Task, bound: float, *, lipschitz: float = 0.0, radius: float = 0.0) -> float:
    """Return the number of independent draws, each within +-bound, whose mean is within the error.

    With a Lipschitz constant, over a net of the ball of that radius; without, for one pair.
    """
    if task.kind == "uniform":
        n_features = task.X.shape[1]
        logarithm = log(2 / task.delta) + 2 * n_features * log(1 + 8 * radius * lipschitz / task.error)
        needed = 8 * bound**2 / task.error**2 * logarithm
    else:
        needed = 2 * bound**2 / task.error**2 * log(2 / task.delta)
    return ceil(needed) if isfinite(needed) and needed < _MOST else inf


def _one_norm(X: Any) -> float:
    return float(np.asarray(np.abs(X).sum(axis=1)).max())


def _tensor_sketch_rule(chosen: TensorSketch, task: _Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    kernel = Polynomial(1) if isinstance(task.kernel, Linear) else task.kernel
    if task.kind != "relative" and isinstance(kernel, Polynomial):
        degree = kernel.degree
        radius = sqrt(kernel.gamma) * _one_norm(task.X) + sqrt(kernel.coef0)
        lipschitz = (1 + sqrt(task.X.shape[1])) * degree * radius ** (2 * degree - 1)
        name = f"Hoeffding over averaged sketches, 1-norm {radius:.3g} (Pham and Pagh, Lemma 9)"
        t = hoeffding(task, radius ** (2 * degree), lipschitz=lipschitz, radius=radius)
        yield Components(t, name, n_sketches=int(t) if isfinite(t) else 1)


def _tensor_sketch_mean_square(chosen: TensorSketch, task: _Task) -> MeanSquare | None:
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


def _linear_rule(chosen: LinearFeatures, task: _Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    yield Components(task.X.shape[1], "exact, one feature per column")


def _linear_mean_square(chosen: LinearFeatures, task: _Task) -> MeanSquare:
    pairs, d = PairMoments.of(task.sample, task.sample), task.sample.shape[1]
    return MeanSquare(lambda n: np.zeros_like(pairs.t) if n >= d else power_sketch_variance(pairs, 1, n))


def _maclaurin_rule(chosen: RandomMaclaurin, task: _Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    if task.kind != "relative" and isinstance(task.kernel, DotProductKernel):
        yield _maclaurin_hoeffding(task, task.kernel, series(_NAME, task.kernel, task.p, None))


def _maclaurin_mean_square(chosen: RandomMaclaurin, task: _Task) -> MeanSquare | None:
    if not isinstance(task.kernel, DotProductKernel):
        return None
    coefficients = series(_NAME, task.kernel, task.p, None)
    distribution, pairs = degree_distribution(coefficients, task.p), PairMoments.of(task.sample, task.sample)
    with np.errstate(over="ignore"):
        one = maclaurin_variance(pairs.t, pairs.rademacher, coefficients, distribution, 1)
    return MeanSquare(lambda n: one / n)


def _maclaurin_hoeffding(task: _Task, kernel: DotProductKernel, coefficients: Array) -> Components:
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
