"""The subtree kernel: common complete subtrees."""

from dataclasses import dataclass, field
from typing import ClassVar

from mercer import key_core
from mercer._typing import override
from mercer.kernels.structured.parts import PartDraw, PartKernel, check_counts
from mercer.key_core import Keys
from mercer.structures import Ragged, Trees
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_real


@dataclass(frozen=True, repr=False)
class Subtree(PartKernel):
    r"""The subtree kernel: pairs of nodes with the same complete subtree, each weighing decay to the number of nodes.

    Parameters
    ----------
    decay : float, default=1.0
        Weight of a pair of equal subtrees of s nodes: decay^s. Above 0.
    counts : "product", "presence" or "intersection"
        The last needs decay = 1.

    References
    ----------
    S. V. N. Vishwanathan and A. Smola, "Fast kernels for string and tree matching", NIPS 2002.

    Examples
    --------
    >>> from mercer.kernels import Subtree
    >>> Subtree()(["(a b b)", "(a b c)"])
    array([[5., 2.],
           [2., 3.]])
    """

    decay: float = 1.0
    counts: str = field(default="product", kw_only=True)

    _domain: ClassVar[Domain] = "trees"

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", check_real("Subtree", "decay", self.decay, least=0, strict=True))
        check_counts("Subtree", self.counts)
        if self.counts == "intersection" and self.decay != 1.0:
            raise ValueError(f"Subtree: counts='intersection' needs decay=1.0, got {self.decay}.")

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Trees):
            raise other_rows(self, Trees, X)
        keys, sizes = key_core.subtree_keys(X, draw.seed)
        return keys if self.decay == 1.0 else keys._replace(weights=self.decay ** (sizes / 2))
