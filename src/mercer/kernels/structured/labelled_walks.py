"""The random-walk kernel: common labels along walks."""

from dataclasses import dataclass
from typing import ClassVar

from mercer import key_core
from mercer._typing import override
from mercer.config import memory_budget
from mercer.kernels.structured.parts import PartDraw, PartKernel
from mercer.key_core import Keys
from mercer.structures import Graphs, Ragged
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows
from mercer.validation import check_integer, check_real

# Labels of walks of the graphs of a block beyond which a kernel is refused, and bytes of each: key, count and step, and
# hashes and counts of two lengths while they are made. At most a quarter of the memory budget is taken.
_MOST_WALKS, _WALK_BYTES = 2**27, 64


@dataclass(frozen=True, repr=False)
class LabelledWalks(PartKernel):
    r"""The random-walk kernel of bounded length: walks of two graphs with the same labels, weighed by their steps.

    .. math:: k(x, y) = \sum_{l=0}^{L} \lambda^l \sum_{u} c_u(x)\, c_u(y),

    with :math:`c_u(x)` the number of walks of l steps whose nodes, and edges where the graphs label them, have the
    labels u in turn. A walk may return to its nodes. The sum over l is finite: it converges for every :math:`\lambda`.

    Parameters
    ----------
    length : int, default=4
        Steps L of the longest walks.
    decay : float, default=0.5
        The factor :math:`\lambda` of each step. Above 0.

    Notes
    -----
    Walks with the same labels that end in the same node are counted together: a node has at most as many entries as
    there are sequences of labels around it, and graphs without labels have one for each length. Time O(entries x
    degree). All walks are counted; hashed features have the exact variance of ``PartFeatures``. Counts grow with the
    degrees: take ``Normalized(LabelledWalks(4))`` unless size matters.

    References
    ----------
    T. Gärtner, P. Flach and S. Wrobel, "On graph kernels: hardness results and efficient alternatives", COLT 2003.
    M. Sugiyama and K. Borgwardt, "Halting in random walk kernels", NIPS 2015.

    Examples
    --------
    >>> from mercer.kernels import LabelledWalks
    >>> path, triangle = ([(0, 1), (1, 2)], 3), ([(0, 1), (1, 2), (2, 0)], 3)
    >>> LabelledWalks(1, 1.0)([path, triangle])
    array([[25., 33.],
           [33., 45.]])
    """

    length: int = 4
    decay: float = 0.5

    _domain: ClassVar[Domain] = "graphs"

    def __post_init__(self) -> None:
        check_integer("LabelledWalks", "length", self.length, least=0, most=64)
        object.__setattr__(self, "decay", check_real("LabelledWalks", "decay", self.decay, least=0, strict=True))

    @override
    def parts_per_item(self, draw: PartDraw) -> int:
        return int(2 ** min(self.length + 1, 12))  # as in molecules

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Graphs):
            raise other_rows(self, Graphs, X)
        most = min(_MOST_WALKS, memory_budget().n_bytes // (4 * _WALK_BYTES))
        found = key_core.walk_keys(X, self.length, draw.seed, most=most)
        if found is None:
            raise ValueError(
                f"LabelledWalks: length={self.length} gives these graphs more than {most} labels of walks. "
                "Lower length, or take WeisfeilerLehman, whose cost is linear in the nodes."
            )
        keys, counts, steps = found
        return keys._replace(weights=counts * self.decay ** (steps / 2))
