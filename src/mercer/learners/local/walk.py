"""Walks along one number of a choice: both ways at first, then on in the better direction while the error falls."""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar


class Judged(Protocol):
    """A choice with an error."""

    @property
    def error(self) -> float:
        """The leave-one-out error, inf before it is known."""


C = TypeVar("C", bound=Judged)
# Returns the neighbour of a choice one step up (1) or down (-1), None beyond the bounds.
Neighbour = Callable[[C, int], C | None]


def error_of(choice: Judged) -> float:
    """Return the error of a choice."""
    return choice.error


def walked(starts: Iterable[C], neighbour: Neighbour[C], tried: Callable[[list[C]], Sequence[C]]) -> list[C]:
    """Return where walks from several choices end; the next steps of all walks are tried at once.

    Both neighbours of a start are tried together, although one may do: two threads then need the time of one trial.

    >>> from dataclasses import dataclass, replace
    >>> @dataclass(frozen=True)
    ... class Number:
    ...     x: int
    ...     error: float
    >>> def known(numbers):
    ...     return [replace(number, error=abs(number.x - 5)) for number in numbers]
    >>> walked(known([Number(2, 0), Number(5, 0)]), lambda one, way: replace(one, x=one.x + way), known)
    [Number(x=5, error=0), Number(x=5, error=0)]
    """
    walks = Walks(starts, neighbour)
    while walks.steps:
        walks.take(tried(walks.steps))
    return walks.best


class Walks(Generic[C]):
    """Walks from several choices, for callers that try the steps themselves."""

    def __init__(self, starts: Iterable[C], neighbour: Neighbour[C]):
        self._walks = [_Walk(start, neighbour) for start in starts]

    @property
    def steps(self) -> list[C]:
        """The choices to try next; none where all walks have ended."""
        return [step for walk in self._walks for step in walk.steps]

    @property
    def best(self) -> list[C]:
        """The best choice of each walk so far."""
        return [walk.best for walk in self._walks]

    def take(self, found: Sequence[C]) -> None:
        """Take ``steps`` with their errors."""
        rest = iter(found)
        for walk in self._walks:
            walk.take([next(rest) for _ in walk.steps])


class _Walk(Generic[C]):
    """The best choice so far, and the steps to try next."""

    def __init__(self, start: C, neighbour: Neighbour[C]):
        self.best, self._neighbour = start, neighbour
        self._ways: list[int] = []
        self.steps: list[C] = []
        self._look((1, -1))

    def take(self, found: Sequence[C]) -> None:
        """Take the best of the steps that were tried, if it is better than what was known, and look further there."""
        ways = self._ways
        self._look(())
        if found:
            error, which = min((choice.error, which) for which, choice in enumerate(found))
            if error < self.best.error:
                self.best = found[which]
                self._look(ways[which : which + 1])

    def _look(self, ways: Iterable[int]) -> None:
        steps = [(way, step) for way in ways if (step := self._neighbour(self.best, way)) is not None]
        self._ways, self.steps = [way for way, _ in steps], [step for _, step in steps]
