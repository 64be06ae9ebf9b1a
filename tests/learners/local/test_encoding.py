"""Tables as columns of numbers: what is kept, names and sources, kinds that changed, and forged files."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.data.raw_table import RawTable
from mercer.learners.local.encoding import TableEncoding
from mercer.state import UnsoundError, check_stored


@pytest.fixture
def table():
    text = np.array(["x", "y", None, "x"], dtype=object)
    return RawTable([np.array([1.0, 2.0, np.nan, 4.0]), np.full(4, 7.0), text], ["number", "number", "categories"])


def test_constant_columns_are_left_out_and_the_others_know_their_source(table):
    encoding = TableEncoding.of(table, ["a", "b", "c"])
    assert encoding.names == ["a", "a is missing", "c=x", "c=y", "c is missing"]
    assert encoding.sources.tolist() == [0, 0, 2, 2, 2]
    assert (encoding.n_sources, encoding.n_columns) == (3, 5)
    assert encoding.numbers(table)[2].tolist() == [2.0, 1.0, 0.0, 0.0, 1.0]
    check_stored(encoding)


def test_weights_are_repetitions(table):
    weight = np.array([1.0, 3.0, 1.0, 1.0])
    repeated = table.some(np.repeat(np.arange(4), weight.astype(int)))
    one = TableEncoding.of(table, list("abc"), 1, weight).numbers(table)
    np.testing.assert_array_equal(one, TableEncoding.of(repeated, list("abc"), 1).numbers(table))


def test_one_of_several_constant_columns_stands_for_all():
    table = RawTable([np.ones(3), np.ones(3)], ["number", "number"])
    assert TableEncoding.of(table, ["a", "b"]).names == ["a"]


def test_a_column_of_another_kind_is_refused_in_words(table):
    encoding = TableEncoding.of(table, ["a", "b", "c"])
    text = np.array(["u"] * table.n_rows, dtype=object)
    other = RawTable([text, *table.values[1:]], ["categories", *table.kinds[1:]])
    with pytest.raises(ValueError, match="owner: column 'x0' holds 'u' in row 1, and held numbers in training"):
        encoding.numbers(other, "owner")


def test_what_no_fit_makes_is_refused(table):
    encoding = TableEncoding.of(table, ["a", "b", "c"])
    with pytest.raises(UnsoundError, match="kept must be numbers of columns"):
        check_stored(replace(encoding, kept=encoding.kept + 100))
