"""The page of a comparison: the picture first, numbers, maps that were left out, and names that are escaped."""

import html
import re

import numpy as np
import pytest

from mercer.bench.comparison import Result, Rows
from mercer.bench.growth import Growth, Step, sentences

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

STEPS = [
    *(Step("exact SVM", n, 0.8, 1e-7 * n**2, 0.1, 8e-6 * n**2) for n in (1000, 2000, 4000)),
    *(Step("mercer", n, 0.8, 1e-4 * n, 0.1, 1e-3 * n) for n in (1000, 2000, 4000, 8000)),
]
RESULTS = [
    Result("", "linear model", None, 0.5125, 0.1, 0.1),
    Result("Gaussian()", "exact SVM", None, 0.9375, 0.3, 0.1, kernel_error=0.0, megabytes=1.0),
    *(Result("Gaussian()", "fourier", D, 0.75, 0.2, 0.1, 0.5 / D, 1.0) for D in (8, 16)),
    *(Result("Gaussian()", "orthogonal", D, 0.75, 0.2, 0.1, 0.4 / D, 1.0) for D in (8, 16)),
    Result("Gaussian()", "split sketch", 8, reason="no such map"),
]


@pytest.fixture
def page():
    from mercer.cli.page import render

    X, y = np.zeros((6, 3)), np.zeros(6)
    rows = Rows("rows of <script>", "classification", X, X[:2], y, y[:2])
    return render([Growth(rows, STEPS, sentences(rows, STEPS))], rows, RESULTS)


def test_the_page_begins_with_three_sentences_and_the_training_time(page):
    header = page[page.index("<header>") : page.index("</header>")]
    assert header.count('class="lead"') == 3
    assert header.count('class="plot"') == 1
    assert "Training time against rows" in header
    assert "Dotted: the measured growth" in header


def test_the_page_has_the_scores_and_the_reason_of_what_was_left_out(page):
    assert all(score in page for score in ("0.5125", "0.9375", "0.7500"))
    assert "split sketch: no such map" in page


def test_there_are_four_plots_of_the_growth_then_those_of_the_maps_then_folded_tables(page):
    titles = [
        *(f"{of} against rows" for of in ("Training time", "Prediction time", "Memory", "Score")),
        "Accuracy against the number of features",
        "Kernel error against time",
    ]
    assert page.count('class="plot"') == len(titles)
    places = [page.index(f"<h3>{title}</h3>") for title in titles]
    assert places == sorted(places)
    assert page.index("<details>") > places[-1]
    assert page.count("<table") - page.count('<table class="facts"') == page.count("<details>") == 2


def test_one_model_has_one_colour_in_all_plots_and_no_two_models_share_one_but_for_mercers_own_map(page):
    colours = {}
    for drawn, label in re.findall(r"<li>(<svg.*?</svg>) (.*?)</li>", page, flags=re.DOTALL):
        colours.setdefault(label, set()).add(re.search(r"stroke-(s\d+)", drawn)[1])
    assert all(len(found) == 1 for found in colours.values())
    assert colours["mercer"] == colours.pop("orthogonal")
    assert len({min(found) for found in colours.values()}) == len(colours) == 4


def test_names_are_escaped_and_nothing_is_loaded(page):
    assert "<script>" not in page
    assert "rows of <script>" in html.unescape(page)
    assert "default-src 'none'" in html.unescape(page)


def test_another_set_follows_the_first_with_its_sentences_and_plots():
    from mercer.cli.page import render

    X, y = np.zeros((6, 3)), np.zeros(6)
    first, second = (Rows(name, "classification", X, X[:2], y, y[:2]) for name in ("one set", "another set"))
    growths = [Growth(rows, STEPS, [f"a sentence on {rows.name}"]) for rows in (first, second)]
    page = render(growths, first, RESULTS)
    assert page.count('class="plot"') == 10
    order = [
        "a sentence on one set",
        "The same on another set",
        "a sentence on another set",
        "All maps on",
        "<details>",
    ]
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    assert page.count("<details>") == 3
