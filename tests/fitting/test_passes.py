"""Passes over blocks: the verbs of the engine, progress, and row numbers in errors."""

import numpy as np
import pytest

from mercer.data import as_blocks
from mercer.engines import Local
from mercer.fitting import Passes
from mercer.stats import Totals
from mercer.validation import check_finite_result


def _blocks(n_rows=10):
    return as_blocks(np.arange(float(n_rows))[:, None], block_rows=3)


def test_the_verbs_are_those_of_the_engine():
    passes, seen = Passes("Test"), []
    assert list(passes.map("x", lambda block: block.first_row, _blocks())) == [0, 3, 6, 9]
    assert passes.reduce("x", lambda block: Totals.of(1).update(block.X), _blocks(), Totals.of(1)).values == [45.0]
    passes.for_each("x", lambda block: seen.append(block.first_row), _blocks())
    assert sorted(seen) == [0, 3, 6, 9]


class Counted(Local):
    """Counts the passes that an engine runs."""

    def __init__(self):
        self.n_passes = 0

    def reduce(self, work, blocks, into, done=None):
        self.n_passes += 1
        return super().reduce(work, blocks, into)


def test_another_engine_runs_the_passes():
    engine = Counted()
    Passes("Test", engine).reduce("x", lambda block: Totals.of(1).update(block.X), _blocks(), Totals.of(1))
    assert engine.n_passes == 1


VERBS = {
    "reduce": lambda work: Passes("Test").reduce("x", work, _blocks(), Totals.of(1)),
    "map": lambda work: list(Passes("Test").map("x", work, _blocks())),
    "for_each": lambda work: Passes("Test").for_each("x", work, _blocks()),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_errors_number_rows_from_the_first_row_of_the_data(verb):
    def work(block):
        values = np.where(block.X == 7, np.nan, block.X)
        return Totals.of(1).update(check_finite_result("Test", "score", values))

    with pytest.raises(ValueError, match="the score of row 7 of X"):
        verb(work)


@pytest.mark.parametrize("verbose", [0, 1])
def test_progress_is_shown_where_it_is_asked_for(verbose, capsys):
    list(Passes("Test", verbose=verbose).map("counting", lambda block: None, _blocks()))
    shown = "".join(capsys.readouterr())
    assert ("Test: counting" in shown) == bool(verbose)
