"""Checkpoints of a fit: the record of what it has found so far, from which a new process continues with the same bits.

A fit is a sequence of steps: passes over the rows, whose results are small statistics, and loops of solvers between
them. The random numbers come from seeds, so a fit that begins again repeats its steps exactly. A ``Recorder`` keeps the
result of each step, and the state of the step that is running. A new process runs the same code, and takes the results
of the steps that are done from the record in place of reading the rows again.

This module knows neither files nor statistics. ``mercer.storage.checkpoints`` writes records to files, and
``config_context(checkpoint=...)`` carries the object that does so.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, TypeVar

T = TypeVar("T")
# What a loop or a pass needs in order to continue, by name.
LoopState: TypeAlias = dict[str, Any]

# How far a step is: done, with its result; begun; or a loop, with the state of its last iteration.
DONE, BEGUN, LOOP = "done", "begun", "loop"
# Most differences that a refusal names.
_MOST_NAMED = 3


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return in words which facts are others than before; the empty text if none is.

    >>> changes({"the number of rows": "5"}, {"the number of rows": "6"})
    'the number of rows was 5 and is 6 now'
    """
    found = [
        f"{name} was {before.get(name, 'not there')} and is {now.get(name, 'not there')} now"
        for name in dict.fromkeys([*now, *before])
        if before.get(name) != now.get(name)
    ]
    more = f", and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return "; ".join(found[:_MOST_NAMED]) + more


class CheckpointError(ValueError):
    """A checkpoint that belongs to another fit, or that cannot be used."""


class CheckpointWarning(UserWarning):
    """A checkpoint that is damaged, or could not be written."""


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM has ended a fit whose checkpoint is on the disk; ``place`` says where, ``signal`` by what."""

    def __init__(self, message: str, place: str, signal: int):
        super().__init__(message)
        self.place, self.signal = place, signal


@dataclass
class Step:
    """One step of a fit: its title, how far it is, its result or state, and where it is in words."""

    title: str
    progress: str = BEGUN
    value: Any = None
    at: str = ""


class Slot(Protocol):
    """Where the record of one fit is kept."""

    @property
    def place(self) -> str:
        """Where the record is kept, for messages."""

    def load(self) -> list[Step]:
        """Return the newest record that is sound; no steps where there is none."""

    def save(self, steps: list[Step]) -> None:
        """Keep a record in place of older ones."""

    def clear(self) -> None:
        """Forget all records of this fit."""

    def release(self) -> None:
        """Let another process continue this fit."""

    def holds(self, value: object) -> bool:
        """Return whether records may hold objects of this class."""


class Checkpoints(Protocol):
    """The setting ``checkpoint``: one slot per fit, in the order of the fits."""

    every: float

    def slot(self, owner: str) -> Slot:
        """Return the slot of the next fit."""


class Recorder:
    """The record of a running fit.

    Parameters
    ----------
    owner : str
        The name that messages begin with.
    slot : Slot
    every : float
        Seconds between two writes.
    clock : function
    """

    def __init__(self, owner: str, slot: Slot, every: float, clock: Callable[[], float] = time.monotonic):
        self._owner, self._slot, self._every, self._clock = owner, slot, every, clock
        self.steps = slot.load()
        self._next = 0
        self._saved = clock()
        self._thread = threading.get_ident()
        self.n_in_place = 0
        self.stop_signal: int | None = None
        self.knows_data = False
        self.resumed_at = _place_of(self.steps)

    @property
    def is_mine(self) -> bool:
        """Whether this thread runs the fit: other threads do parts of its steps."""
        return threading.get_ident() == self._thread

    @property
    def is_due(self) -> bool:
        """Whether it is time to write a record."""
        return self.stop_signal is not None or self._clock() - self._saved >= self._every

    def holds(self, value: object) -> bool:
        """Return whether records may hold objects of this class."""
        return self._slot.holds(value)

    def same(self, what: str, facts: Mapping[str, str]) -> None:
        """Record facts about this fit; refuse a record with other facts, and name them."""
        number = self._begin(what)
        if self.steps[number].progress == BEGUN:
            self.steps[number] = Step(what, DONE, dict(facts))
            return
        if changed := changes(self.steps[number].value, facts):
            raise CheckpointError(
                f"{self._owner}: {self._slot.place} is the checkpoint of another fit: {changed}. Repeat the fit as it "
                "was, give another folder, or delete this checkpoint to begin again."
            )

    def result(self, title: str, compute: Callable[[], T]) -> T:
        """Return the recorded result of a step, else compute and record it; the steps inside are then forgotten."""
        number = self._begin(title)
        if self.steps[number].progress == DONE:
            recorded: T = self.steps[number].value
            return recorded
        found = compute()
        self.end_step(number, found)
        if not self.n_in_place:  # else the state of a loop is being changed
            self.save_if_due()
        return found

    def loop(self, title: str, *, in_place: bool = False) -> "Loop":
        """Return the record of a loop; see ``resumable``."""
        number = self._begin(title)
        self.steps[number].progress = LOOP
        return Loop(self, number, in_place=in_place)

    def begin_pass(self, title: str) -> "PassRecord":
        """Return the record of a pass over the rows."""
        return PassRecord(self, self._begin(title))

    def stop_here(self) -> None:
        """End the fit if a signal has asked for it; a record is written unless a loop is changing its state."""
        if self.stop_signal is None:
            return
        if not self.n_in_place:
            self.save()
        self._raise_interrupted(self.stop_signal)

    def save(self) -> None:
        """Write the record."""
        self._slot.save(self.steps)
        self._saved = self._clock()

    def _raise_interrupted(self, signal: int) -> None:
        message = f"interrupted; the fit so far is kept in {self._slot.place}. Run the same program again to go on."
        raise FitInterrupted(message, self._slot.place, signal)

    def save_if_due(self) -> None:
        """Write the record if it is time, and end the fit if a signal has asked for it. The state must be whole."""
        if self.is_due:
            self.save()
            if self.stop_signal is not None:
                self._raise_interrupted(self.stop_signal)

    def _begin(self, title: str) -> int:
        """Return the number of the next step, which the record knows or which is added."""
        number = self._next
        if number == len(self.steps):
            self.steps.append(Step(title))
        elif self.steps[number].title != title:
            raise CheckpointError(
                f"{self._owner}: {self._slot.place} does not belong to this fit: step {number + 1} was "
                f"{self.steps[number].title!r} and is {title!r} now. Delete this checkpoint to begin again."
            )
        self._next = number + 1
        return number

    def end_step(self, number: int, value: object) -> None:
        """Record the result of a step, and forget the steps inside it."""
        self.steps[number] = Step(self.steps[number].title, DONE, value)
        del self.steps[number + 1 :]
        self._next = number + 1

    def advance(self, number: int, state: LoopState, at: str) -> None:
        """Record the state of a loop, and forget the steps of its last iteration."""
        step = self.steps[number]
        step.value, step.at = state, at
        del self.steps[number + 1 :]
        self._next = number + 1


class PassRecord:
    """The record of one pass: the result when the pass is done, else rows and statistics so far."""

    def __init__(self, recorder: Recorder, number: int):
        self._recorder, self._number = recorder, number

    @property
    def _step(self) -> Step:
        return self._recorder.steps[self._number]

    @property
    def is_done(self) -> bool:
        """Whether the record holds the result."""
        return self._step.progress == DONE

    @property
    def value(self) -> Any:
        """The result, the state of a pass that was interrupted, or None."""
        return self._step.value

    def passed(self, n_rows: int, state: Callable[[], LoopState]) -> None:
        """Say that the first ``n_rows`` rows are done. One thread at a time calls this, in the order of the rows."""
        if self._recorder.is_due:
            self._step.value, self._step.at = state(), f"after {n_rows:,} rows"
            try:
                self._recorder.save_if_due()
            finally:
                self._step.value = None  # the pass goes on to change it

    def end(self, value: object) -> None:
        """Record the result."""
        self._recorder.end_step(self._number, value)


class Loop:
    """The record of a loop; without a checkpoint it records nothing."""

    def __init__(self, recorder: Recorder | None = None, number: int = 0, *, in_place: bool = False):
        self._recorder, self._number, self._is_in_place = recorder, number, in_place
        self._resumed_at = None if recorder is None else recorder.steps[number].at

    def __enter__(self) -> Self:
        if self._recorder is not None:
            self._recorder.n_in_place += self._is_in_place
        return self

    def __exit__(self, *exception: object) -> None:
        if self._recorder is not None:
            self._recorder.n_in_place -= self._is_in_place

    @property
    def state(self) -> LoopState | None:
        """The state that the last process has recorded, None at the start of a loop."""
        return None if self._recorder is None else self._recorder.steps[self._number].value

    @property
    def is_recorded(self) -> bool:
        """Whether a checkpoint is in force."""
        return self._recorder is not None

    def advance(self, state: LoopState, at: str = "") -> None:
        """Record the state at the start of an iteration, or at the end of the last; forget the steps before it.

        The state must hold all that later iterations depend on, and must not change before the next call, unless the
        loop was made with ``in_place``. ``at`` says which iteration this is. A loop that is resumed at the start of an
        iteration announces it again: the steps that the record holds of that iteration stay.
        """
        if self._recorder is None:
            return
        is_known, self._resumed_at = bool(at) and at == self._resumed_at, None
        if not is_known:
            self._recorder.advance(self._number, state, at)
            self._recorder.save_if_due()


_recorder: ContextVar[Recorder | None] = ContextVar("mercer_recorder", default=None)


def recording() -> Recorder | None:
    """Return the recorder of the fit that this thread runs; None without a checkpoint."""
    recorder = _recorder.get()
    return recorder if recorder is not None and recorder.is_mine else None


@contextmanager
def recorded(recorder: Recorder | None) -> Iterator[None]:
    """Let the steps inside the ``with`` block be recorded; None records nothing, also inside another fit."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def resumable(title: str, *, in_place: bool = False) -> Loop:
    """Return the record of a loop, to be used in a ``with`` statement.

    Parameters
    ----------
    title : str
    in_place : bool
        Whether the loop changes the arrays of its state. Its state is then written at ``advance`` alone. Such a loop
        calls ``advance`` after every change, also after the last one.

    Examples
    --------
    >>> with resumable("sum") as loop:
    ...     state = loop.state or {"number": 0, "total": 0}
    ...     for number in range(state["number"], 4):
    ...         loop.advance(state)
    ...         state = {"number": number + 1, "total": state["total"] + number}
    >>> state["total"]
    6
    """
    recorder = recording()
    return Loop() if recorder is None else recorder.loop(title, in_place=in_place)


def kept(title: str, compute: Callable[[], T]) -> T:
    """Return the recorded result of a step, else compute it and record it.

    >>> kept("answer", lambda: 42)
    42
    """
    recorder = recording()
    return compute() if recorder is None else recorder.result(title, compute)


def _place_of(steps: list[Step]) -> str:
    """Return where a record ends, in words; nothing for an empty record."""
    if not steps:
        return ""
    inner = next((step for step in reversed(steps) if step.progress != DONE), steps[-1])
    done = "after" if inner.progress == DONE else "in"
    return f"{done} {inner.title!r}" + (f", {inner.at}" if inner.at else "")
