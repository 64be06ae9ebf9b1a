"""The subset-tree kernel: common fragments of trees."""

from dataclasses import dataclass, field
from typing import ClassVar

from mercer import key_core
from mercer._typing import override
from mercer.kernels.structured.parts import PartDraw, PartKernel
from mercer.key_core import Keys
from mercer.structures import Ragged, Trees
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer, check_real

# Fragments of the trees of a block beyond which a kernel is refused: 3 GiB of keys and weights.
_MOST_FRAGMENTS = 2**27


@dataclass(frozen=True, repr=False)
class SubsetTree(PartKernel):
    r"""The subset-tree kernel: common fragments of at most ``max_size`` productions, each weighing decay^size.

    A production is a node with all its children. A fragment is a production in which any of the children that have
    children may be replaced by fragments of their own.

    Parameters
    ----------
    decay : float, default=0.4
        Weight of a pair of equal fragments of s productions: decay^s. Above 0.
    max_size : int, default=4
        Productions of the largest fragments. The number of all fragments grows exponentially with the size of a tree,
        and large ones are rare in two trees at once.
    leaves : bool, default=True
        Whether a leaf is a fragment of its own, of size 1.

    References
    ----------
    M. Collins and N. Duffy, "Convolution kernels for natural language", NIPS 2001.

    Examples
    --------
    >>> from mercer.kernels import SubsetTree
    >>> SubsetTree(1.0, leaves=False)(["(a (b c) (b d))", "(a (b c) (b c))"])
    array([[6., 4.],
           [4., 8.]])
    """

    decay: float = 0.4
    max_size: int = field(default=4, kw_only=True)
    leaves: bool = field(default=True, kw_only=True)

    _domain: ClassVar[Domain] = "trees"

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", check_real("SubsetTree", "decay", self.decay, least=0, strict=True))
        check_integer("SubsetTree", "max_size", self.max_size, most=64)

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Trees):
            raise other_rows(self, Trees, X)
        found = key_core.fragment_keys(X, self.max_size, draw.seed, leaves=self.leaves, most=_MOST_FRAGMENTS)
        if found is None:
            raise ValueError(
                f"SubsetTree: max_size={self.max_size} gives these trees more than {_MOST_FRAGMENTS} fragments. Lower "
                "max_size, or leave the largest trees out."
            )
        keys, sizes = found
        return keys if self.decay == 1.0 else keys._replace(weights=self.decay ** (sizes / 2))
