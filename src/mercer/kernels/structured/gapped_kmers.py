"""The gapped k-mer kernel: common windows seen through masks."""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.kernels.structured.alphabets import alphabet_of, check_alphabet, complement_of
from mercer.kernels.structured.parts import EXACT, PartDraw, PartKernel, check_counts
from mercer.key_core import Counted, Keys
from mercer.structures import Ragged, Strings
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer

# Masks that a map may draw from one by one; of more it draws distinct ones at random.
_LISTED_MASKS = 200_000


@dataclass(frozen=True, repr=False)
class GappedKmers(PartKernel):
    r"""The gapped k-mer kernel: windows of a length that agree in all places but some gaps.

    The value is the mean, over all :math:`\binom{l}{g}` masks that hide g of l places, of the spectrum kernel of what
    the masks leave: with :math:`a` the number of places in which two windows agree, the sum over all pairs of windows
    of :math:`\binom{a}{l-g} / \binom{l}{g}`.

    Parameters
    ----------
    length : int
        Letters of a window, l.
    gaps : int
        Hidden places, g < l.
    both_strands : bool
        Whether the reverse complements of windows count too; needs an alphabet of nucleotides.
    counts : "product", "presence" or "intersection"
    alphabet : str, optional
        Letters that count; any other ends a window. All bytes by default.
    fold_case : bool
        Whether capital letters are small ones.

    Notes
    -----
    Exact values take all masks. A feature map draws ``n_masks`` of them without replacement, each of which is an
    unbiased estimate of the kernel; k(x, x) is exact all the same, from the agreements of windows, at L^2 / 2 steps for
    a string of L letters.

    References
    ----------
    M. Ghandi et al., "Enhanced regulatory sequence prediction using gapped k-mer features", PLoS Comput. Biol. 2014.
    D. Blakely et al., "FastSK: fast sequence analysis with gapped string kernels", Bioinformatics 2020.

    Examples
    --------
    >>> from mercer.kernels import GappedKmers
    >>> GappedKmers(3, 1)(["ACG", "ATG"]).round(4)
    array([[1.    , 0.3333],
           [0.3333, 1.    ]])
    """

    length: int
    gaps: int
    both_strands: bool = field(default=False, kw_only=True)
    counts: str = field(default="product", kw_only=True)
    alphabet: str | None = field(default=None, kw_only=True)
    fold_case: bool = field(default=False, kw_only=True)

    _domain: ClassVar[Domain] = "strings"

    def __post_init__(self) -> None:
        check_integer("GappedKmers", "length", self.length, most=64)
        check_integer("GappedKmers", "gaps", self.gaps, least=0, most=self.length - 1)
        check_counts("GappedKmers", self.counts)
        check_alphabet("GappedKmers", self.alphabet, fold_case=self.fold_case, both_strands=self.both_strands)

    @property
    @override
    def samples_parts(self) -> bool:
        return True

    @property
    def n_masks(self) -> int:
        """The number of all masks."""
        return comb(self.length, self.gaps)

    @override
    def parts_per_item(self, draw: PartDraw) -> int:
        drawn = self.n_masks if draw.n_masks is None else min(self.n_masks, draw.n_masks)
        return drawn * (2 if self.both_strands else 1)

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Strings):
            raise other_rows(self, Strings, X)
        masks = drawn_masks(self.length, self.gaps, draw.n_masks, draw.seed)
        alphabet = alphabet_of(self.alphabet, fold_case=self.fold_case)
        return key_core.masked_keys(X, alphabet, masks, self.length, draw.seed, self._complement())

    @override
    def counted(self, X: Rows, draw: PartDraw = EXACT) -> Counted:
        counted = super().counted(X, draw)  # of all masks; the kernel is the mean of the masks
        scale = 1 / len(drawn_masks(self.length, self.gaps, draw.n_masks, draw.seed))
        return counted._replace(values=counted.values * scale**0.5, squares=counted.squares * scale)

    def _complement(self) -> Array:
        return complement_of(str(self.alphabet)) if self.both_strands else np.empty(0, dtype=np.uint8)

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        if self.counts != "product":
            return super().evaluate_diag(X)
        kept = self.length - self.gaps
        values = np.array([comb(agreeing, kept) / self.n_masks for agreeing in range(self.length + 1)])
        alphabet = alphabet_of(self.alphabet, fold_case=self.fold_case)
        return key_core.agreement_sums(X, alphabet, self._complement(), values)  # type: ignore[arg-type]


@lru_cache(maxsize=16)
def drawn_masks(length: int, gaps: int, n_masks: int | None, seed: int) -> Array:
    """Return the kept places of masks (m, length - gaps): all masks, or ``n_masks`` of them drawn by a seed."""
    kept, n_all = length - gaps, comb(length, gaps)
    if n_masks is None or n_masks >= n_all:
        if n_all > _LISTED_MASKS:
            raise ValueError(
                f"GappedKmers: length={length} and gaps={gaps} have {n_all} masks, too many for exact values. Take a "
                "feature map, which draws some of them."
            )
        return np.array(list(combinations(range(length), kept)), dtype=np.int32).reshape(-1, kept)
    rng = np.random.RandomState(seed % 2**32)
    if n_all <= _LISTED_MASKS:
        every = np.array(list(combinations(range(length), kept)), dtype=np.int32)
        return np.ascontiguousarray(every[np.sort(rng.permutation(n_all)[:n_masks])])
    found: set[tuple[int, ...]] = set()
    while len(found) < n_masks:
        found.add(tuple(sorted(rng.permutation(length)[:kept].tolist())))
    return np.array(sorted(found), dtype=np.int32)
