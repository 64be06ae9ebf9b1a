"""The weighted degree kernel: common substrings at the same places."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mercer import key_core
from mercer._typing import Rows, override
from mercer.kernels.structured.alphabets import alphabet_of, check_alphabet
from mercer.kernels.structured.parts import PartDraw, PartKernel
from mercer.key_core import Keys
from mercer.structures import Ragged, Strings
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer, row_number


@dataclass(frozen=True, repr=False)
class WeightedDegree(PartKernel):
    r"""The weighted degree kernel of strings of one length: substrings that agree in place.

    .. math:: \sum_{j=1}^d \frac{2 (d - j + 1)}{d (d + 1)} \sum_i 1[x_{i..i+j} = y_{i..i+j}]

    Parameters
    ----------
    degree : int
        Length d of the longest substrings.
    alphabet : str, optional
        Letters that count; any other ends a window. All bytes by default.
    fold_case : bool
        Whether capital letters are small ones.

    References
    ----------
    G. Rätsch and S. Sonnenburg, "Accurate splice site detection for C. elegans", 2004.

    Examples
    --------
    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(2)(["ACG", "ACT"]).round(4)
    array([[2.6667, 1.6667],
           [1.6667, 2.6667]])
    """

    degree: int
    alphabet: str | None = field(default=None, kw_only=True)
    fold_case: bool = field(default=False, kw_only=True)

    _domain: ClassVar[Domain] = "strings"

    def __post_init__(self) -> None:
        check_integer("WeightedDegree", "degree", self.degree, most=254)
        check_alphabet("WeightedDegree", self.alphabet, fold_case=self.fold_case)

    @override
    def check_domain(self, name: str, X: Rows) -> None:
        sizes = X.sizes if isinstance(X, Ragged) else np.zeros(0)
        other = np.flatnonzero(sizes != sizes[:1])
        if len(other):
            raise ValueError(
                f"WeightedDegree: {name} must hold strings of one length, got {sizes[0]} letters in {name}[0] and "
                f"{sizes[other[0]]} in {name}[{row_number(int(other[0]))}]. Pad or cut them, or take Spectrum."
            )

    @override
    def parts_per_item(self, draw: PartDraw) -> int:
        return self.degree

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Strings):
            raise other_rows(self, Strings, X)
        alphabet = alphabet_of(self.alphabet, fold_case=self.fold_case)
        keys, lengths = key_core.substring_keys(X, alphabet, 1, self.degree, draw.seed, placed=True)
        d = self.degree
        weights = np.sqrt(2 * (d - np.arange(d + 1) + 1) / (d * (d + 1)))
        return keys._replace(weights=weights[lengths])
