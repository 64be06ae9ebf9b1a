"""The summary of one pass: moments with dates as numbers, counts of categories, missing values, infinity by its row."""

import numpy as np
import pytest

from mercer.data import Choice, TableError, open_source, table_summary
from mercer.data.calendar import calendar
from mercer.data.table_summary import TableSummary, expanded, standardised


def _summary(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    source = open_source(path)
    chosen = source.choose(Choice().of(source))
    summary = TableSummary(chosen)
    for piece in chosen.pieces(1000):
        summary.update(piece)
    return summary


def test_numbers_dates_and_categories_of_one_pass(tmp_path):
    summary = _summary(tmp_path, "a,when,c\n1,1970-01-02,u\n3,1970-01-04,v\n,,u\n")
    expected = np.column_stack([[1.0, 3.0], calendar(np.array([1.0, 3.0]))])
    np.testing.assert_allclose(summary.moments.mean, expected.mean(axis=0))
    np.testing.assert_allclose(summary.moments.deviation, expected.std(axis=0), atol=1e-12)
    assert summary.counts == [{"u": 2, "v": 1}]
    assert summary.missing == {"a": [1, 3], "when": [1, 3]}
    with pytest.raises(TableError, match=r"'a' \(1, first in row 3\), 'when' \(1, .*--missing indicate"):
        summary.check(refuse_missing=True)
    summary.check(refuse_missing=False)


def test_infinity_is_named_by_its_row(tmp_path):
    with pytest.raises(TableError, match=r"column 'b' holds a number that is not finite in row 2.* --ignore b"):
        _summary(tmp_path, "a,b\n1,2\n1,inf\n")


def test_rare_categories_are_forgotten_beyond_a_million(tmp_path, monkeypatch):
    monkeypatch.setattr(table_summary, "_MOST_COUNTED", 8)
    summary = _summary(tmp_path, "c\n" + "often\n" * 5 + "".join(f"name{i}\n" for i in range(20)))
    assert len(summary.counts[0]) <= 8
    assert summary.counts[0]["often"] == 5


def test_rows_are_standardised_and_sparse_ones_not_centred():
    from scipy import sparse

    X = np.array([[1.0, 4.0], [3.0, 0.0]])
    mean, scale = X.mean(axis=0), X.std(axis=0)
    np.testing.assert_allclose(standardised(X, mean, scale), (X - mean) / scale)
    np.testing.assert_allclose(standardised(sparse.csr_matrix(X), mean, scale).toarray(), X / scale, rtol=1e-6)


def test_no_dates_change_nothing(tmp_path):
    summary = _summary(tmp_path, "a,b\n1,2\n2,3\n")
    X = np.eye(2)
    assert expanded(X, summary.columns) is X


def test_merged_summaries_of_parts_are_that_of_all_rows(tmp_path, monkeypatch):
    head, first, second = "a,when,c\n", "1,1970-01-02,u\n3,1970-01-04,v\n", ",1970-01-09,u\n7,,w\n,1970-01-05,\n"
    whole = _summary(tmp_path, head + first + second)
    merged = _summary(tmp_path, head + first).merge(_summary(tmp_path, head + second))
    assert (merged.n_rows, merged.counts, merged.missing) == (whole.n_rows, whole.counts, whole.missing)
    assert merged.missing["a"] == [2, 3]
    np.testing.assert_allclose(merged.moments.mean, whole.moments.mean, rtol=1e-14)
    np.testing.assert_allclose(merged.moments.deviation, whole.moments.deviation, rtol=1e-14)
    monkeypatch.setattr(table_summary, "_MOST_COUNTED", 2)
    assert list(merged.merge(_summary(tmp_path, head + first)).counts[0]) == ["u"]
