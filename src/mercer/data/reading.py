"""Reading ahead: a thread that draws the next items of an iterator while the caller works on earlier ones."""

import threading
from collections.abc import Iterator
from contextvars import copy_context
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")

# Seconds between two looks at whether the other side has gone.
_PATIENCE = 0.1
# Seconds to wait for the thread to end.
_GIVE_UP = 5.0


def ahead(items: Iterator[T], n_ahead: int = 1) -> Iterator[T]:
    """Yield the items of an iterator, drawn by a thread of their own, at most ``n_ahead`` before they are asked for.

    An error of the iterator comes out after the items before it. The thread ends with the generator: when the caller
    closes the generator, or drops it.

    >>> list(ahead(iter(range(5))))
    [0, 1, 2, 3, 4]
    """
    drawn: Queue[tuple[T] | BaseException | None] = Queue(n_ahead)
    gone = threading.Event()

    def put(item: tuple[T] | BaseException | None) -> bool:
        while not gone.is_set():
            try:
                drawn.put(item, timeout=_PATIENCE)
            except Full:
                continue
            return True
        return False

    def draw() -> None:
        try:
            for item in items:
                if not put((item,)):
                    return
            put(None)
        except BaseException as error:
            put(error)

    thread = threading.Thread(target=copy_context().run, args=(draw,), name="mercer-reading", daemon=True)
    thread.start()
    try:
        while (item := _next(drawn, thread)) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        gone.set()
        thread.join(_GIVE_UP)  # a read that never returns must not hold the caller


def _next(
    drawn: "Queue[tuple[T] | BaseException | None]", thread: threading.Thread
) -> "tuple[T] | BaseException | None":
    """Wait in short intervals: a thread that sleeps without a timeout would not see a Ctrl-C."""
    while True:
        try:
            return drawn.get(timeout=_PATIENCE)
        except Empty:
            if not thread.is_alive() and drawn.empty():  # the interpreter is ending
                return None
