"""The laws of a source of rows."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks, as_blocks
from mercer.structures import Ragged

_OPEN_FILES = Path("/proc/self/fd")


def check_reader(
    make: Callable[[], object],
    X: Rows,
    y: Array | None = None,
    sample_weight: Array | None = None,
    *,
    names: tuple[str, ...] | None = None,
    missing: tuple[Callable[[], object], int] | None = None,
) -> None:
    """Check that a source gives these rows, in every pass and with any size of blocks.

    Parameters
    ----------
    make : callable
        Returns anything that ``as_blocks`` takes: a new ``Reader``, a path, or blocks made with a target.
    X : array, CSR matrix or packed objects
        All rows of the source.
    y, sample_weight : array, optional
        The labels and the weights of the source.
    names : tuple of str, optional
        The names of the columns of X; None for a source without names.
    missing : (callable, int), optional
        Like ``make``, a source with a missing value, and the number of the row that the error must name.

    Notes
    -----
    The laws: passes can be repeated and interleaved; blocks of any size make up X, y and the weights; the declared
    width, type, layout, names and number of rows are those of the blocks; a block does not change while later ones are
    read; an abandoned pass leaves no file open and does not change the next pass; the fingerprint is that of an array
    with the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.testing import check_reader
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> check_reader(lambda: lambda: (X[i : i + 4] for i in (0, 4)), X)
    """
    n_rows = X.shape[0]
    _check_facts(as_blocks(make()), X, y, names)
    for block_rows in (1, 3, n_rows, n_rows + 1):
        blocks = as_blocks(make()).recut(block_rows, "check_reader")
        for _ in range(2):
            _check_rows(list(blocks.labelled()), block_rows, X, y, sample_weight)
        assert blocks.n_rows == n_rows, f"after a pass n_rows is {blocks.n_rows}, of {n_rows} rows"
        assert len(blocks) == -(-n_rows // block_rows)
    _check_interleaved(as_blocks(make()).recut(2, "check_reader"), X)
    _check_abandoned(make, X)
    whole = as_blocks(X, y, sample_weight=sample_weight).fingerprint
    assert as_blocks(make()).fingerprint == whole, "the fingerprint must be that of an array with the same rows"
    if missing is not None:
        _check_missing(*missing)


def _check_facts(blocks: Blocks, X: Rows, y: Array | None, names: tuple[str, ...] | None) -> None:
    assert blocks.n_rows in (None, X.shape[0]), f"n_rows is {blocks.n_rows}, of {X.shape[0]} rows"
    found = (blocks.width, blocks.dtype, blocks.is_sparse, blocks.names, blocks.is_labelled)
    expected = (X.shape[1], X.dtype, bool(sparse.issparse(X)), names, y is not None)
    for what, one, other in zip(("width", "dtype", "is_sparse", "names", "is_labelled"), found, expected, strict=True):
        assert one == other, f"{what} is {one}, and must be {other}"


def _check_rows(blocks: list[Block], block_rows: int, X: Rows, y: Array | None, sample_weight: Array | None) -> None:
    """Compare blocks, all held at once: this finds a block whose memory is reused for later rows."""
    n_rows, firsts = X.shape[0], range(0, X.shape[0], block_rows)
    assert [block.first_row for block in blocks] == list(firsts), "the blocks must follow each other"
    assert [block.n_rows for block in blocks] == [min(block_rows, n_rows - first) for first in firsts]
    np.testing.assert_array_equal(np.vstack([_dense(block.X) for block in blocks]), _dense(X), "X")
    for name, whole in (("y", y), ("sample_weight", sample_weight)):
        parts = [getattr(block, name) for block in blocks]
        assert all((part is None) == (whole is None) for part in parts), f"{name} must be there in all blocks, or none"
        if whole is not None:
            np.testing.assert_array_equal(np.concatenate(parts), whole, name)


def _check_interleaved(blocks: Blocks, X: Rows) -> None:
    pairs = list(zip(blocks, blocks, strict=True))
    for side in (0, 1):
        rows = np.vstack([_dense(pair[side]) for pair in pairs])
        np.testing.assert_array_equal(rows, _dense(X), "two passes at once must not disturb each other")


def _check_abandoned(make: Callable[[], object], X: Rows) -> None:
    blocks = as_blocks(make()).recut(1, "check_reader")
    before = _open_files()
    for n_blocks in (1, X.shape[0]):
        one_pass = iter(blocks.labelled())
        for _ in range(n_blocks):
            next(one_pass)
        one_pass.close()  # type: ignore[attr-defined]
        del one_pass
    after = _open_files()
    assert after <= before, f"an abandoned pass leaves files open: {sorted(after - before)}"
    np.testing.assert_array_equal(np.vstack([_dense(block) for block in blocks]), _dense(X), "after an abandoned pass")


def _check_missing(make: Callable[[], object], row: int) -> None:
    try:
        for _ in as_blocks(make()).recut(2, "check_reader"):
            pass
    except ValueError as error:
        message = str(error)
    else:
        raise AssertionError("a missing value must be refused")
    assert f"row {row}" in message, f"the error must name row {row}: {message}"


def _open_files() -> Counter[str]:
    """Return how often this process has each file open; empty if the system does not tell."""
    found: Counter[str] = Counter()
    for link in _OPEN_FILES.iterdir() if _OPEN_FILES.is_dir() else ():
        try:
            found[str(link.readlink())] += 1
        except OSError:  # closed meanwhile
            continue
    elsewhere = ("/proc", "/dev", "/sys")
    return Counter({name: n for name, n in found.items() if name.startswith("/") and not name.startswith(elsewhere)})


def _dense(rows: Rows) -> Array:
    if isinstance(rows, Ragged):  # objects are equal if their hashes are
        return rows.hashes()[:, None]
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())
