"""The Hamming k-mer kernel: pairs of windows, weighed by their mismatches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.kernels.structured.alphabets import alphabet_of, check_alphabet, complement_of
from mercer.kernels.structured.decompositions import Decomposed
from mercer.kernels.structured.parts import EXACT, PartDraw, PartKernel, joined_parts
from mercer.kernels.structured.windows import window_codes
from mercer.key_core import Counted, Keys
from mercer.structures import Ragged, Strings
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer, check_real

# Longest windows whose 2^length masks are all taken where a map asks for all.
_MOST_LISTED = 12
# Pairs of windows that are compared at once.
_PAIRS_AT_ONCE = 2**20


@dataclass(frozen=True, repr=False)
class HammingKmers(PartKernel):
    r"""The sum over all pairs of windows of :math:`\lambda^{\text{mismatches}}`: a Gaussian of one-hot windows.

    It takes the place of the mismatch kernel, whose keys are alphabet^m times as many.

    Parameters
    ----------
    length : int
        Letters of a window.
    decay : float
        The weight :math:`\lambda` of one mismatch, above 0 and below 1.
    both_strands : bool
        Whether the reverse complements of windows count too; needs an alphabet of nucleotides.
    alphabet : str, optional
        Letters that count; any other ends a window. All bytes by default.
    fold_case : bool
        Whether capital letters are small ones.

    Notes
    -----
    Exact values take O(length) for each pair of windows. A feature map draws ``n_masks`` masks, in which each place is
    kept with probability 1 - decay: two windows agree on the kept places with probability decay^mismatches, so that
    each mask is an unbiased estimate. Masks that are drawn add the variance of one mask over n_masks.

    References
    ----------
    C. Leslie et al., "Mismatch string kernels for discriminative protein classification", Bioinformatics 2004.
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007 (random masks as bins).

    Examples
    --------
    >>> from mercer.kernels import HammingKmers
    >>> HammingKmers(3, 0.5)(["ACG", "ATG"])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    length: int
    decay: float
    both_strands: bool = field(default=False, kw_only=True)
    alphabet: str | None = field(default=None, kw_only=True)
    fold_case: bool = field(default=False, kw_only=True)

    _domain: ClassVar[Domain] = "strings"

    def __post_init__(self) -> None:
        check_integer("HammingKmers", "length", self.length, most=64)
        decay = check_real("HammingKmers", "decay", self.decay, least=0, strict=True)
        if decay >= 1:
            raise ValueError(f"HammingKmers: decay must be above 0 and below 1, got {decay}.")
        object.__setattr__(self, "decay", decay)
        check_alphabet("HammingKmers", self.alphabet, fold_case=self.fold_case, both_strands=self.both_strands)

    @property
    @override
    def samples_parts(self) -> bool:
        return True

    @override
    def parts_per_item(self, draw: PartDraw) -> int:
        drawn = 2**self.length if draw.n_masks is None else draw.n_masks
        return drawn * (2 if self.both_strands else 1)

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        raise NotImplementedError("HammingKmers: masks of different lengths are counted apart, by ``counted``.")

    @override
    def counted(self, X: Rows, draw: PartDraw = EXACT) -> Counted:
        if not isinstance(X, Strings):
            raise other_rows(self, Strings, X)
        groups = _drawn(self.length, self.decay, draw.n_masks, draw.seed)
        return joined_parts([self._of_masks(X, masks, weights, draw.seed) for masks, weights in groups])

    def _of_masks(self, X: Strings, masks: Array, weights: Array, seed: int) -> Counted:
        """Return the keys of windows seen through masks of one number of kept places, with the masks' weights."""
        alphabet = alphabet_of(self.alphabet, fold_case=self.fold_case)
        kept = masks if masks.shape[1] else np.zeros((len(masks), 1), dtype=np.int32)
        keys = key_core.masked_keys(X, alphabet, kept, self.length, seed, self._complement())
        number = np.tile(np.arange(len(masks)), len(keys.keys) // len(masks))  # masks follow each other for a window
        found = keys._replace(weights=weights[number])
        if not masks.shape[1]:  # without places all windows agree
            found = found._replace(keys=number.astype(np.uint64) + np.uint64(1))
        return key_core.count(found)

    def _complement(self) -> Array:
        return complement_of(str(self.alphabet)) if self.both_strands else np.empty(0, dtype=np.uint8)

    def _windows(self, X: Rows) -> Decomposed:
        if not isinstance(X, Strings):
            raise other_rows(self, Strings, X)
        pointers, codes = window_codes(X, alphabet_of(self.alphabet, fold_case=self.fold_case), self.length)
        return Decomposed(pointers, codes)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        right = self._windows(Y)
        turned = self._complement()
        other = turned[right.vectors][:, ::-1] if len(turned) else None

        def of_strings(X: Rows) -> Array:
            left = self._windows(X)
            out = np.zeros((len(left.sizes), len(right.sizes)))
            for i in range(len(out)):
                own = left.vectors[left.pointers[i] : left.pointers[i + 1]]
                sums = self._sums(own, right.vectors)
                if other is not None:  # both strands of both: each pair of strands is met twice
                    sums = 2 * (sums + self._sums(own, other))
                ends = np.concatenate([[0.0], np.cumsum(sums)])[right.pointers]
                out[i] = np.diff(ends)
            return out.astype(dtype)

        return of_strings

    def _sums(self, own: Array, others: Array) -> Array:
        """Return for each other window the sum over the own ones of decay^mismatches."""
        sums = np.zeros(len(others))
        few = max(1, _PAIRS_AT_ONCE // max(len(others), 1))
        powers = self.decay ** np.arange(self.length + 1.0)
        for start in range(0, len(own), few):
            mismatches = np.zeros((len(own[start : start + few]), len(others)), dtype=np.int64)
            for place in range(self.length):
                mismatches += own[start : start + few, place, None] != others[:, place]
            sums += powers[mismatches].sum(axis=0)
        return sums

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        values = self.decay ** np.arange(self.length, -1.0, -1.0)  # by agreements
        alphabet = alphabet_of(self.alphabet, fold_case=self.fold_case)
        return key_core.agreement_sums(X, alphabet, self._complement(), values)  # type: ignore[arg-type]


@lru_cache(maxsize=16)
def _drawn(length: int, decay: float, n_masks: int | None, seed: int) -> tuple[tuple[Array, Array], ...]:
    """Return masks and their weights, grouped by the number of kept places: drawn ones, or all of them."""
    if n_masks is None:
        if length > _MOST_LISTED:
            raise ValueError(f"HammingKmers: length={length} has 2^{length} masks, too many to take all. Give n_masks.")
        kept = (np.arange(2**length)[:, None] >> np.arange(length)) % 2 == 1
        number = kept.sum(axis=1)
        weights = np.sqrt((1 - decay) ** number * decay ** (length - number))
    else:
        kept = np.random.RandomState(seed % 2**32).random_sample((n_masks, length)) >= decay
        weights = np.full(n_masks, n_masks**-0.5)
    groups = []
    for size in np.unique(kept.sum(axis=1)):
        some = kept.sum(axis=1) == size
        places = np.nonzero(kept[some])[1].reshape(int(some.sum()), int(size)).astype(np.int32)
        groups.append((np.ascontiguousarray(places), weights[some]))
    return tuple(groups)
