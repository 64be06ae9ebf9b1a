"""The comparison in a terminal: at most 80 columns, and few lines."""

import pytest

from mercer.bench.comparison import Result, two_rings
from mercer.bench.growth import Growth, Step, sentences
from mercer.cli.comparison_text import print_growth, print_other_growth, print_results, results_table

RESULTS = [
    Result("", "linear model", None, 0.5, 0.1, 0.1),
    Result("Gaussian()", "exact SVM", None, 0.91, 0.1, 0.1, 0.0, 1.0),
    Result("Gaussian()", "fourier", 64, 0.85, 0.1, 0.1, 0.2, 1.0),
    Result("Gaussian()", "nystroem", 128, 0.9, 0.1, 0.1, 0.1, 1.0),
    Result("Gaussian()", "fastfood", 128, reason="too few columns"),
]


@pytest.fixture
def rows():
    return two_rings(400)[0]


def test_the_plot_and_the_sentences_fit_80_columns(rows, capsys):
    steps = [Step("exact SVM", 1000, 0.9, 0.1, 0.1, 8.0), Step("mercer", 1000, 0.9, 0.05, 0.1, 1.0)]
    steps += [Step("mercer", 100_000, 0.9, 1.0, 0.1, 1.0)]
    print_growth(Growth(rows, steps, sentences(rows, steps)))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert ". exact SVM, projected, e exact SVM, m mercer" in lines
    assert "if its time grows with the square of the rows" in " ".join(" ".join(lines).split())


def test_another_set_is_told_in_a_sentence(rows, capsys):
    steps = [Step("exact SVM", 1000, 0.91, 0.1, 0.1, 8.0), Step("mercer", 1000, 0.9, 0.05, 0.1, 1.0)]
    print_other_growth(Growth(rows, steps, sentences(rows, steps)))
    said = " ".join(capsys.readouterr().out.split())
    assert said == f"{rows.name}: Accuracy on test rows: 90.0 % of mercer against 91.0 % at 1,000 rows."


def test_without_all_the_maps_are_left_to_the_page_but_for_those_that_could_not_run(rows, capsys):
    print_results(rows, RESULTS, show_all=False)
    assert capsys.readouterr().out == "left out: fastfood: too few columns\n"


def test_all_maps_are_shown_where_asked_for(rows, capsys):
    print_results(rows, RESULTS, show_all=True)
    said = capsys.readouterr().out
    assert "0.8500" in said
    assert results_table(RESULTS, "accuracy").row_count == 5


@pytest.mark.parametrize("width", [80, 200])
def test_reasons_are_broken_between_words_at_80_columns(rows, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    reason = "a map of this kernel has " + "no features of rows like these, " * 5
    print_results(rows, [Result("Gaussian()", "fastfood", 128, reason=reason)], show_all=False)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert f"left out: fastfood: {reason}".split() == said.split()
