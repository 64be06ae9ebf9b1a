"""The kit of engines: it passes right engines, and sees wrong orders, bits, errors and progress."""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from mercer.engines import Local
from mercer.testing import check_engine

CODE = Path(__file__).parents[2] / "docs" / "howto" / "code"


def test_local_keeps_the_laws():
    check_engine(Local())


class LeftFold(Local):
    def reduce(self, work, blocks, into, done=None):
        for block in blocks.labelled():
            into.merge(work(block))
            if done is not None:
                done(block.n_rows)
        return into


class Backwards(Local):
    def map(self, work, blocks, done=None):
        return iter(list(super().map(work, blocks, done))[::-1])


class Silent(Local):
    def reduce(self, work, blocks, into, done=None):
        return super().reduce(work, blocks, into)


class Shuffled(Local):
    def chain(self, work, blocks, state, done=None):
        for _ in super().chain(work, blocks, state, done):
            pass
        yield state  # as it was given


class Forgiving(Local):
    def reduce(self, work, blocks, into, done=None):
        try:
            return super().reduce(work, blocks, into, done)
        except ValueError:
            return into


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        (LeftFold, "Moments"),
        (Backwards, "order"),
        (Silent, "done must be told"),
        (Forgiving, "must come out"),
        (Shuffled, "must end"),
    ],
)
def test_wrong_engines_are_seen(engine, message):
    with pytest.raises(AssertionError, match=message):
        check_engine(engine())


def test_the_engine_of_the_how_to_page(monkeypatch):
    monkeypatch.syspath_prepend(str(CODE))
    monkeypatch.setenv("PYTHONPATH", str(CODE), prepend=":")
    from process_engine import Processes

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        check_engine(Processes(executor))
    sys.modules.pop("process_engine")


def test_the_engine_of_the_how_to_page_is_short():
    assert len((CODE / "process_engine.py").read_text().splitlines()) <= 60
