"""Rows kept in a temporary file."""

import io

import numpy as np
import pytest

from mercer.data import Choice, open_source
from mercer.data.spool import SpooledSource
from mercer.testing import check_reader


def _spooled(text, target="y", **choice):
    source = open_source(io.BytesIO(text.encode()))
    return SpooledSource(source.choose(Choice(target, **choice).of(source)))


def test_the_laws_of_a_source_hold_for_a_stream_after_one_pass():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((23, 2)), rng.randint(2, size=23)
    lines = [f"{a},{b},{label},{i}" for i, ((a, b), label) in enumerate(zip(X.tolist(), y, strict=True))]
    spooled = _spooled("\n".join(["a,b,y,w", *lines]), sample_weight="w")
    first = list(spooled.pieces(7))
    assert spooled.n_rows == 23
    np.testing.assert_array_equal(np.vstack([piece.X for piece in first]), X)
    check_reader(lambda: spooled, X, y, np.arange(23.0), names=("a", "b"))
    spooled.close()


@pytest.mark.parametrize("value", ["0.1", "0.5"])
def test_numbers_keep_their_bits(value):
    """0.5 is a float32, 0.1 is not."""
    spooled = _spooled(f"a,y\n{value},1\n2,0\n")
    (first,), (again,) = list(spooled.pieces(9)), list(spooled.pieces(9))
    assert again.X.dtype == np.float64
    assert first.X.tobytes() == again.X.tobytes()


def test_text_and_missing_values_come_back():
    spooled = _spooled("a,c,y\n1,u,no\n,v,yes\n0.1,,no\n")
    (first,), (again,) = list(spooled.pieces(9)), list(spooled.pieces(9))
    np.testing.assert_array_equal(again.X, [[1], [np.nan], [0.1]])
    np.testing.assert_array_equal(first.X, again.X)
    assert again.y.tolist() == ["no", "yes", "no"]
    assert again.categories[0].codes.tolist() == [0, 1, -1]
    assert again.categories[0].values == ["u", "v"]


def test_a_first_pass_that_is_abandoned_is_no_spool(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "1.5,0\n" * 200_000)
    source = open_source(path)
    spooled = SpooledSource(source.choose(Choice("y").of(source)))
    next(spooled.pieces(100))
    assert sum(piece.n_rows for piece in spooled.pieces(100)) == 200_000
    assert sum(piece.n_rows for piece in spooled.pieces(100)) == 200_000
