"""Plots of characters: every point is in the cell of its place, and no line is wider than asked."""

from mercer.bench.text_plot import Series, text_plot

PLOT = [Series("e", "exact", [(1000, 0.01), (10_000, 1.0), (100_000, 100.0)]), Series("m", "mercer", [(100_000, 0.01)])]


def test_points_of_equal_ratios_are_equally_far_apart():
    lines = text_plot(PLOT, title="seconds", width=73, height=11).splitlines()
    rows = [line.partition("|")[2] for line in lines if "|" in line]
    places = [(i, line.index("e")) for i, line in enumerate(rows) if "e" in line]
    assert places == [(0, 62), (5, 31), (10, 0)]
    assert rows[10].rstrip()[-1] == "m"


def test_titles_labels_and_legend_are_there_and_lines_fit():
    text = text_plot(PLOT, title="seconds", width=72, height=10)
    assert text.startswith("seconds\n")
    assert text.endswith("e exact, m mercer")
    assert "100,000" in text
    assert max(map(len, text.splitlines())) <= 72


def test_a_single_point_is_a_plot():
    assert "x" in text_plot([Series("x", "one", [(5, 5)])], title="t", width=30, height=4)
