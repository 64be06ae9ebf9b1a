"""Smoothed attributes of the nodes of graphs, as vectors."""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from mercer import key_core
from mercer._typing import Array, override
from mercer.kernels.structured.decompositions import Decomposed, Decomposition
from mercer.kernels.structured.parts import EXACT
from mercer.state import Count, Flag, Stored, part
from mercer.structures import Graphs, Ragged
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer


@part("Neighbourhoods")
@dataclass(frozen=True, repr=False)
class Neighbourhoods(Decomposition):
    r"""The attributes of each node, smoothed over its neighbours: parts for ``Convolution``.

    In each round :math:`x_v \leftarrow (x_v + \text{mean of } x_u \text{ over the neighbours } u) / 2`; a node without
    neighbours keeps its attributes.

    Parameters
    ----------
    depth : int
        Rounds.
    labels : bool, default=False
        Whether only nodes with the same Weisfeiler-Lehman label of this depth are compared. The convolution is then the
        Weisfeiler-Lehman kernel of its last round with continuous attributes, compared by any kernel of vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.kernels import Convolution, Neighbourhoods
    >>> graphs = [([(0, 1)], 2, None, [[0.0], [1.0]]), ([], 1, None, [[0.0]])]
    >>> Convolution(Gaussian(gamma=1.0), decompose=Neighbourhoods(0)).diag(graphs).round(4)
    array([2.7358, 1.    ])

    References
    ----------
    M. Togninalli et al., "Wasserstein Weisfeiler-Lehman graph kernels", NeurIPS 2019 (the smoothing).
    """

    depth: int
    labels: bool = field(default=False, kw_only=True)

    _stored = Stored(depth=Count(), labels=Flag())

    def __post_init__(self) -> None:
        check_integer("Neighbourhoods", "depth", self.depth, least=0, most=2**16)

    def _check_stored(self, sizes: object) -> None:
        self.__post_init__()

    @property
    @override
    def domain(self) -> Domain:
        return "graphs"

    @override
    def parts_of(self, X: Ragged) -> Decomposed:
        if not isinstance(X, Graphs):
            raise other_rows(self, Graphs, X)
        if X.attributes is None:
            raise ValueError(
                "Neighbourhoods: the graphs have no attributes of nodes. Give (edges, labels, edge_labels, attributes) "
                "or networkx graphs whose nodes have 'attributes', or take WeisfeilerLehman for labels alone."
            )
        vectors = self._smoothed(X, X.attributes.astype(X.dtype, copy=False))
        return Decomposed(X.pointers(), vectors, self._last_round(X) if self.labels else None)

    def _smoothed(self, X: Graphs, vectors: Array) -> Array:
        starts = np.repeat(X.pointers()[:-1], X.sizes)
        target = X.neighbours + np.repeat(starts, X.degrees)
        shape = (len(vectors), len(vectors))
        share = np.repeat(1 / np.maximum(X.degrees, 1), X.degrees).astype(X.dtype)
        mean = sparse.csr_array((share, target, X.node_pointers), shape=shape)
        alone = (X.degrees == 0)[:, None]
        for _ in range(self.depth):
            vectors = np.where(alone, vectors, (vectors + mean @ vectors) / 2)
        return vectors

    def _last_round(self, X: Graphs) -> Array:
        """Return the refined label of each node after the last round."""
        keys = key_core.refined_keys(X, self.depth, EXACT.seed).keys
        starts = np.repeat(X.pointers()[:-1], X.sizes)
        sizes = np.repeat(X.sizes, X.sizes)
        return np.asarray(keys[(self.depth + 1) * starts + self.depth * sizes + np.arange(len(starts)) - starts])
