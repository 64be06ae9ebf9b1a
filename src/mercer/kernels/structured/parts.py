"""Kernels that count common parts, and the expressions of them that stay sparse."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import key_core
from mercer._typing import Array, Csr, Rows, override
from mercer.kernels.base import Kernel, Scaled, Sum
from mercer.kernels.functions import Normalized
from mercer.key_core import COUNTS, Counted, Keys
from mercer.structures import Ragged
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows

# Seed of the hashes where no map has drawn one: that of exact kernel values.
_SEED = 0x2545F4914F6CDD1D % (2**61 - 1)
# Keys of the terms of a sum are told apart by multiples of this odd number.
_TERM = 0x1D8E4E27C47D124F


class PartDraw(NamedTuple):
    """What a map draws before it finds parts: the seed of hashed keys, and how many masks to take of many."""

    seed: int = _SEED
    n_masks: int | None = None  # None: all


EXACT = PartDraw()


@dataclass(frozen=True, repr=False)
class PartKernel(Kernel):
    """A kernel k(x, y) = sum of w_a w_b over the parts a of x and b of y with the same key.

    A subclass sets ``_domain`` and writes ``parts``, the keys and weights of packed objects. A field ``counts``, where
    there is one, says how often a key may count: ``"product"`` sums the products of counts, ``"presence"`` counts a key
    once, and ``"intersection"`` sums the smaller of the two counts.
    """

    _domain: ClassVar[Domain]

    @property
    @override
    def domain(self) -> Domain:
        return self._domain

    @abstractmethod
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        """Return the keys and weights of the parts of packed objects."""

    @property
    def samples_parts(self) -> bool:
        """Whether a map may draw some of the parts in place of all."""
        return False

    @property
    def lists_parts(self) -> bool:
        """Whether parts can be listed, and not only summed over by a recursion."""
        return True

    def draw_groups(self, X: Ragged) -> Array | None:
        """Return a number for each object, equal for objects that share their draws; None if no object has its own.

        The estimate for two objects that share their draws is biased.
        """
        return None

    def parts_per_item(self, draw: PartDraw) -> int:
        """Return about how many parts an item (a letter, a node) of an object has: blocks of objects are cut by it."""
        return 1

    def counted(self, X: Rows, draw: PartDraw = EXACT) -> Counted:
        """Return the distinct keys of each of packed objects, with their values."""
        if not isinstance(X, Ragged):
            raise other_rows(self, Ragged, X)
        return key_core.count(self.parts(X, draw), getattr(self, "counts", "product"))

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self.evaluator(Y, np.float64)(X)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        counted = self.counted(Y)
        vocabulary = np.unique(counted.keys)
        columns = key_matrix(counted, vocabulary).T.tocsc()
        return lambda X: np.asarray((key_matrix(self.counted(X), vocabulary) @ columns).toarray(), dtype=dtype)

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return self.counted(X).squares


def check_counts(owner: str, counts: object) -> None:
    """Refuse an unknown way to count."""
    if counts not in COUNTS:
        raise ValueError(f"{owner}: counts must be one of {list(COUNTS)}, got {counts!r}.")


def key_matrix(counted: Counted, vocabulary: Array) -> Csr:
    """Return counted keys as CSR rows, a column for each key of an ascending vocabulary; other keys are left out."""
    n_rows = len(counted.pointers) - 1
    if not len(vocabulary):
        return sparse.csr_array((n_rows, 0))
    column = np.minimum(np.searchsorted(vocabulary, counted.keys), len(vocabulary) - 1)
    known = vocabulary[column] == counted.keys
    pointers = counted.pointers
    if not known.all():
        pointers = np.concatenate([[0], np.cumsum(known)])[pointers]
        column, values = column[known], counted.values[known]
    else:
        values = counted.values
    return sparse.csr_array((values, column, pointers), shape=(n_rows, len(vocabulary)))


def is_keyed(kernel: Kernel) -> bool:
    """Return whether a kernel is a sum over common keys: a part kernel; or a sum, multiple or normalised one."""
    if isinstance(kernel, Sum):
        return all(is_keyed(term) for term in kernel.terms)
    if isinstance(kernel, Scaled | Normalized):
        return is_keyed(kernel.kernel)
    return isinstance(kernel, PartKernel) and kernel.lists_parts


def samples_parts(kernel: Kernel) -> bool:
    """Return whether a map of this expression of part kernels draws some parts in place of all."""
    if isinstance(kernel, Sum):
        return any(samples_parts(term) for term in kernel.terms)
    if isinstance(kernel, Scaled | Normalized):
        return samples_parts(kernel.kernel)
    return isinstance(kernel, PartKernel) and kernel.samples_parts


def draw_groups(kernel: Kernel, X: Ragged) -> Array | None:
    """Return a number for each object, equal for objects that share draws under an expression of part kernels."""
    if isinstance(kernel, Sum):
        found = [groups for term in kernel.terms if (groups := draw_groups(term, X)) is not None]
        return found[0] if found else None  # terms that draw from objects all draw from graphs, by the same rule
    if isinstance(kernel, Scaled | Normalized):
        return draw_groups(kernel.kernel, X)
    return kernel.draw_groups(X) if isinstance(kernel, PartKernel) else None


def parts_per_item(kernel: Kernel, draw: PartDraw = EXACT) -> int:
    """Return about how many parts an item of an object has under an expression of part kernels."""
    if isinstance(kernel, Sum):
        return sum(parts_per_item(term, draw) for term in kernel.terms)
    if isinstance(kernel, Scaled | Normalized):
        return parts_per_item(kernel.kernel, draw)
    return kernel.parts_per_item(draw) if isinstance(kernel, PartKernel) else 1


def counted_parts(kernel: Kernel, X: Rows, draw: PartDraw = EXACT) -> Counted:
    """Return the keys and values of an expression of part kernels, whose squared lengths are its own k(x, x)."""
    if isinstance(kernel, PartKernel):
        return kernel.counted(X, draw)
    if isinstance(kernel, Scaled):
        inner = counted_parts(kernel.kernel, X, draw)
        return inner._replace(values=inner.values * kernel.scale**0.5, squares=inner.squares * kernel.scale)
    if isinstance(kernel, Normalized):
        return _normalized(kernel.kernel, X, draw)
    if isinstance(kernel, Sum):
        terms = [draw._replace(seed=(draw.seed + i * _TERM) % (2**61 - 1)) for i in range(len(kernel.terms))]
        return joined_parts([counted_parts(term, X, own) for term, own in zip(kernel.terms, terms, strict=True)])
    raise ValueError(f"{kernel!r} is no sum over common parts.")


def _normalized(kernel: Kernel, X: Rows, draw: PartDraw) -> Counted:
    """Return the parts of a normalised kernel; the lengths are the kernel's own, also where some parts are drawn."""
    inner = counted_parts(kernel, X, draw)
    sampled = draw.n_masks is not None and samples_parts(kernel)
    squares = np.asarray(kernel.evaluate_diag(X)) if sampled else inner.squares
    factors = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
    values = inner.values * np.repeat(factors, np.diff(inner.pointers))
    return inner._replace(values=values, squares=inner.squares * factors**2)


def joined_parts(terms: Sequence[Counted]) -> Counted:
    """Return the parts of a sum: those of all terms, whose keys are told apart."""
    sizes = np.array([np.diff(term.pointers) for term in terms])
    pointers = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    starts = pointers[:-1] + np.cumsum(sizes, axis=0) - sizes
    keys, values = np.empty(pointers[-1], dtype=np.uint64), np.empty(pointers[-1])
    for number, (term, start, size) in enumerate(zip(terms, starts, sizes, strict=True)):
        place = np.arange(len(term.keys)) + np.repeat(start - term.pointers[:-1], size)
        keys[place] = term.keys ^ np.uint64(number * _TERM % (2**61 - 1))
        values[place] = term.values
    return Counted(pointers, keys, values, np.sum([term.squares for term in terms], axis=0))
