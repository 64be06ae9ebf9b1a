"""Progress of fits: the stage, the iteration, the gap and the time left, on one line that is renewed.

A display is rich's where rich is installed, else plain lines.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING

from mercer.watching import State, is_watched, told, watching

if TYPE_CHECKING:
    from rich.console import Console

_SECONDS_PER_LINE = 2.0
_is_shown: ContextVar[bool] = ContextVar("mercer_is_shown", default=False)


@contextmanager
def progress(title: str, n_rows: int | None, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Yield the function to call with the number of rows done, from any thread; None if nobody watches.

    ``verbose`` opens a display for this pass, unless one is open already.
    """
    with shown_if(verbose):
        if not is_watched():
            yield None
            return
        done, begin = 0, time.monotonic()

        def advance(rows: int) -> None:
            nonlocal done
            done += rows
            rate = done / max(time.monotonic() - begin, 1e-9)
            fraction = None if not n_rows else done / n_rows
            total = "" if n_rows is None else f" of {n_rows:,}"
            told(State(title, note=f"{done:,}{total} rows, {rate:,.0f} rows/s", fraction=fraction))

        yield advance


@contextmanager
def shown_if(verbose: int) -> Iterator[None]:
    """Open a display for what is told inside the ``with`` block, if ``verbose`` asks for one and none is open."""
    if not verbose or _is_shown.get():
        yield
        return
    with showing():
        yield


@contextmanager
def showing(console: "Console | None" = None) -> Iterator[Callable[[State], None]]:
    """Show the states that are told inside the ``with`` block; yield the function that shows one."""
    display, token = _display(console), _is_shown.set(True)
    try:
        with display, watching(display.show):
            yield display.show
    finally:
        _is_shown.reset(token)


def _display(console: "Console | None") -> "_Rich | _Lines":
    try:
        import rich  # noqa: F401, PLC0415 - optional
    except ImportError:
        return _Lines()
    return _Rich(console)


class _Clock:
    """The time left of a stage, from its fraction or from the pace at which its gap falls."""

    def __init__(self) -> None:
        self._stage, self._begin = "", time.monotonic()
        self._first_gap: float | None = None

    def left(self, state: State) -> float | None:
        """Return the seconds left, None if they are not known yet."""
        now = time.monotonic()
        if state.stage != self._stage:
            self._stage, self._begin, self._first_gap = state.stage, now, None
        if self._first_gap is None:
            self._first_gap = state.gap
        return state.seconds_left(now - self._begin, self._first_gap)


class _Rich:
    """One line of rich: the stage, a bar where the end is known, what is done, the time so far and the time left."""

    def __init__(self, console: "Console | None") -> None:
        from rich import progress as rich  # noqa: PLC0415 - optional
        from rich.console import Console  # noqa: PLC0415 - optional

        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(bar_width=20),
            rich.TextColumn("{task.fields[done]}"),
            rich.TimeElapsedColumn(),
            rich.TextColumn("{task.fields[left]}"),
        )
        shown_on = Console(stderr=True) if console is None else console
        self._bar = rich.Progress(*columns, console=shown_on, transient=console is not None)
        self._task: rich.TaskID | None = None
        self._clock, self._stage = _Clock(), ""
        self._lock = Lock()

    def __enter__(self) -> "_Rich":
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def show(self, state: State) -> None:
        """Show a state in place of the one before. Without a known end the bar moves, and is never full."""
        with self._lock:  # threads tell their states: one must not remove the task that another updates
            left, fraction = self._clock.left(state), state.fraction
            done, time_left = state.words, "" if left is None else f"{_duration(left)} left"
            if self._task is None or state.stage != self._stage:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                self._stage = state.stage
                self._task = self._bar.add_task(
                    state.stage, total=None if fraction is None else 1.0, done=done, left=""
                )
            completed = 0.0 if fraction is None else min(fraction, 1.0)
            self._bar.update(self._task, completed=completed, done=done, left=time_left)


class _Lines:
    """A plain line every two seconds, at each new stage, and at the end."""

    def __init__(self) -> None:
        self._clock, self._written, self._stage = _Clock(), 0.0, ""
        self._last: str | None = None

    def __enter__(self) -> "_Lines":
        return self

    def __exit__(self, *exception: object) -> None:
        self._write()

    def show(self, state: State) -> None:
        """Write a state, if the last one was written long ago or was of another stage."""
        if state.stage != self._stage:
            self._write()
            self._stage, self._written = state.stage, time.monotonic()
        left = self._clock.left(state)
        self._last = f"{state.stage}: {state.words}" + ("" if left is None else f", {_duration(left)} left")
        if time.monotonic() - self._written > _SECONDS_PER_LINE:
            self._write()

    def _write(self) -> None:
        if self._last is not None:
            sys.stderr.write(f"{self._last}\n")
            self._last, self._written = None, time.monotonic()


def _duration(seconds: float) -> str:
    """Return a time as words.

    >>> _duration(75), _duration(4000)
    ('1 min 15 s', '1 h 7 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {round(whole % 3600 / 60)} min"
