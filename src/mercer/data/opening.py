"""From what a user has to blocks of rows: files, arrays, frames, functions and Dask collections."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.data.blocks import Blocks
from mercer.data.columns import Choice, Column, refuse_text
from mercer.data.sources import Reader, Source, entries, source_of
from mercer.data.sources.collections import DaskSource, is_collection


def as_blocks(
    X: Any,
    y: Any = None,
    *,
    target: Column | None = None,
    columns: Sequence[Column] | None = None,
    ignore: Sequence[Column] = (),
    sample_weight: Any = None,
    text: Column | None = None,
    block_rows: int | None = None,
    plan: Sequence[int] | None = None,
    owner: str = "as_blocks",
) -> Blocks:
    r"""Return a source of rows as blocks.

    Parameters
    ----------
    X : source
        An array or memory map; a sparse matrix; a pandas or polars data frame; a pyarrow table or dataset; the path of
        a csv (.csv, .tsv, .txt), parquet (.parquet, .pq), Arrow (.arrow, .feather, .ipc), NumPy (.npy, .npz), svmlight
        (.svm, .svmlight, .libsvm) or FASTA (.fasta, .fa, .fna, .faa) file, text files also compressed (.gz, .bz2,
        .zst); the path of a folder of parquet or Arrow files, or of the text files of a TU data set of graphs; objects
        packed by ``mercer.structures``; a function that returns a new iterator of blocks (X, or tuples (X, y), or (X,
        y, sample_weight)) at each call; a Dask array (of dense or CSR chunks) or data frame; the result of
        ``open_source``; an instance of a subclass of ``Reader``; or ``Blocks``, which are returned unchanged. The
        iterator may reuse its arrays: each block is copied before the next one is read.
    y : array or str, optional
        One entry per row, or the name of the column of X that holds y. svmlight files hold their y.
    target : str or int, optional
        The column of X that holds y, by name or number; -1 is the last one.
    columns : sequence of str or int, optional
        The columns to read, in this order; by default all columns except y, the weights and the ignored ones. These
        columns must hold numbers. Text is allowed in the target and in ignored columns.
    ignore : sequence of str or int
        Columns to leave out.
    sample_weight : array, str or int, optional
        One weight per row, or the column of X that holds the weights.
    text : str or int, optional
        The column of text that is X, as strings for a kernel on strings. No other column is then part of X.
    block_rows : int, optional
        Rows per block.
    plan : sequence of int, optional
        Rows of the parts of another source of the same rows, ``solution_.details["plan"]``: no block spans two parts. A
        fit has then the bits of the fit on these parts.
    owner : str
        The name that begins error messages.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> def blocks():
    ...     for i in range(3):
    ...         yield np.full((2, 4), i), np.full(2, i)
    >>> rows = as_blocks(blocks, block_rows=5)
    >>> [(block.X.shape, block.y.tolist()) for block in rows.labelled()]
    [((5, 4), [0, 0, 1, 1, 2]), ((1, 4), [2])]

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("age,name,income\n30,Ada,5\n40,Bo,6\n")
    >>> [block.X.tolist() for block in as_blocks(path, target="income", ignore=["name"]).labelled()]
    [[[30.0], [40.0]]]
    """
    by_column = isinstance(sample_weight, str) or (
        isinstance(sample_weight, int) and not isinstance(sample_weight, bool)
    )
    weight_column, weight = (sample_weight, None) if by_column else (None, sample_weight)
    if y is not None and target is not None:
        raise ValueError(f"{owner}: y and target are both given; target names the column of X that y is. Give one.")
    if isinstance(y, str):
        target, y = y, None
    choice = Choice(target, None if columns is None else tuple(columns), tuple(ignore), weight_column, text)
    if isinstance(X, Blocks):
        if y is not None or weight is not None or choice != Choice():
            raise ValueError(f"{owner}: X is Blocks, which bring their own y and weights. Give them to as_blocks.")
        return X
    if is_collection(X):
        return Blocks(_partitions(owner, X, y, weight, choice), block_rows, owner=owner)
    return Blocks(
        _chosen(owner, source_of(owner, X), choice),
        block_rows,
        plan=None if plan is None else tuple(map(int, plan)),
        y=None if y is None else entries(y),
        sample_weight=None if weight is None else np.asarray(weight),
        owner=owner,
    )


def _chosen(owner: str, reader: Reader, choice: Choice) -> Reader:
    """Return a source with the chosen columns; the columns of X must hold numbers."""
    if not isinstance(reader, Source):
        if choice != Choice():
            raise ValueError(
                f"{owner}: columns are chosen by name or number, but X ({type(reader).__name__}) is a reader that "
                "chooses its columns itself."
            )
        return reader
    if choice != Choice() or not reader.is_ready:
        reader = reader.choose(choice.of(reader))
        if refused := (*reader.columns.categories, *reader.columns.dates):
            raise refuse_text(reader, refused[0])
    return reader


def _partitions(owner: str, X: Any, y: Any, weight: Any, choice: Choice) -> DaskSource:
    """Return the partitions of a Dask collection, with the columns of a frame that are chosen."""
    if choice != Choice():
        if not hasattr(X, "columns"):
            raise ValueError(f"{owner}: columns are chosen by name, and a Dask array has no names. Give y as an array.")
        named = [choice.target, choice.sample_weight]
        left = [name for name in X.columns if name not in (*named, *choice.ignore)]
        y = y if choice.target is None else X[choice.target]
        weight = weight if choice.sample_weight is None else X[choice.sample_weight]
        X = X[left if choice.columns is None else list(choice.columns)]
    return DaskSource(owner, X, y, weight)
