"""Strings from what users have, and errors that name the one at fault."""

import numpy as np
import pandas as pd
import pytest

from mercer.structures import Strings


@pytest.mark.parametrize(
    "X",
    [
        ["ab", "ü"],
        ("ab", "ü"),
        [b"ab", "ü".encode()],
        np.array(["ab", "ü"]),
        np.array([["ab"], ["ü"]], dtype=object),
        pd.Series(["ab", "ü"]),
        pd.DataFrame({"text": ["ab", "ü"]}),
    ],
    ids=["list", "tuple", "bytes", "array", "column", "series", "frame"],
)
def test_whatever_holds_strings(X):
    assert Strings(X).tolist() == [b"ab", b"\xc3\xbc"]


def test_polars_and_arrow():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    assert Strings(polars.Series(["ab", "c"])).tolist() == Strings(pyarrow.array(["ab", "c"])).tolist() == [b"ab", b"c"]


def test_arrays_as_they_are():
    assert Strings.of_arrays(np.frombuffer(b"acgt", np.uint8), np.array([0, 1, 4])).tolist() == [b"a", b"cgt"]
    with pytest.raises(ValueError, match="offsets must ascend"):
        Strings.of_arrays(np.frombuffer(b"acgt", np.uint8), np.array([0, 5, 4]))


@pytest.mark.parametrize("wrong", [None, 3.5, float("nan"), ["a"]])
def test_an_object_that_is_no_text_is_named(wrong):
    with pytest.raises(
        ValueError, match=r"X\[1\] must be text.*" + (r"tokens=True" if wrong == ["a"] else "Convert it")
    ):
        Strings(["a", wrong])


def test_one_string_and_a_number_are_refused():
    with pytest.raises(ValueError, match="one string"):
        Strings("acgt")
    with pytest.raises(ValueError, match="list of strings"):
        Strings(7)
