"""Progress of a pass, with its rate and the time left: bars where rich is installed, plain lines otherwise."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SECONDS_PER_LINE = 2.0


@contextmanager
def progress(title: str, n_rows: int | None, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Yield the function to call with the number of rows done, from any thread; None unless ``verbose``."""
    if not verbose:
        yield None
        return
    try:
        from rich import progress as rich  # noqa: PLC0415 - optional
    except ImportError:
        lines = _Lines(title, n_rows)
        yield lines.advance
        lines.write()
        return
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("rows, {task.fields[rate]} rows/s"),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns) as bar:
        task = bar.add_task(title, total=n_rows, rate="?")

        def advance(rows: int) -> None:
            bar.advance(task, rows)
            speed = bar.tasks[0].speed
            bar.update(task, rate="?" if speed is None else f"{speed:,.0f}")

        yield advance


class _Lines:
    def __init__(self, title: str, n_rows: int | None) -> None:
        self._title, self._n_rows = title, n_rows
        self._done = 0
        self._begin = self._written = time.monotonic()

    def advance(self, rows: int) -> None:
        self._done += rows
        if time.monotonic() - self._written > _SECONDS_PER_LINE:
            self.write()

    def write(self) -> None:
        self._written = time.monotonic()
        rate = self._done / max(self._written - self._begin, 1e-9)
        left = "" if self._n_rows is None else f" of {self._n_rows}, {(self._n_rows - self._done) / rate:.0f} s left"
        sys.stderr.write(f"{self._title}: {self._done} rows{left}, {rate:,.0f} rows/s\n")
