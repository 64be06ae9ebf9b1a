"""What is asked of a bound, which inequalities are known for which map, and the inequalities that many maps share."""

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
class Task:
    """What is asked for: the rows (a sample for pairs, all for radii), the error and the probability of missing it."""

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
    """Say which inequalities hold for a map: ``rule(map, task)`` yields what each of them asks for."""
    _rules[map_class] = rule


def register_mean_square(map_class: type, mean_square: Callable[[Any, Task], MeanSquare | None]) -> None:
    """Say what bounds the mean squared error of a map, for Chebyshev's inequality on compositions of it."""
    _mean_squares[map_class] = mean_square


def candidates(chosen: FeatureMap, task: Task) -> Iterator[Components]:
    """Yield what every inequality that is known for a map asks for."""
    rule = of_nearest_ancestor(_rules, chosen)
    if rule is not None:
        yield from rule(chosen, task)


def mean_square(chosen: FeatureMap, task: Task) -> MeanSquare | None:
    """Return a bound on the mean squared error of a map, None where none is known."""
    known = of_nearest_ancestor(_mean_squares, chosen)
    return None if known is None else known(chosen, task)


def by_chebyshev(chosen: FeatureMap, task: Task) -> Iterator[Components]:
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
        if high > LARGEST_NUMBER:
            return inf
    low = max(high // 2, first - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def hoeffding(task: Task, bound: float, *, lipschitz: float = 0.0, radius: float = 0.0) -> float:
    """Return the number of independent draws, each within +-bound, whose mean is within the error.

    With a Lipschitz constant, over a net of the ball of that radius; without, for one pair.
    """
    if task.kind == "uniform":
        n_features = task.X.shape[1]
        logarithm = log(2 / task.delta) + 2 * n_features * log(1 + 8 * radius * lipschitz / task.error)
        needed = 8 * bound * bound / task.error**2 * logarithm
    else:
        needed = 2 * bound * bound / task.error**2 * log(2 / task.delta)
    return ceil(needed) if isfinite(needed) and needed < LARGEST_NUMBER else inf
