"""Numbers of results: formulas of raw values, means and least times, and how numbers are shown."""

import pytest

from mercer.bench.errors import BenchError
from mercer.bench.metrics import METRICS, Sample, as_list, metric, sample, show
from mercer.bench.spec import Cell
from mercer.bench.store import Outcome

VALUES = {
    "train_correct": [45, 40],
    "train_rows": 50,
    "test_correct": [9, 8],
    "test_rows": 10,
    "map_seconds": [1.0, 2.0],
    "fit_seconds": [3.0, 2.0],
}


def _outcome(values=VALUES, status="done", **params):
    return Outcome(Cell("t", params, {}), status, values)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train_accuracy", [90.0, 80.0]),
        ("test_accuracy", [90.0, 80.0]),
        ("seconds", [4.0, 4.0]),
        ("map_share", [0.25, 0.5]),
        ("map_seconds", [1.0, 2.0]),
    ],
)
def test_metrics_are_formulas_of_raw_values(name, expected):
    assert METRICS[name].of(VALUES) == pytest.approx(expected)


def test_a_raw_value_without_an_entry_is_itself():
    found = metric("peak_memory")
    assert (found.label, found.better, found.of({"peak_memory": 7.0})) == ("peak memory", "equal", 7.0)


def test_one_number_is_a_list_of_one():
    assert (as_list(3.0), as_list([1.0, 2.0])) == ([3.0], [1.0, 2.0])


def test_a_sample_has_the_runs_of_all_finished_cells_with_the_parameters():
    outcomes = [_outcome(D=1), _outcome(D=2), _outcome(D=1, status="failed")]
    assert sample(outcomes, "map_seconds", {"D": 1}).values == (1.0, 2.0)
    assert sample(outcomes, "map_seconds", {}).values == (1.0, 2.0, 1.0, 2.0)
    assert sample(outcomes, "map_seconds", {"D": 3}) is None


def test_a_value_that_was_not_stored_is_named():
    with pytest.raises(BenchError, match="no value 'nmi' was stored; there are train_correct"):
        sample([_outcome()], "nmi", {})


def test_the_mean_stands_for_runs_and_the_least_for_times():
    assert Sample((1.0, 3.0)).centre == 2.0
    assert Sample((1.0, 3.0)).error == pytest.approx(1.0)  # a deviation of sqrt(2), two runs
    assert (Sample((1.0, 3.0), "s").centre, Sample((1.0, 3.0), "s").error) == (1.0, 0.0)
    assert Sample((5.0,)).deviation == 0.0


@pytest.mark.parametrize(
    ("value", "unit", "deviation", "text"),
    [
        (97.314, "%", None, "97.31 %"),
        (97.314, "%", 0.256, "97.31 ± 0.26 %"),
        (0.0123, "s", None, "12.3 ms"),
        (75.0, "s", None, "75 s"),
        (120.0, "s", None, "2 min"),
        (7200.0, "s", None, "2 h"),
        (4.0, "of 6", None, "4 of 6"),
        (2.5, "x", None, "2.5\N{MULTIPLICATION SIGN}"),
        (0.00012, "", None, "1.2e-04"),
        (1234.0, "", None, "1234"),
        (123456.0, "", None, "123,456"),
    ],
)
def test_numbers_for_readers(value, unit, deviation, text):
    assert show(value, unit, deviation) == text
