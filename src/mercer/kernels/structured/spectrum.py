"""The spectrum kernel: common substrings."""

from dataclasses import dataclass, field

from mercer import key_core
from mercer._typing import Rows, override
from mercer.kernels.structured.alphabets import alphabet_of, check_alphabet
from mercer.kernels.structured.parts import EXACT, PartDraw, PartKernel, check_counts
from mercer.key_core import Counted, Keys
from mercer.structures import Ragged, Sequences, Strings
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer


@dataclass(frozen=True, repr=False)
class Spectrum(PartKernel):
    r"""The spectrum kernel: :math:`\sum_u c_u(x)\, c_u(y)` over the substrings u, with :math:`c_u` their counts.

    Parameters
    ----------
    k : int
        Length of the longest substrings.
    least : int, optional
        Length of the shortest, k by default: ``Spectrum(5, least=3)`` has the character 3-, 4- and 5-grams.
    counts : "product", "presence" or "intersection"
        Whether counts are multiplied, a substring counts once, or the smaller of the two counts is taken.
    alphabet : str, optional
        Letters that count, such as ``"ACGT"``; any other ends a window. All bytes by default.
    fold_case : bool
        Whether capital letters are small ones.
    tokens : bool
        Whether objects are ``Sequences`` of tokens (words, characters) in place of ``Strings`` of bytes.

    Notes
    -----
    Strings are bytes of UTF-8, and a substring may cut a letter outside ASCII; ``Sequences.of_characters`` and
    ``tokens=True`` keep letters whole. Time is that of reading a string k - least + 1 times.

    References
    ----------
    C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for SVM protein classification", 2002.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2)(["abab", "abc"])
    array([[5., 2.],
           [2., 2.]])
    """

    k: int
    least: int | None = field(default=None, kw_only=True)
    counts: str = field(default="product", kw_only=True)
    alphabet: str | None = field(default=None, kw_only=True)
    fold_case: bool = field(default=False, kw_only=True)
    tokens: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_integer("Spectrum", "k", self.k, most=2**16)
        if self.least is not None:
            check_integer("Spectrum", "least", self.least, most=self.k)
        check_counts("Spectrum", self.counts)
        check_alphabet("Spectrum", self.alphabet, fold_case=self.fold_case)
        if self.tokens and (self.alphabet is not None or self.fold_case):
            raise ValueError("Spectrum: tokens have no alphabet and no case; leave alphabet and fold_case out.")

    @property
    @override
    def domain(self) -> Domain:
        return "sequences" if self.tokens else "strings"

    @override
    def parts_per_item(self, draw: PartDraw) -> int:
        return self.k - self._shortest + 1

    @property
    def _shortest(self) -> int:
        return self.k if self.least is None else self.least

    @override
    def counted(self, X: Rows, draw: PartDraw = EXACT) -> Counted:
        if isinstance(X, Strings):
            alphabet = alphabet_of(self.alphabet, fold_case=self.fold_case)
            found = key_core.count_substrings(X, alphabet, self._shortest, self.k, self.counts)
            if found is not None:
                return found
        return super().counted(X, draw)

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        least = self._shortest
        if isinstance(X, Sequences):
            return key_core.token_keys(X, least, self.k, draw.seed)
        if not isinstance(X, Strings):
            raise other_rows(self, Strings, X)
        alphabet = alphabet_of(self.alphabet, fold_case=self.fold_case)
        return key_core.substring_keys(X, alphabet, least, self.k, draw.seed)[0]
