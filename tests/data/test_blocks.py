"""Blocks: re-iterable, of one size whatever the source, views where they can be, and faults named."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer import config_context
from mercer.data import Block, Reader, as_blocks


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.coo_array, pd.DataFrame])
def test_the_blocks_make_up_the_rows_on_every_pass(rng, make):
    X = rng.standard_normal((11, 3))
    blocks = as_blocks(make(X), block_rows=4)
    for _ in range(2):
        parts = [block.toarray() if blocks.is_sparse else block for block in blocks]
        np.testing.assert_array_equal(np.vstack(parts), X)
    assert (blocks.n_rows, blocks.width, blocks.dtype, len(blocks)) == (11, 3, np.float64, 3)


def test_blocks_of_an_array_are_views(rng):
    X = rng.standard_normal((8, 3)).astype(np.float32)
    blocks = as_blocks(X, block_rows=3)
    assert blocks.dtype == np.float32
    assert all(np.shares_memory(block, X) for block in blocks)
    assert as_blocks(blocks) is blocks


def test_the_block_size_follows_the_configuration(rng):
    with config_context(block_rows=2):
        assert len(as_blocks(rng.standard_normal((5, 1)))) == 3


@pytest.mark.parametrize("cuts", [[7], [1, 2, 3, 4, 5, 6], [3, 3], [0, 2, 2, 7], []])
@pytest.mark.parametrize("block_rows", [1, 3, 4, 7, 100])
def test_the_size_of_blocks_does_not_depend_on_the_source_s_pieces(rng, cuts, block_rows):
    X, y, weight = rng.standard_normal((7, 2)), np.arange(7), np.arange(7.0)
    pieces = [np.split(part, cuts) for part in (X, y, weight)]
    blocks = list(as_blocks(lambda: zip(*pieces, strict=True), block_rows=block_rows).labelled())
    assert [block.n_rows for block in blocks] == [len(part) for part in as_blocks(X, block_rows=block_rows)]
    for i, whole in enumerate((X, y, weight)):
        np.testing.assert_array_equal(np.concatenate([block[i] for block in blocks]), whole)


def test_y_and_weights_go_with_their_rows(rng):
    X, y, weight = rng.standard_normal((5, 2)), np.array(list("abcde")), np.arange(5.0)
    blocks = as_blocks(X, y, sample_weight=weight, block_rows=2)
    assert ["".join(block.y) for block in blocks.labelled()] == ["ab", "cd", "e"]
    assert [block.sample_weight.tolist() for block in blocks.labelled()] == [[0, 1], [2, 3], [4]]
    assert blocks.is_labelled
    assert not as_blocks(X).is_labelled


def test_targets_alone_and_another_cut(rng):
    X, y = rng.standard_normal((5, 2)), np.arange(5)
    for blocks in (as_blocks(X, y, block_rows=2), as_blocks(lambda: [(X, y)], block_rows=2)):
        np.testing.assert_array_equal(np.concatenate(list(blocks.targets())), y)
        other = blocks.recut(4, "KernelRidge")
        assert [block.n_rows for block in other.labelled()] == [4, 1]
        assert (other.owner, other.fingerprint) == ("KernelRidge", blocks.fingerprint)


def test_a_fingerprint_is_of_the_rows_not_of_their_source_or_cuts(rng):
    X, y = rng.standard_normal((9, 3)), np.arange(9)
    one = as_blocks(X, y, block_rows=2).fingerprint
    assert as_blocks(np.asfortranarray(X), y, block_rows=5).fingerprint == one
    assert as_blocks(lambda: [(X[:4], y[:4]), (X[4:], y[4:])]).fingerprint == one
    changed = X.copy()
    changed[5, 1] = np.nextafter(changed[5, 1], 1)
    others = [as_blocks(changed, y), as_blocks(X, y[::-1]), as_blocks(X), as_blocks(X.astype("f"), y)]
    others += [as_blocks(sparse.csr_array(X), y), as_blocks(X, y, sample_weight=np.ones(9))]
    assert len({one, *(other.fingerprint for other in others)}) == 7


class _Changing(Reader):
    """Gives another list of pieces on each pass."""

    width, dtype = 2, np.dtype(np.float64)

    def __init__(self, *passes):
        self.passes = list(passes)

    def pieces(self, block_rows):
        return (Block(X) for X in self.passes.pop(0))


ROWS = np.ones((3, 2))
CHANGES = [
    ([ROWS], [ROWS[:2]], r"gave 3 rows before and 2 now; every pass must give the same rows"),
    ([ROWS], [ROWS, ROWS], r"gave 3 rows before and at least 6 now"),
    ([ROWS], [], r"gave 3 rows before and 0 now; .* If it wraps one iterator, return a new one at each call"),
    ([ROWS], [np.ones((3, 4))], r"the block of X at row 0 has columns 4, and the source began with 2"),
    ([ROWS], [ROWS[:2], ROWS[:1].astype("f")], r"block of X at row 2 has type float32, and the source began with fl"),
    ([ROWS], [sparse.csr_array(ROWS)], r"at row 0 has layout CSR, and the source began with dense"),
]


@pytest.mark.parametrize(("first", "second", "message"), CHANGES, ids=range(len(CHANGES)))
def test_a_second_pass_that_differs_is_named(first, second, message):
    blocks = as_blocks(_Changing(first, second), owner="KernelRidge")
    assert blocks.n_rows is None
    assert sum(len(block) for block in blocks) == blocks.n_rows == 3
    with pytest.raises(ValueError, match=f"KernelRidge: .*{message}"):
        list(blocks)


def test_an_iterator_that_can_be_read_once_only():
    message = "KernelRidge: X is an iterator that can be read once only, and KernelRidge needs several passes"
    once = iter([ROWS])
    for source in (once, lambda: once):
        with pytest.raises(ValueError, match=message):
            as_blocks(source, owner="KernelRidge")


def test_faults_of_a_block_name_the_row_of_the_source():
    bad = np.ones((7, 2))
    bad[5, 1] = np.nan
    for source in (bad, lambda: [bad[:4], bad[4:]], sparse.csr_array(bad)):
        with pytest.raises(ValueError, match="X contains NaN at row 5, column 1"):
            list(as_blocks(source, block_rows=2))


LENGTHS = [
    (lambda: as_blocks(ROWS, np.ones(2)), "X has 3 rows and y has 2: inconsistent numbers of samples"),
    (lambda: as_blocks(ROWS, sample_weight=np.ones(4)), "X has 3 rows and sample_weight has 4"),
    (lambda: list(as_blocks(lambda: [(ROWS, np.ones(2))]).labelled()), "at row 0 X has 3 rows and y has 2"),
    (lambda: list(as_blocks(lambda: [(ROWS, np.ones(3)), ROWS]).labelled()), "at row 3 has no y, and earlier"),
    (lambda: list(as_blocks(lambda: [ROWS], np.ones(5))), "X has 3 rows and y has 5"),
    (lambda: as_blocks(lambda: [(ROWS, np.ones(3))], np.ones(3)), "y is given twice"),
    (lambda: as_blocks(as_blocks(ROWS), np.ones(3)), "X is Blocks, which bring their own y"),
    (lambda: as_blocks(lambda: []), r"X has 0 sample\(s\)"),
    (lambda: list(as_blocks(ROWS[:0])), r"X has 0 sample\(s\)"),
    (lambda: as_blocks(lambda: [(1, 2, 3, 4)]), "got a tuple of 4"),
    (lambda: as_blocks(ROWS[0]), "Expected 2D array, got 1D array instead"),
    (lambda: as_blocks(ROWS, "label"), "the target 'label' is not a column. The columns are 'x0', 'x1'"),
    (lambda: len(as_blocks(lambda: [ROWS])), "not known before the first pass"),
]


@pytest.mark.parametrize(("make", "message"), LENGTHS, ids=range(len(LENGTHS)))
def test_sources_that_do_not_fit_together(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_nan_stands_for_a_missing_value_only_where_that_is_asked_for(rng):
    X = rng.standard_normal((9, 2))
    X[7, 1] = np.nan
    for rows in (X, sparse.csr_array(X), lambda: iter(np.array_split(X, 3))):
        plain = as_blocks(rows, block_rows=2)
        with pytest.raises(ValueError, match="NaN at row 7, column 1"):
            list(plain.labelled())
        blocks = plain.recut(4, "Test", missing=True).recut(3, "Test")  # another cut keeps it
        found = np.vstack([block.toarray() if sparse.issparse(block) else block for block in blocks])
        np.testing.assert_array_equal(found, X)
        assert sum(blocks.check_finite(block).n_rows for block in blocks.labelled(finite=False)) == 9
    X[8, 0] = -np.inf
    for blocks in (as_blocks(X).recut(4, "Test", missing=True), *_later_and_parts(X)):
        with pytest.raises(ValueError, match=r"Test: X contains infinity \(inf\) at row 8, column 0.*by NaN"):
            list(blocks)
        with pytest.raises(ValueError, match="infinity"):
            [blocks.check_finite(block) for block in blocks.labelled(finite=False)]


def _later_and_parts(X):
    blocks = as_blocks(X).recut(4, "Test", missing=True)
    return blocks.after(4), blocks.parts(4)[-1]
