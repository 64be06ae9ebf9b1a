"""Windows of strings and of series, as vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mercer._typing import Array, override
from mercer.kernels.structured.alphabets import alphabet_of, check_alphabet
from mercer.kernels.structured.decompositions import Decomposed, Decomposition
from mercer.key_core import Alphabet
from mercer.state import Count, Either, Flag, Many, Real, Stored, Text, part
from mercer.structures import Bags, Ragged, Strings
from mercer.structures.domains import Domain
from mercer.structures.ragged import ends_of, other_rows
from mercer.validation import check_integer, check_real


@part("Windows")
@dataclass(frozen=True, repr=False)
class Windows(Decomposition):
    """All windows of k letters of a string, or of k vectors of a series: parts for ``Convolution``.

    Parameters
    ----------
    k : int
        Letters, or vectors, of a window.
    alphabet : str, optional
        Letters that count; any other ends a window. Without an alphabet the objects are series: bags whose vectors are
        in order. A window is then k vectors, one after the other.
    encoding : "one_hot" or a sequence of vectors, default="one_hot"
        The vector of each letter of the alphabet, in its order: such as properties of amino acids. Strings only.
    fold_case : bool
        Whether capital letters are small ones.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> from mercer.kernels import Convolution, Windows
    >>> kernel = Convolution(Gaussian(gamma=0.5), decompose=Windows(2, alphabet="ACGT"))
    >>> kernel(["ACG", "ACT"]).round(4)
    array([[2.2707, 1.6386],
           [1.6386, 2.2707]])
    """

    k: int
    alphabet: str | None = field(default=None, kw_only=True)
    encoding: str | Sequence[Sequence[float]] = field(default="one_hot", kw_only=True)
    fold_case: bool = field(default=False, kw_only=True)

    _stored = Stored(
        k=Count(least=1),
        alphabet=Text(nullable=True),
        encoding=Either((Text(), Many(Many(Real(), of=tuple), of=tuple))),
        fold_case=Flag(),
    )

    def __post_init__(self) -> None:
        check_integer("Windows", "k", self.k, most=2**16)
        check_alphabet("Windows", self.alphabet, fold_case=self.fold_case)
        if isinstance(self.encoding, str):
            if self.encoding != "one_hot":
                raise ValueError(f"Windows: encoding must be 'one_hot' or a vector per letter, got {self.encoding!r}.")
            return
        rows = tuple(
            tuple(check_real("Windows", f"encoding[{i}]", value, least=-np.inf) for value in row)
            for i, row in enumerate(self.encoding)
        )
        if self.alphabet is None or len(rows) != len(self.alphabet) or len({len(row) for row in rows}) != 1:
            n_letters = 0 if self.alphabet is None else len(self.alphabet)
            raise ValueError(
                f"Windows: encoding must hold one vector, of one length, for each of the {n_letters} letters of "
                f"alphabet, got {len(rows)} vectors."
            )
        object.__setattr__(self, "encoding", rows)

    def _check_stored(self, sizes: object) -> None:
        self.__post_init__()

    @property
    @override
    def domain(self) -> Domain:
        return "bags" if self.alphabet is None else "strings"

    @override
    def parts_of(self, X: Ragged) -> Decomposed:
        if self.alphabet is None:
            if not isinstance(X, Bags):
                raise other_rows(self, Bags, X)
            starts, pointers = _starts(X.pointers(), np.zeros(len(X.values), dtype=bool), self.k)
            width = X.values.shape[1]
            vectors = X.values[starts[:, None] + np.arange(self.k)].reshape(len(starts), self.k * width)
            return Decomposed(pointers, vectors)
        if not isinstance(X, Strings):
            raise other_rows(self, Strings, X)
        pointers, codes = window_codes(X, alphabet_of(self.alphabet, fold_case=self.fold_case), self.k)
        table = self._table().astype(X.dtype)
        return Decomposed(pointers, table[codes].reshape(len(codes), self.k * table.shape[1]))

    def _table(self) -> Array:
        """Return the vector of each code; codes number the sorted letters."""
        assert self.alphabet is not None  # noqa: S101 - of strings
        if isinstance(self.encoding, str):
            return np.eye(len(self.alphabet))
        return np.array(self.encoding)[np.argsort(list(self.alphabet), kind="stable")]


def window_codes(X: Strings, alphabet: Alphabet, k: int) -> tuple[Array, Array]:
    """Return the pointers and the codes (m, k) of all windows of k letters of the alphabet."""
    codes = alphabet.codes[X.text]
    starts, pointers = _starts(X.pointers(), codes == 255, k)
    return pointers, codes[starts[:, None] + np.arange(k)]


def _starts(pointers: Array, ends_window: Array, k: int) -> tuple[Array, Array]:
    """Return the first items of all windows of k items that lie in one object and hold no item that ends them."""
    n = len(ends_window)
    starts = np.arange(max(n - k + 1, 0))
    barred = np.concatenate([[0], np.cumsum(ends_window)])
    object_of = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    inside = object_of[starts] == object_of[starts + k - 1] if len(starts) else np.zeros(0, dtype=bool)
    starts = starts[inside & (barred[starts + k] == barred[starts])] if len(starts) else starts
    return starts, ends_of(np.bincount(object_of[starts], minlength=len(pointers) - 1))
