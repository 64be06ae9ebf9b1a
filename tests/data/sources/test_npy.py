""".npy and .npz files."""

import numpy as np
import pytest

from mercer.data import Choice, TableError, as_blocks, open_source
from mercer.testing import check_reader


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64, bool])
@pytest.mark.parametrize("save", [np.save, np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_laws_of_a_source(given, tmp_path, dtype, save, order):
    path = tmp_path / ("rows.npy" if save is np.save else "rows.npz")
    X = np.asarray(given.X.astype(dtype), order=order)
    save(path, X)
    check_reader(lambda: path, X if dtype == np.float32 else X.astype(np.float64))


def test_missing_values_are_named(given, tmp_path):
    np.save(tmp_path / "hole.npy", given.hole)
    np.savez(tmp_path / "hole.npz", given.hole)
    for name in ("hole.npy", "hole.npz"):
        with pytest.raises(ValueError, match="X contains NaN at row 17, column 1"):
            list(as_blocks(tmp_path / name))


def test_vectors_of_an_npz_file_are_columns_with_names(given, tmp_path):
    path = tmp_path / "rows.npz"
    np.savez(path, X=given.X, label=given.y, city=given.text.astype("S"), more=given.X[:, 0] + 1)
    check_reader(lambda: as_blocks(path, target="label", columns=[0, 1, 2]), given.X, given.y)
    check_reader(
        lambda: as_blocks(path, target="city", columns=["more", "x1"], sample_weight="x2"),
        np.column_stack([given.X[:, 0] + 1, given.X[:, 1]]),
        given.text,
        given.X[:, 2],
    )
    source = open_source(path, categorical=("label",))
    (piece,) = source.choose(Choice(columns=("x0", "city", "label")).of(source)).pieces(100)
    city, label = piece.categories
    assert [city.values[code] for code in city.codes] == given.text.tolist()
    assert [label.values[code] for code in label.codes] == [str(value) for value in given.y]


@pytest.mark.parametrize("name", ["rows.npy", "rows.npz"])
def test_files_of_another_kind_are_refused(tmp_path, name):
    (tmp_path / name).write_text("this is no such file\n" * 5)
    with pytest.raises(TableError, match=f"{name}: not a readable {name[4:]} file"):
        as_blocks(tmp_path / name)


def test_arrays_that_are_no_matrix_of_numbers_are_refused(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([["a"]]))
    with pytest.raises(TableError, match="the array must be a matrix of numbers"):
        as_blocks(tmp_path / "rows.npy")
    np.savez(tmp_path / "rows.npz", one=np.eye(2), two=np.eye(2))
    with pytest.raises(TableError, match="must hold a matrix X, or one matrix; it holds"):
        as_blocks(tmp_path / "rows.npz")
