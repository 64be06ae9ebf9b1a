"""The shortest-path kernel: common pairs of labels at a distance."""

from dataclasses import dataclass, field
from typing import ClassVar

from mercer import key_core
from mercer._typing import Rows, override
from mercer.kernels.structured.parts import EXACT, PartDraw, PartKernel, check_counts
from mercer.key_core import Counted, Keys
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
    def counted(self, X: Rows, draw: PartDraw = EXACT) -> Counted:
        found = key_core.count_paths(_checked(X), draw.seed, self.counts)
        return super().counted(X, draw) if found is None else found

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        return key_core.path_keys(_checked(X), draw.seed)


def _checked(X: Rows) -> Graphs:
    """Return graphs whose pairs of nodes fit in memory; refuse others."""
    if not isinstance(X, Graphs):
        raise other_rows(ShortestPath(), Graphs, X)
    sizes = X.sizes
    largest, n_bytes = int(sizes.max(initial=0)), 40 * int((sizes.astype(float) ** 2).sum())
    way_out = "Leave the largest graphs out, or take WeisfeilerLehman, whose cost is linear in the nodes."
    check_memory("ShortestPath", "nodes of the largest graph", largest, n_bytes, "all pairs of nodes", way_out=way_out)
    return X
