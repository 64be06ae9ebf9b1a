"""A table kept in a temporary file, for sources that are dear to read again or cannot be."""

import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data.tables.base import Batch, Codes, Table, Wanted


class SpooledTable(Table):
    """The columns wanted of another table; its first pass keeps them in a temporary file, later ones read that.

    Text is parsed once, and a stream can be read again. Numbers take 4 bytes where float32 holds them exactly, else 8.
    The file has no name: it is gone with the process, however that ends. TMPDIR says on which disk it lies.
    """

    def __init__(self, table: Table, wanted: Wanted):
        self._table, self._wanted = table, wanted
        self.name, self.kinds, self.is_sparse, self.n_rows = table.name, table.kinds, table.is_sparse, table.n_rows
        self._file: Any = None
        self._n_batches = 0
        self._values: dict[int, dict[str, int]] = {}

    def bytes_read(self) -> tuple[int, int] | None:
        """Return the position of the first pass; later ones know the number of rows."""
        return self._table.bytes_read() if self.n_rows is None else None

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Yield the batches of the table, or of the file where a pass has filled it."""
        if wanted != self._wanted:
            raise ValueError(f"SpooledTable: it keeps {self._wanted}, and {wanted} is asked.")
        return self._from_table() if self.n_rows is None or self._file is None else self._from_file()

    def close(self) -> None:
        """Give the disk space back."""
        if self._file is not None:
            self._file.close()

    def _from_table(self) -> Iterator[Batch]:
        self._file = tempfile.TemporaryFile(prefix="mercer-")  # noqa: SIM115 - later passes read it
        self._n_batches, n_rows = 0, 0
        self._values = {}
        for batch in self._table.batches(self._wanted):
            self._write(batch)
            n_rows += batch.n_rows
            self._n_batches += 1
            yield batch
        self._file.flush()
        self.n_rows = n_rows

    def _from_file(self) -> Iterator[Batch]:
        self._file.seek(0)
        values = [list(self._values[j]) for j in range(len(self._wanted.categories))]
        for _ in range(self._n_batches):
            numbers = np.asarray(self._read(), dtype=np.float64)
            categories = tuple(Codes(self._read(), of) for of in values)
            yield Batch(numbers, categories, self._read_target())

    def _write(self, batch: Batch) -> None:
        single = batch.numbers.astype(np.float32)
        exact = np.array_equal(single, batch.numbers, equal_nan=True)
        self._save(single if exact else batch.numbers)
        for j, column in enumerate(batch.categories):
            self._save(self._recoded(j, column))
        if batch.target is not None:
            if batch.target.dtype == object:
                found = {value: code for code, value in enumerate(dict.fromkeys(batch.target))}
                codes = np.array([found[value] for value in batch.target], dtype=np.int64)
                self._save(self._recoded(-1, Codes(codes, list(found))))
            else:
                self._save(batch.target)

    def _recoded(self, column: int, codes: Codes) -> Array:
        """Return codes into the values of all batches so far."""
        known = self._values.setdefault(column, {})
        table = np.array([known.setdefault(value, len(known)) for value in codes.values] or [0], dtype=np.int32)
        recoded: Array = np.where(codes.codes < 0, -1, table[np.maximum(codes.codes, 0)]).astype(np.int32)
        return recoded

    def _read_target(self) -> Array | None:
        if self._wanted.target is None:
            return None
        values = self._read()
        if -1 in self._values:
            return np.array(list(self._values[-1]), dtype=object)[values]
        return values

    def _save(self, values: Array) -> None:
        np.save(self._file, values, allow_pickle=False)

    def _read(self) -> Array:
        values: Array = np.load(self._file, allow_pickle=False)
        return values
