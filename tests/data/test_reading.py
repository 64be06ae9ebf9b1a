"""Reading ahead: the same items in the same order, errors in their place, and a thread that ends with its caller."""

import threading
import time
from contextvars import ContextVar

import pytest

from mercer.data.reading import ahead


def _reading_threads():
    return [thread for thread in threading.enumerate() if thread.name == "mercer-reading"]


def test_items_come_in_order():
    assert list(ahead(iter(range(1000)))) == list(range(1000))
    assert list(ahead(iter(()))) == []
    assert list(ahead(iter([None, None]))) == [None, None]


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise OSError("disk gone")

    found = ahead(items())
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(OSError, match="disk gone"):
        next(found)
    assert not _reading_threads()


@pytest.mark.parametrize("n_ahead", [1, 3])
def test_no_more_items_are_drawn_than_may_wait(n_ahead):
    drawn = []

    def items():
        for i in range(100):
            drawn.append(i)
            yield i

    found = ahead(items(), n_ahead)
    assert next(found) == 0
    deadline = time.monotonic() + 5
    while len(drawn) < n_ahead + 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)  # longer than one look of the thread
    assert len(drawn) == n_ahead + 2  # the one given, those that wait, and the one in hand
    found.close()
    assert not _reading_threads()


def test_a_generator_that_is_dropped_ends_its_thread():
    found = ahead(iter(range(100)))
    next(found)
    del found
    assert not _reading_threads()


def test_the_context_of_the_caller_holds_in_the_thread():
    chosen = ContextVar("chosen", default="no")
    token = chosen.set("yes")
    try:
        assert list(ahead(chosen.get() for _ in range(2))) == ["yes", "yes"]
    finally:
        chosen.reset(token)


def test_items_are_drawn_by_another_thread():
    here = threading.get_ident()
    assert all(ident != here for ident in ahead(threading.get_ident() for _ in range(3)))
