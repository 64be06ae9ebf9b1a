"""Parquet and Arrow files, and folders of them."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from mercer.data import TableError, as_blocks
from mercer.testing import check_reader

from .conftest import NAMES


def _stream(table, path):
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


WRITERS = {
    "rows.parquet": lambda table, path: parquet.write_table(table, path, row_group_size=5),
    "rows.pq": parquet.write_table,
    "rows.feather": lambda table, path: feather.write_feather(table, str(path)),
    "rows.arrow": _stream,
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_laws_of_a_source(given, tmp_path, name):
    path, hole = tmp_path / name, tmp_path / f"hole.{name}"
    WRITERS[name](given.table(), path)
    WRITERS[name](given.table(given.hole), hole)
    check_reader(
        lambda: as_blocks(path, target="target", ignore=["text"]),
        given.X,
        given.y,
        names=NAMES,
        missing=(lambda: as_blocks(hole, target="target", ignore=["text"]), 17),
    )


def test_a_folder_is_read_in_the_order_of_its_names(given, tmp_path):
    for i in (2, 0, 1):
        parquet.write_table(given.table().slice(8 * i, 8), tmp_path / f"part{i}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "notes.txt").write_text("no rows")
    check_reader(lambda: as_blocks(tmp_path, "target", ignore=[3]), given.X, given.y, names=NAMES)


def test_files_that_cannot_be_used_are_named(tmp_path):
    with pytest.raises(TableError, match=r"the folder must hold \.parquet files, \.arrow files, or the text files"):
        as_blocks(tmp_path)
    parquet.write_table(pa.table({"a": [1.0]}), tmp_path / "one.parquet")
    parquet.write_table(pa.table({"b": [1.0]}), tmp_path / "two.parquet")
    with pytest.raises(TableError, match=r"two.parquet: column 'a' is missing, which one.parquet has"):
        as_blocks(tmp_path)
    parquet.write_table(pa.table({"a": np.ones(0)}), tmp_path / "two.parquet")
    with pytest.raises(TableError, match=r"two.parquet: there are no rows"):
        as_blocks(tmp_path / "two.parquet")
    (tmp_path / "two.parquet").write_text("no parquet at all")
    with pytest.raises(TableError, match=r"two.parquet: the parquet file is damaged or of another kind"):
        as_blocks(tmp_path / "two.parquet")
