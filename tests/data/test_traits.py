"""Facts about rows: the same rows have the same facts, others have not."""

import os

import numpy as np
import pytest

from mercer.data import as_blocks, open_source
from mercer.data.traits import traits_of, traits_of_source

X, Y = np.random.RandomState(0).rand(40, 3), np.arange(40.0)


def test_rows_in_memory_are_known_by_their_entries():
    other = X.copy()
    other[39, 2] += 1
    facts = traits_of(as_blocks(X, Y))
    assert traits_of(as_blocks(X.copy(), Y.copy())) == facts
    assert traits_of(as_blocks(other, Y)) != facts
    assert traits_of(as_blocks(X, Y + 1)) != facts
    assert traits_of(as_blocks(X, Y, sample_weight=Y)) != facts
    assert traits_of(as_blocks(X.astype(np.float32), Y))["the type of X"] == "float32"


def test_files_are_known_by_size_and_time(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    facts = traits_of(as_blocks(str(path), Y))
    assert traits_of(as_blocks(str(path), Y)) == facts
    os.utime(path, (1, 1))
    changed = traits_of(as_blocks(str(path), Y))
    assert [name for name in facts if facts[name] != changed[name]] == [f"the time of {path}"]


def test_streams_are_known_by_their_first_rows():
    facts = traits_of(as_blocks(lambda: iter([X])))
    assert traits_of(as_blocks(lambda: iter([X]))) == facts
    assert traits_of(as_blocks(lambda: iter([X + 1]))) != facts


@pytest.mark.parametrize("change", ["rows", "columns"])
def test_tables_are_known_by_columns_and_files(tmp_path, change):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    facts = traits_of_source(open_source(path))
    path.write_text("a,b\n1,2\n3,4\n" if change == "rows" else "a,c\n1,2\n")
    assert traits_of_source(open_source(path)) != facts
