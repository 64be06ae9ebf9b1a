"""The trials of a search in order, and its deadline."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from mercer.learners.local.report import Trial
from mercer.parallel import on_threads

T = TypeVar("T")
R = TypeVar("R")


def timed(work: Callable[[T], R], items: Sequence[T]) -> list[tuple[R, float]]:
    """Return ``work(item)`` of each item, done on the threads side by side, with its share of the elapsed seconds."""
    start = time.monotonic()

    def one(item: T) -> tuple[R, float]:
        begun = time.monotonic()
        return work(item), time.monotonic() - begun

    found = on_threads(one, items)
    at_once = max(sum(seconds for _, seconds in found) / max(time.monotonic() - start, 1e-9), 1.0)
    return [(result, seconds / at_once) for result, seconds in found]


class OutOfTimeError(Exception):
    """The time budget of a search has ended."""


class TrialLog:
    """Keeps trials, tells of each, and knows when the time has ended.

    Parameters
    ----------
    deadline : float
        The value of ``time.monotonic`` at which the search ends; inf for none.
    tell : callable
        Called with each trial.

    Attributes
    ----------
    trials : list of Trial
    ended : str
        Why the search ended: "done", "time_budget" or "interrupted".
    """

    def __init__(self, deadline: float = np.inf, tell: Callable[[Trial], None] = lambda trial: None):
        self._deadline, self._tell = deadline, tell
        self.trials: list[Trial] = []
        self.ended = "done"

    def add(self, trial: Trial) -> None:
        """Keep a trial, and tell of it."""
        self.trials.append(trial)
        self._tell(trial)

    def note(self, step: str, what: str, error: float, start: float) -> None:
        """Keep a trial that began at ``start``, a value of ``time.monotonic``, and has just ended."""
        self.add(Trial(step, what, float(error), time.monotonic() - start))

    def is_late(self) -> bool:
        """Return whether the time has ended, which is then why the search ended."""
        late = time.monotonic() > self._deadline
        if late:
            self.ended = "time_budget"
        return late

    def check_time(self) -> None:
        """Raise ``OutOfTimeError`` once the time has ended."""
        if self.is_late():
            raise OutOfTimeError
