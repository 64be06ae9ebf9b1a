"""The rows among which landmarks are chosen, and the landmarks that were chosen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from warnings import warn

import numpy as np
from sklearn.utils import check_random_state

from mercer._typing import Array, Rows, Seed
from mercer.data import Blocks, reservoir
from mercer.kernels import Kernel
from mercer.kernels.custom import Objects, as_objects
from mercer.parallel import row_blocks
from mercer.structures import Ragged
from mercer.validation import check_integer, check_matrix

# What landmarks are chosen from: rows, objects, or a stream of blocks of rows.
Source: TypeAlias = Objects | Blocks | Iterator[Rows]

# Rows kept of a stream: 20 rows per landmark leave every chooser a choice, and 10,000 rows show their distribution.
_RESERVOIR_ROWS = 10_000
_RESERVOIR_PER_LANDMARK = 20


@dataclass(frozen=True)
class Landmarks:
    """Chosen landmarks.

    Attributes
    ----------
    points : array, CSR matrix or array of objects
        The landmarks themselves.
    indices : ndarray of int, or None
        Their row numbers; None where they are new points (k-means centres).
    scale : ndarray or None
        The factor of each landmark's column in a weighted draw, 1/sqrt(m p_i); None for 1.
    residual_trace : float or None
        The trace of the error of the full-rank Nystroem approximation on these rows, where the chooser reveals it.
    residual_trace_error : float or None
        Its standard error where it is estimated, 0 where it is exact.
    """

    points: Rows
    indices: Array | None = None
    scale: Array | None = None
    residual_trace: float | None = None
    residual_trace_error: float | None = None


@dataclass(frozen=True)
class Candidates:
    """The rows to choose among.

    Attributes
    ----------
    X : array, CSR matrix or array of objects
        The rows, checked.
    m : int
        How many landmarks to choose.
    rng : RandomState
    numbers : ndarray or None
        The numbers of the rows in the stream that they were sampled from; None for rows that are no sample.
    """

    X: Rows
    m: int
    rng: np.random.RandomState
    numbers: Array | None = None

    @classmethod
    def of(cls, owner: str, X: Source, n_landmarks: int, random_state: Seed) -> "Candidates":
        """Check the rows and the number of landmarks; a stream is sampled."""
        m = check_integer(owner, "n_landmarks", n_landmarks)
        rng = check_random_state(random_state)
        rows, numbers = rows_of(owner, X, m, rng)
        if m > rows.shape[0]:
            warn(f"{owner}: n_landmarks={m} is more than the {rows.shape[0]} rows; all rows are taken.", stacklevel=4)
        return cls(rows, min(m, rows.shape[0]), rng, numbers)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    def landmarks(
        self,
        indices: Array,
        *,
        scale: Array | None = None,
        residual_trace: float | None = None,
        residual_trace_error: float | None = None,
    ) -> Landmarks:
        """Return the rows of these numbers as landmarks, with what the chooser knows about them."""
        numbers = indices if self.numbers is None else self.numbers[indices]
        return Landmarks(self.X[indices], numbers, scale, residual_trace, residual_trace_error)

    def diagonal(self, kernel: Kernel) -> Array:
        """Return k(x, x) of all rows in float64, refusing a negative one, and all of them 0."""
        if self.X.ndim == 1:  # objects, or rows of a precomputed matrix
            diagonal = np.array(kernel.evaluate_diag(self.X), dtype=np.float64)
        else:  # in float64, by blocks, so that both precisions draw by the same numbers
            parts = [kernel.evaluate_diag(self.X[rows].astype(np.float64)) for rows in row_blocks(self.n)]
            diagonal = np.concatenate(parts).astype(np.float64)
        if diagonal.min() < 0:
            row = int(np.argmin(diagonal))
            raise ValueError(f"{kernel!r} is not positive semi-definite: k(x, x) = {diagonal[row]:.6g} at row {row}.")
        if not diagonal.any():
            raise ValueError(f"{kernel!r} is zero on every row of X; there is nothing to approximate.")
        return diagonal


def rows_of(owner: str, X: Source, n_landmarks: int, rng: np.random.RandomState) -> tuple[Rows, Array | None]:
    """Return rows that can be indexed; of a stream a sample, and the numbers of its rows."""
    if isinstance(X, Blocks | Iterator):
        return reservoir(X, max(_RESERVOIR_ROWS, _RESERVOIR_PER_LANDMARK * n_landmarks), rng)
    if isinstance(X, Ragged):
        return X, None
    objects = as_objects(X) if isinstance(X, list | tuple) and not _numeric(X) else X
    if isinstance(objects, np.ndarray) and objects.ndim == 1:
        return objects, None
    return check_matrix(owner, "X", objects), None


def _numeric(X: Sequence[object]) -> bool:
    try:
        array = np.asarray(X)
    except ValueError:  # members of different lengths
        return False
    return array.ndim == 2 and np.issubdtype(array.dtype, np.number)
