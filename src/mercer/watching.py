"""Telling how far a fit is, to whoever watches: displays of progress, and callbacks of users, which may stop it.

Solvers call ``told`` once per iteration. The watchers live in a context variable, so that threads of the pool and
nested fits see them, and models hold no function.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import log


@dataclass(frozen=True)
class State:
    """How far a fit is.

    Attributes
    ----------
    stage : str
        What is being done, such as "KernelSVC: descent".
    iteration : int or None
        Iterations done, for iterative stages.
    limit : int or None
        The largest number of iterations.
    gap : float or None
        What is left to the solution, in units of ``tol``'s quantity: it falls below ``tol`` at the end.
    tol : float or None
        The gap at which the stage ends.
    note : str
        More words, for displays.
    fraction : float or None
        The part of the stage that is done, if its end is known.

    Examples
    --------
    >>> State("KernelSVC: descent", iteration=3, gap=0.02, tol=1e-4).words
    'iteration 3, gap 0.02 of 0.0001'
    """

    stage: str
    iteration: int | None = None
    limit: int | None = None
    gap: float | None = None
    tol: float | None = None
    note: str = ""
    fraction: float | None = None

    @property
    def words(self) -> str:
        """The iteration, the gap and the note."""
        parts = []
        if self.iteration is not None:
            parts.append(f"iteration {self.iteration}")
        if self.gap is not None:
            parts.append(f"gap {self.gap:.2g}" + ("" if self.tol is None else f" of {self.tol:.2g}"))
        return ", ".join([*parts, *([self.note] if self.note else [])])

    def seconds_left(self, elapsed: float, first_gap: float | None = None) -> float | None:
        """Return the time left after ``elapsed`` seconds of this stage; None if it is not known.

        The gap of an iterative stage is taken to fall by the same factor in each second.
        """
        if self.fraction is not None:
            return elapsed * (1 - self.fraction) / self.fraction if self.fraction > 0 else None
        gap, tol = self.gap, self.tol
        if gap is None or tol is None or first_gap is None or not 0 < tol < gap < first_gap:
            return None
        return elapsed * log(gap / tol) / log(first_gap / gap)


Watcher = Callable[[State], object]
_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("mercer_watchers", default=())


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call ``watcher`` with each state that is told inside the ``with`` block; True asks the solver to stop.

    >>> from mercer.watching import State, told, watching
    >>> with watching(lambda state: state.iteration == 2):
    ...     [told(State("descent", iteration=i)) for i in (1, 2)]
    [False, True]
    """
    token = _watchers.set((*_watchers.get(), watcher))
    try:
        yield
    finally:
        _watchers.reset(token)


@contextmanager
def unwatched() -> Iterator[None]:
    """Tell nobody of the states inside the ``with`` block: they are of a small part of the work.

    >>> with watching(lambda state: True), unwatched():
    ...     told(State("descent"))
    False
    """
    token = _watchers.set(())
    try:
        yield
    finally:
        _watchers.reset(token)


def is_watched() -> bool:
    """Return whether anybody watches."""
    return bool(_watchers.get())


def told(state: State) -> bool:
    """Tell all watchers a state, and return whether one of them asks to stop (by returning True)."""
    stops = False
    for watcher in _watchers.get():
        stops |= watcher(state) is True  # all of them are told, also after one that asks to stop
    return stops
