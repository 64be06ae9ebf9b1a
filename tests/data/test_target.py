"""Which task a target is for, and how a learner takes it."""

import numpy as np
import pytest

from mercer.data import TableError, TableWarning
from mercer.data.target import TargetSummary, encoder

TEXT = np.array(["u", "v"], dtype=object)


def _summary(*parts):
    summary = TargetSummary("rows", "y")
    for part in parts:
        summary.update(np.asarray(part))
    return summary


@pytest.mark.parametrize(
    ("parts", "task"),
    [
        ([TEXT], "classification"),
        ([[0, 1]], "classification"),
        ([[True, False]], "classification"),
        ([[0.0, 1.0], [2.5]], "regression"),
        ([np.arange(101)], "regression"),
        ([np.arange(5000) % 3000], "regression"),
    ],
)
def test_the_task_follows_from_the_values(parts, task):
    summary = _summary(*parts)
    assert summary.task("auto") == task
    assert summary.n_rows == sum(map(len, parts))


@pytest.mark.parametrize("parts", [[[0.0, 1.0], [2.0]], [np.arange(100)]])
def test_whole_numbers_that_are_taken_as_classes_are_told_of(parts):
    n_values = sum(map(len, parts))
    with pytest.warns(
        TableWarning, match=rf"'y' holds {n_values} whole numbers, taken as classes. .*--task regression"
    ):
        assert _summary(*parts).task("auto") == "classification"


def test_the_variance_and_the_largest_class():
    assert _summary([1.0, 2.0], [6.0]).variance == pytest.approx(np.var([1, 2, 6]))
    assert _summary(["a", "b"], ["a"]).majority == pytest.approx(2 / 3)


@pytest.mark.parametrize("parts", [[["a", "b"], ["a"]], [[1.0, 2.0], [6.0]], [[1.0, 2.0], [2.5]]])
def test_merged_summaries_of_parts_are_that_of_all_rows(parts):
    whole, merged = _summary(*parts), _summary(parts[0]).merge(_summary(parts[1]))
    assert (merged.n_rows, merged.majority) == (whole.n_rows, whole.majority)
    assert merged.variance == pytest.approx(whole.variance)
    asked = "auto" if isinstance(parts[0][0], str) else "regression"
    assert merged.task(asked) == whole.task(asked)


FAULTS = [
    ([TEXT], "regression", "holds text; regression needs numbers"),
    ([[0.5, 1]], "classification", "holds numbers that are not whole; classification needs labels"),
    ([np.arange(1001)], "classification", "holds more than 1000 values"),
    ([[3, 3]], "auto", "the target 'y' holds one value only, 3"),
]


@pytest.mark.parametrize(("parts", "task", "message"), FAULTS, ids=range(len(FAULTS)))
def test_tasks_that_cannot_be_are_refused(parts, task, message):
    with pytest.raises(TableError, match=f"rows: .*{message}"):
        _summary(*parts).task(task)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0, np.nan], "misses a value in row 4"),
        ([0.0, -np.inf], "holds infinity in row 4"),
        (np.array(["u", None], dtype=object), "misses a value in row 4"),
    ],
)
def test_a_missing_label_is_named_by_its_row(values, message):
    with pytest.raises(TableError, match=f"the target 'y' {message}"):
        _summary([1, 2], values)


def test_labels_are_integers_or_text_of_one_width():
    encode = encoder("classification")
    assert encode(np.array([1.0, 2.0])).dtype == np.int64
    assert encode(np.array([True, False])).tolist() == ["true", "false"]
    assert encode(np.array(["u", "long"], dtype=object)).dtype == np.dtype("U4")
    assert encoder("regression")(np.array([1, 2])).dtype == np.float64
