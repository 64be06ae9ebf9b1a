"""The page of a comparison: numbers, plots, maps that were left out, and names that are escaped."""

import html

import numpy as np
import pytest

from mercer.bench.comparison import Result, Rows

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture
def page():
    from mercer.cli.page import render

    X, y = np.zeros((6, 3)), np.zeros(6)
    rows = Rows("rows of <script>", "classification", X, X[:2], y, y[:2])
    results = [
        Result("", "linear model", None, 0.5125, 0.1, 0.1),
        Result("Gaussian()", "exact SVM", None, 0.9375, 0.3, 0.1, kernel_error=0.0, megabytes=1.0),
        *(Result("Gaussian()", "fourier", D, 0.75, 0.2, 0.1, 0.5 / D, 1.0) for D in (8, 16)),
        Result("Gaussian()", "split sketch", 8, reason="no such map"),
    ]
    return render(rows, results, "accuracy")


def test_the_page_has_the_scores_and_the_reason_of_what_was_left_out(page):
    assert all(score in page for score in ("0.5125", "0.9375", "0.7500"))
    assert "split sketch: no such map" in page


def test_there_is_a_plot_of_the_score_the_kernel_error_and_the_time(page):
    assert page.count('class="plot"') == 3
    for title in ("Accuracy against", "Kernel error against", "Training time against"):
        assert title in page


def test_names_are_escaped_and_nothing_is_loaded(page):
    assert "<script>" not in page
    assert "rows of <script>" in html.unescape(page)
    assert "default-src 'none'" in html.unescape(page)
