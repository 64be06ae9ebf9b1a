"""The subsequence kernel: common subsequences of letters, which need not be neighbours."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.kernels.structured.alphabets import alphabet_of, check_alphabet
from mercer.key_core import Alphabet
from mercer.structures import Strings
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer, check_real

_LONGEST = 64


@dataclass(frozen=True, repr=False)
class Subsequence(Kernel):
    r"""The subsequence kernel: all common subsequences of p letters, weighed by their spans.

    .. math:: k(x, y) = \sum_{u \in \Sigma^p} \phi_u(x)\, \phi_u(y), \qquad
       \phi_u(x) = \sum_{i_1 < \dots < i_p,\; x[i] = u} \lambda^{\,i_p - i_1 + 1}.

    The letters of a subsequence keep their order and need not be neighbours: each place between its first and its last
    letter costs a factor :math:`\lambda`.

    Parameters
    ----------
    length : int
        Letters p of a subsequence, at most 64.
    decay : float, default=0.5
        The factor :math:`\lambda`, above 0 and at most 1.
    alphabet : str, optional
        Letters that count. Any other belongs to no subsequence, and is a place like all places in the span of those
        around it. All bytes by default.
    fold_case : bool
        Whether capital letters are small ones.

    Notes
    -----
    Exact values take O(p |x| |y|) for each pair of strings. ``SubsequenceSketch``, its feature map, takes O(p |x| D)
    for each string. ``Normalized`` divides by the exact lengths, at O(p |x|^2) for each string.

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, "Text classification using string kernels",
    JMLR 2002.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> Subsequence(2, 0.5)(["cat", "car"])
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    """

    length: int
    decay: float = 0.5
    alphabet: str | None = field(default=None, kw_only=True)
    fold_case: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_integer("Subsequence", "length", self.length, most=_LONGEST)
        decay = check_real("Subsequence", "decay", self.decay, least=0, strict=True)
        if decay > 1:
            raise ValueError(f"Subsequence: decay must be above 0 and at most 1, got {decay}.")
        object.__setattr__(self, "decay", decay)
        check_alphabet("Subsequence", self.alphabet, fold_case=self.fold_case)

    @property
    @override
    def domain(self) -> Domain:
        return "strings"

    @property
    def letters(self) -> Alphabet:
        """The codes of the letters that count."""
        return alphabet_of(self.alphabet, fold_case=self.fold_case)

    @property
    def n_letters(self) -> int:
        """How many letters count."""
        codes = self.letters.codes
        return int(codes[codes < 255].max()) + 1

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self.evaluator(Y, np.float64)(X)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        right = self.strings(Y)

        def values(X: Rows) -> Array:
            found = key_core.subsequence_values(self.strings(X), right, self.letters, self.length, self.decay)
            return found.astype(dtype, copy=False)

        return values

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return key_core.subsequence_values(self.strings(X), None, self.letters, self.length, self.decay)[:, 0]

    def strings(self, X: Rows) -> Strings:
        """Return packed strings as they are, and refuse other rows."""
        if not isinstance(X, Strings):
            raise other_rows(self, Strings, X)
        return X
