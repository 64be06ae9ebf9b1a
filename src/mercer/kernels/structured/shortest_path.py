"""The shortest-path kernel: common pairs of labels at a distance."""

from dataclasses import dataclass, field
from typing import ClassVar

from mercer import key_core
from mercer._typing import override
from mercer.kernels.structured.parts import PartDraw, PartKernel, check_counts
from mercer.key_core import Keys
from mercer.structures import Graphs, Ragged
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_memory


@dataclass(frozen=True, repr=False)
class ShortestPath(PartKernel):
    """The shortest-path kernel: ordered pairs of different nodes with the same two labels and the same distance.

    Distances count edges; pairs that no path joins, and labels of edges, do not count.

    Parameters
    ----------
    counts : "product", "presence" or "intersection"

    Notes
    -----
    Time and memory O(nodes (nodes + edges)) and O(nodes^2) for each graph.

    References
    ----------
    K. Borgwardt and H.-P. Kriegel, "Shortest-path kernels on graphs", ICDM 2005.

    Examples
    --------
    >>> from mercer.kernels import ShortestPath
    >>> ShortestPath()([([(0, 1), (1, 2)], 3), ([(0, 1)], 2)])
    array([[20.,  8.],
           [ 8.,  4.]])
    """

    counts: str = field(default="product", kw_only=True)

    _domain: ClassVar[Domain] = "graphs"

    def __post_init__(self) -> None:
        check_counts("ShortestPath", self.counts)

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Graphs):
            raise other_rows(self, Graphs, X)
        sizes = X.sizes
        largest, n_bytes = int(sizes.max(initial=0)), 40 * int((sizes.astype(float) ** 2).sum())
        way_out = "Leave the largest graphs out, or take WeisfeilerLehman, whose cost is linear in the nodes."
        check_memory(
            "ShortestPath", "nodes of the largest graph", largest, n_bytes, "all pairs of nodes", way_out=way_out
        )
        return key_core.path_keys(X, draw.seed)
