"""The task of a bound, the table of inequalities per map, and the inequalities that many maps share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, inf, isfinite, log
from typing import Any

import numpy as np

from mercer._typing import Array, Rows
from mercer.features.base import FeatureMap
from mercer.features.registry import of_nearest_ancestor
from mercer.kernels import Kernel

NAME = "components_for"
LARGEST_NUMBER = 2**62


@dataclass(frozen=True)
class Components:
    """A sufficient number of features, and the inequality that gives the number.

    Attributes
    ----------
    n_components : int
        Total number of features.
    n_sketches : int
        Number of sketches to average (``TensorSketch(n_sketches=...)``); 1 for other maps.
    inequality : str
        The inequality that gives ``n_components``.
    nature : str
        ``"bound"``: proved. ``"measured"``: the bound of independent frequencies plus 10 %, for a map with orthogonal
        or quasi-random frequencies; in all measurements their variance was no larger, but there is no theorem.
        ``"optimistic"``: the paper's formula, which does not hold for every pair.
    alternatives : tuple of Components
        The numbers of the other inequalities, if less than 2^62.
    """

    n_components: float
    inequality: str
    nature: str = "bound"
    n_sketches: int = 1
    alternatives: tuple["Components", ...] = ()

    def __int__(self) -> int:
        return int(self.n_components)


@dataclass(frozen=True)
class Task:
    """The task of a bound: the rows (a sample for pairs, all for radii), the error and the probability of failure."""

    kernel: Kernel
    X: Rows
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
                f"{NAME}: kind='relative' needs k(x, y) != 0, and sampled rows {i} and {j} give 0. Use kind='absolute'."
            )
        return self.error * values


@dataclass(frozen=True)
class MeanSquare:
    """A bound on the mean squared error of a map on the sampled pairs, as a function of the number of features."""

    at: Callable[[int], Array]
    name: str = "exact variance"
    nature: str = "bound"


Rule = Callable[[Any, Task], Iterator[Components]]
_rules: dict[type, Rule] = {}
_mean_squares: dict[type, Callable[[Any, Task], MeanSquare | None]] = {}


def register_bounds(map_class: type, rule: Rule) -> None:
    """Register the inequalities of a map: ``rule(map, task)`` yields the number of features by each inequality."""
    _rules[map_class] = rule


def register_mean_square(map_class: type, mean_square: Callable[[Any, Task], MeanSquare | None]) -> None:
    """Register a bound of the mean squared error of a map, for Chebyshev's inequality on composed maps."""
    _mean_squares[map_class] = mean_square


def candidates(chosen: FeatureMap, task: Task) -> Iterator[Components]:
    """Yield the number of features by each known inequality of a map."""
    rule = of_nearest_ancestor(_rules, chosen)
    if rule is not None:
        yield from rule(chosen, task)


def mean_square(chosen: FeatureMap, task: Task) -> MeanSquare | None:
    """Return a bound on the mean squared error of a map, or None if no bound is known."""
    known = of_nearest_ancestor(_mean_squares, chosen)
    return None if known is None else known(chosen, task)


def by_chebyshev(chosen: FeatureMap, task: Task) -> Iterator[Components]:
    """Yield the number of features by Chebyshev's inequality, if a mean square is known and kind is not uniform."""
    known = None if task.kind == "uniform" else mean_square(chosen, task)
    if known is not None:
        allowed = task.delta * task.targets() ** 2
        n = least(lambda n: bool(np.all(known.at(n) <= allowed)))
        yield Components(n, f"Chebyshev, {known.name}", known.nature)


def least(enough: Callable[[int], bool], first: int = 1) -> float:
    """Return the smallest sufficient number, or inf above 2^62; every larger number must be sufficient too."""
    high = first
    while not enough(high):
        high *= 2
        if high > LARGEST_NUMBER:
            return inf
    low = max(high // 2, first - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def hoeffding(task: Task, bound: float, *, lipschitz: float = 0.0, radius: float = 0.0) -> float:
    """Return the number of independent draws, each within +-bound, whose mean is within the error.

    With a Lipschitz constant the result holds for all pairs in a ball, by a net of its points; without, for one pair.
    """
    if task.kind == "uniform":
        n_features = task.X.shape[1]
        logarithm = log(2 / task.delta) + 2 * n_features * log(1 + 8 * radius * lipschitz / task.error)
        needed = 8 * bound * bound / task.error**2 * logarithm
    else:
        needed = 2 * bound * bound / task.error**2 * log(2 / task.delta)
    return ceil(needed) if isfinite(needed) and needed < LARGEST_NUMBER else inf
