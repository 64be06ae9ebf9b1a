"""The partial-tree kernel: common fragments of trees whose nodes keep some of their children."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.kernels.structured.parts import PartDraw, PartKernel
from mercer.key_core import Keys
from mercer.structures import Ragged, Trees
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer, check_real

# Fragments of the trees of a block beyond which a kernel is refused: 3 GiB of keys, shapes and weights.
_MOST_FRAGMENTS = 2**27


@dataclass(frozen=True, repr=False)
class PartialTree(PartKernel):
    r"""The partial-tree kernel: common fragments whose nodes keep any of their children, in order.

    It is the sum over all pairs of nodes of

    .. math:: \Delta(a, b) = \mu \Big( \lambda^2 + \sum_{I, J} \lambda^{g(I) + g(J)} \prod_i \Delta(a_{I_i}, b_{J_i})
       \Big)

    where a and b have the same label, and 0 elsewhere: I and J are ordered sets of as many children, and g counts the
    children left out between the first and the last of a set. The term :math:`\lambda^2` is the node alone; it is
    multiplied by :math:`\sqrt{T}` for each of a and b that is a leaf.

    Parameters
    ----------
    decay : float, default=0.4
        The factor :math:`\mu` of each node of a fragment. Above 0.
    gap_decay : float, default=0.4
        The factor :math:`\lambda` of a child left out, and of a node that keeps no child. Above 0.
    terminal : float, default=1
        The factor T of leaves. Above 0.
    max_size : int or None, default=4
        Nodes of the largest fragments. None: fragments of any size, by recursion. This kernel has values, but no list
        of parts: take ``Nystroem`` as its feature map.

    Notes
    -----
    A fragment of s nodes, g gaps and l leaves, of which e nodes keep no child, weighs :math:`\mu^{s/2} \lambda^{g + e}
    T^{l/2}` in each tree. Lists of fragments grow fast with ``max_size``: a node with c children has c(c - 1)/2
    fragments of three nodes with two of them. Values without a limit take O(children^3) for each pair of nodes with the
    same label.

    KeLP gives T, and not :math:`\sqrt{T}`, where one of two nodes is a leaf, which is no kernel in general. Where
    labels of leaves and of other nodes differ, ``PartialTree(max_size=None)`` is equal to it.

    References
    ----------
    A. Moschitti, "Efficient convolution kernels for dependency and constituent syntactic trees", ECML 2006.

    Examples
    --------
    >>> from mercer.kernels import PartialTree
    >>> PartialTree(1.0, 1.0)(["(a b c)", "(a c)"])
    array([[6., 3.],
           [3., 3.]])
    """

    decay: float = 0.4
    gap_decay: float = 0.4
    terminal: float = field(default=1.0, kw_only=True)
    max_size: int | None = field(default=4, kw_only=True)

    _domain: ClassVar[Domain] = "trees"

    def __post_init__(self) -> None:
        for name in ("decay", "gap_decay", "terminal"):
            value = check_real("PartialTree", name, getattr(self, name), least=0, strict=True)
            object.__setattr__(self, name, value)
        if self.max_size is not None:
            check_integer("PartialTree", "max_size", self.max_size, most=64)

    @property
    @override
    def lists_parts(self) -> bool:
        return self.max_size is not None

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if self.max_size is None:
            raise ValueError("PartialTree: max_size=None has no list of fragments; give max_size, or take Nystroem.")
        found = key_core.partial_tree_keys(self._trees(X), self.max_size, draw.seed, most=_MOST_FRAGMENTS)
        if found is None:
            raise ValueError(
                f"PartialTree: max_size={self.max_size} gives these trees more than {_MOST_FRAGMENTS} fragments. Lower "
                "max_size, or leave the largest trees out."
            )
        keys, shapes = found
        nodes, gaps, leaves = shapes.T
        weights = self.decay ** (nodes / 2) * self.gap_decay**gaps * self.terminal ** (leaves / 2)
        return keys._replace(weights=weights)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        if self.max_size is not None:
            return super().evaluator(Y, dtype)
        factors, right = (self.decay, self.gap_decay, self.terminal), self._trees(Y)
        return lambda X: np.asarray(key_core.partial_tree_values(self._trees(X), right, *factors), dtype=dtype)

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        if self.max_size is not None:
            return super().evaluate_diag(X)
        factors = (self.decay, self.gap_decay, self.terminal)
        return key_core.partial_tree_values(self._trees(X), None, *factors)[:, 0]

    def _trees(self, X: Rows | Ragged) -> Trees:
        if not isinstance(X, Trees):
            raise other_rows(self, Trees, X)
        return X
