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


def test_another_set_is_told_without_a_plot(rows, capsys):
    steps = [Step("exact SVM", 1000, 0.9, 0.1, 0.1, 8.0), Step("mercer", 1000, 0.9, 0.05, 0.1, 1.0)]
    print_other_growth(Growth(rows, steps, sentences(rows, steps)))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 7
    assert "the labels wrong" in lines[1]
    assert any("mercer trains on 1,000 rows in" in line for line in lines)


def test_each_kernel_has_one_line_with_its_best_map(rows, capsys):
    print_results(rows, RESULTS, show_all=False)
    said = capsys.readouterr().out
    assert "Gaussian(): accuracy 0.9100 exact, 0.9000 with 128 features (nystroem)" in said
    assert "linear model: accuracy 0.5000" in said
    assert "left out: fastfood: too few columns" in said
    assert "0.8500" not in said


def test_all_maps_are_shown_where_asked_for(rows, capsys):
    print_results(rows, RESULTS, show_all=True)
    said = capsys.readouterr().out
    assert "0.8500" in said
    assert results_table(RESULTS, "accuracy").row_count == 5


@pytest.mark.parametrize("width", [80, 200])
def test_lines_about_the_maps_are_broken_between_words_at_80_columns(rows, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    long = "Polynomial(3, coef0=1.0) + 0.5 * Gaussian(gamma=0.125)"
    found = [
        Result(long, "exact SVM", None, 0.91, 0.1, 0.1, 0.0, 1.0),
        Result(long, "maclaurin H0/1", 64, 0.85, 0.1, 0.1),
    ]
    print_results(rows, found, show_all=False)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert f"{long}: accuracy 0.9100 exact, 0.8500 with 64 features (maclaurin H0/1)" in " ".join(said.split())
