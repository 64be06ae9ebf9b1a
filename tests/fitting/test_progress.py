"""Progress of passes: bars where rich is installed, plain lines without it."""

import io
import sys

import pytest

from mercer.fitting.progress import progress, showing
from mercer.watching import State, told


def test_it_is_silent_unless_asked_for(capsys):
    with progress("Test: moments", 50, 0) as advance:
        assert advance is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("n_rows", [50, None])
def test_plain_lines_without_rich(monkeypatch, capsys, n_rows):
    monkeypatch.setitem(sys.modules, "rich", None)
    with progress("Test: moments", n_rows, 1) as advance:
        advance(20)
        advance(30)
    written = capsys.readouterr().err
    assert written.startswith(f"Test: moments: 50{'' if n_rows is None else ' of 50'} rows, ")
    assert written.endswith(" rows/s\n" if n_rows is None else " rows/s, 0 s left\n")


def test_bars_with_rich(capsys):
    pytest.importorskip("rich")
    with progress("Test: moments", 50, 1) as advance:
        advance(50)
    shown = "".join(capsys.readouterr())
    assert "Test: moments" in shown
    assert "50 of 50 rows" in shown


def test_a_stage_without_a_known_end_has_no_full_bar():
    """The bar stood full at 0:00:00 while the training went on after the pass."""
    pytest.importorskip("rich")
    from rich.console import Console

    stream = io.StringIO()
    with showing(Console(file=stream, force_terminal=True, width=100)) as show:
        show(State("reading", fraction=1.0, note="50 rows"))
        told(State("KernelSVC: descent", iteration=3, gap=0.02, tol=1e-4))
        task = show.__self__._bar.tasks[0]
        assert (task.total, task.completed) == (None, 0.0)
        assert task.fields["done"] == "iteration 3, gap 0.02 of 0.0001"


def test_the_time_left_follows_from_the_pace_of_the_gap():
    state = State("descent", iteration=2, gap=1e-2, tol=1e-4)
    assert state.seconds_left(3.0, first_gap=1.0) == pytest.approx(3.0)  # as many decades left as done
    assert state.seconds_left(3.0) is None
    assert State("pass", fraction=0.25).seconds_left(1.0) == pytest.approx(3.0)
