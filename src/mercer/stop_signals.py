"""Ctrl-C and SIGTERM during a fit with a checkpoint: the fit ends at the next place that can be recorded."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

from mercer.checkpoints import Recorder

_Handler: TypeAlias = Callable[[int, FrameType | None], object] | signal.Handlers | int | None
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopped_by_signals(recorder: Recorder) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM ask the fit to stop, and the second one act as it did before.

    Only the main thread of a process can set handlers; in other threads signals act as before.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, _Handler] = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            if handler is not None:  # None: set by a program that is not Python
                signal.signal(number, handler)

    def ask(number: int, frame: FrameType | None) -> None:
        recorder.stop_signal = number
        restore()

    for number in _SIGNALS:
        if before[number] not in (None, signal.SIG_IGN):
            signal.signal(number, ask)
    try:
        yield
    finally:
        restore()
