"""Progress of passes: bars where rich is installed, plain lines without it."""

import sys

import pytest

from mercer.fitting.progress import progress


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
    left = "" if n_rows is None else " of 50, 0 s left"
    assert capsys.readouterr().err.startswith(f"Test: moments: 50 rows{left}, ")


def test_bars_with_rich(capsys):
    pytest.importorskip("rich")
    with progress("Test: moments", 50, 1) as advance:
        advance(50)
    shown = "".join(capsys.readouterr())
    assert "Test: moments" in shown
    assert "50/50" in shown
