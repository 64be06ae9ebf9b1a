"""The graphlet kernel: common small connected subgraphs."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mercer import key_core
from mercer._typing import Array, override
from mercer.kernels.structured.parts import PartDraw, PartKernel
from mercer.key_core import Keys
from mercer.structures import Graphs, Ragged
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer

# Subgraphs of the graphs of a block beyond which exact values are refused: 2 GiB of keys and weights.
_MOST_SUBGRAPHS = 2**27
# Up to this size feature maps take all subgraphs, too.
_EXACT_SIZE = 3


@dataclass(frozen=True, repr=False)
class Graphlets(PartKernel):
    r"""The graphlet kernel: connected induced subgraphs of a few nodes that are isomorphic, with labels.

    .. math:: k(x, y) = \sum_H c_H(x)\, c_H(y),

    with :math:`c_H(x)` the number of sets of nodes of x whose induced subgraph is isomorphic to the connected graph H.
    Labels of nodes, and of edges where the graphs have any, belong to H.

    Parameters
    ----------
    size : int, default=4
        Nodes of a subgraph: 3, 4 or 5.
    n_draws : int or None, default=4096
        Subgraphs that a feature map draws from a graph with more of them; it takes all where the size is 3. None: all.
        Values of the kernel itself are always those of all subgraphs.

    Notes
    -----
    A draw grows from a uniform node by uniform edges that leave the set, and the probability p(S) of the set S of nodes
    that it ends with is known, over all orders. It counts :math:`1 / (m\, p(S))` with m draws, so that the counts
    :math:`\hat c` of a graph are unbiased, with the covariance

    .. math:: \Sigma(x) = \frac{1}{m} \Big( \mathrm{diag}\Big( \sum_{S \in H} \frac{1}{p(S)} \Big) - c\, c^\top \Big).

    Graphs that differ in their edges or in the labels of their nodes have independent draws: the estimate of k(x, y) is
    unbiased, with the variance :math:`c(y)^\top \Sigma(x) c(y) + c(x)^\top \Sigma(y) c(x) + \mathrm{tr}\, \Sigma(x)
    \Sigma(y)`, to which hashing adds its own. A graph with itself has the mean :math:`k(x, x) + \mathrm{tr}\,
    \Sigma(x)`, which ``PartFeatures.bias`` estimates. Graphs that differ in the labels of their edges alone share their
    draws, and are biased too. ``Normalized`` takes the exact k(x, x), from all subgraphs. Draws depend on the order of
    the nodes.

    Time O(number of subgraphs), or O(nodes + edges + n_draws log(degree)) for a graph that is drawn from. Two different
    labelled graphs have the same key with a probability of about 2^-61.

    References
    ----------
    N. Shervashidze et al., "Efficient graphlet kernels for large graph comparison", AISTATS 2009.
    S. Wernicke, "Efficient detection of network motifs", IEEE/ACM TCBB 2006.

    Examples
    --------
    >>> from mercer.kernels import Graphlets
    >>> path, triangle = ([(0, 1), (1, 2), (2, 3)], 4), ([(0, 1), (1, 2), (2, 0)], 3)
    >>> Graphlets(3)([path, triangle])
    array([[4., 0.],
           [0., 1.]])
    """

    size: int = 4
    n_draws: int | None = field(default=4096, kw_only=True)

    _domain: ClassVar[Domain] = "graphs"

    def __post_init__(self) -> None:
        check_integer("Graphlets", "size", self.size, least=3, most=5)
        if self.n_draws is not None:
            check_integer("Graphlets", "n_draws", self.n_draws, least=2)

    @property
    @override
    def samples_parts(self) -> bool:
        return self.n_draws is not None and self.size > _EXACT_SIZE

    @override
    def parts_per_item(self, draw: PartDraw) -> int:
        return int(4 ** (self.size - 1))  # subgraphs that begin in a node of a molecule

    @override
    def draw_groups(self, X: Ragged) -> Array | None:
        if not self.samples_parts or not isinstance(X, Graphs):
            return None
        nodes, edges = X.pointers(), X.pointers("edges")
        found = []
        for a, b, first, last in zip(nodes[:-1], nodes[1:], edges[:-1], edges[1:], strict=True):
            content = X.labels[a:b], X.degrees[a:b], X.neighbours[first:last]
            found.append(hash(tuple(one.tobytes() for one in content)))
        return np.array(found, dtype=np.int64)

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Graphs):
            raise other_rows(self, Graphs, X)
        drawn = self.n_draws if self.samples_parts and draw.n_masks is not None else None
        found = key_core.subgraph_keys(X, self.size, drawn, draw.seed, most=_MOST_SUBGRAPHS)
        if found is None:
            raise ValueError(
                f"Graphlets: these graphs have more than {_MOST_SUBGRAPHS} connected subgraphs of {self.size} nodes. "
                "Take a feature map of Graphlets(4) without Normalized, which draws some of them, or lower size."
            )
        return found
