"""The Weisfeiler-Lehman kernel: common neighbourhoods of nodes."""

from dataclasses import dataclass, field
from typing import ClassVar

from mercer import key_core
from mercer._typing import override
from mercer.kernels.structured.parts import PartDraw, PartKernel, check_counts
from mercer.key_core import Keys
from mercer.structures import Graphs, Ragged
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer


@dataclass(frozen=True, repr=False)
class WeisfeilerLehman(PartKernel):
    """The Weisfeiler-Lehman subtree kernel: nodes of two graphs whose refined labels agree, in rounds 0 to depth.

    In each round the label of a node becomes a hash of its label and the labels of its neighbours, with the labels of
    the edges to them where the graphs have any. With ``counts="intersection"`` it is the Weisfeiler-Lehman optimal
    assignment kernel.

    Parameters
    ----------
    depth : int
        Rounds after the first: depth + 1 histograms in all.
    counts : "product", "presence" or "intersection"

    Notes
    -----
    Two different neighbourhoods have the same hash with a probability of about 2^-61. Time O(depth (nodes + edges)).
    Counts grow with the size of a graph: take ``Normalized(WeisfeilerLehman(3))`` unless size matters.

    References
    ----------
    N. Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 2011.
    N. Kriege, P.-L. Giscard and R. Wilson, "On valid optimal assignment kernels and applications to graph
    classification", NIPS 2016.

    Examples
    --------
    >>> from mercer.kernels import WeisfeilerLehman
    >>> path, triangle = ([(0, 1), (1, 2)], 3), ([(0, 1), (1, 2), (2, 0)], 3)
    >>> WeisfeilerLehman(1)([path, triangle])
    array([[14., 12.],
           [12., 18.]])
    """

    depth: int
    counts: str = field(default="product", kw_only=True)

    _domain: ClassVar[Domain] = "graphs"

    def __post_init__(self) -> None:
        check_integer("WeisfeilerLehman", "depth", self.depth, least=0, most=2**16)
        check_counts("WeisfeilerLehman", self.counts)

    @override
    def parts_per_item(self, draw: PartDraw) -> int:
        return self.depth + 1

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Graphs):
            raise other_rows(self, Graphs, X)
        return key_core.refined_keys(X, self.depth, draw.seed)
