"""Independent scalar draws of a kernel: the factors of Random Maclaurin features over another kernel.

A scalar draw is a random function W with E[W(x) W(y)] = k(x, y). Products of independent draws estimate products of
kernels without bias; powers of one draw do not. So each column is an independent draw, and only kernels that have
such draws are supported (a data-dependent map has none).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import sqrt

import numpy as np

from mercer._typing import Array, Rows
from mercer.features.base import FeatureMap, Writer
from mercer.features.registry import of_nearest_ancestor
from mercer.features.sketches.hashes import draw_signs
from mercer.kernels import Kernel, Normalized, Product, Scaled, Sum
from mercer.kernels.functions import inverse_lengths
from mercer.kernels.transforms import TransformedKernel
from mercer.parallel import row_blocks
from mercer.state import Integers, Many, Member, Reals, Sizes, Stored, part, require

_MOMENT_ROWS = 64  # rows per block: moments of all pairs are computed but only the diagonal is used

# Kernel class -> function (kernel, n) that returns an unfitted map with n features. The shuffled features, times
# sqrt(n), are independent scalar draws. A class that is not in this table uses the entry of its nearest ancestor.
_table: dict[type, Callable[[Kernel, int], FeatureMap]] = {}


def register_scalar(kernel_class: type, factory: Callable[[Kernel, int], FeatureMap]) -> None:
    """Register a map of a kernel class whose features are independent, identically distributed and unbiased."""
    _table[kernel_class] = factory


class ScalarDraws(ABC):
    """Columns of independent scalar draws of one kernel."""

    @property
    @abstractmethod
    def n_draws(self) -> int:
        """Number of draws."""

    @abstractmethod
    def writer(self, X: Rows) -> Writer:
        """Return the function that writes the draws on ranges of rows of X."""

    @abstractmethod
    def mean(self, X: Array, Y: Array) -> Array:
        """Return E[W(x) W(y)] for all pairs of rows: the kernel, plus the bias of the maps that make the draws."""

    @abstractmethod
    def second_moment(self, X: Array, Y: Array) -> Array | None:
        """Return E[W(x)^2 W(y)^2] for all pairs of rows, or None if no closed form is known."""


def scalar_draws(kernel: Kernel, X: Rows, n: int, rng: np.random.RandomState) -> ScalarDraws:
    """Draw n independent scalar draws of a kernel expression."""
    if isinstance(kernel, Sum | Product):
        members = [scalar_draws(term, X, n, rng) for term in kernel.terms]
        return _SignedSum(kernel, members, n, rng) if isinstance(kernel, Sum) else _Products(members)
    if isinstance(kernel, Scaled | Normalized):
        return _Reweighted(kernel, scalar_draws(kernel.kernel, X, n, rng))
    if isinstance(kernel, TransformedKernel):
        return _Transformed(kernel, scalar_draws(kernel.kernel, kernel.apply(X), n, rng))
    factory = of_nearest_ancestor(_table, kernel)
    if factory is None:
        raise ValueError(
            f"RandomMaclaurin: no unbiased scalar draw is known for the inner kernel {kernel!r}. Use a kernel with "
            "random features, or name their map with mercer.features.sketches.scalar_draws.register_scalar."
        )
    return _Columns(kernel, factory(kernel, n), X, n, rng)


def largest_moment(draws: ScalarDraws, X: Rows) -> float:
    """Return the largest E[W(x)^4] over the rows of X, or 0 if no closed form is known."""
    largest = 0.0
    for rows in row_blocks(X.shape[0], _MOMENT_ROWS):
        block = X[rows].astype(np.float64)
        moments = draws.second_moment(block, block)
        if moments is None:
            return 0.0
        largest = max(largest, float(np.diagonal(moments).max()))
    return largest


@part("DrawsOfMap")
class _Columns(ScalarDraws):
    """The features of a map with independent features, in random order."""

    _stored = Stored(
        feature_map=Member(FeatureMap, {"n_features_out_": "n"}),
        order=Integers(("n",), least=0, below="n"),
    )

    def __init__(self, kernel: Kernel, feature_map: FeatureMap, X: Rows, n: int, rng: np.random.RandomState):
        feature_map.fit_member(X, rng)
        self.feature_map = feature_map
        # A map may sort its features (Random Maclaurin sorts by degree): shuffling makes the features exchangeable.
        self.order = rng.permutation(n)

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.order)

    def writer(self, X: Rows) -> Writer:
        write_features = self.feature_map.writer(X)
        n = len(self.order)

        def write(rows: slice, out: Array) -> None:
            features = np.empty_like(out)
            write_features(rows, features)
            np.multiply(features[:, self.order], out.dtype.type(sqrt(n)), out=out)

        return write

    def mean(self, X: Array, Y: Array) -> Array:
        return np.asarray(self.feature_map.kernel_.evaluate(X, Y) + self.feature_map.bias(X, Y))

    def second_moment(self, X: Array, Y: Array) -> Array | None:
        variance = self.feature_map.exact_variance(X, Y)
        if variance is None:
            return None
        return np.asarray(variance * len(self.order) + self.mean(X, Y) ** 2)


@part("DrawsOfSum")
class _SignedSum(ScalarDraws):
    """Sums of draws of the terms times random signs: the signs make the mean of the cross products 0."""

    _stored = Stored(
        kernel=Member(Sum),
        members=Many(Member(ScalarDraws, {"n_draws": "n"}), "m"),
        signs=Reals(("m", "n")),
    )

    def __init__(self, kernel: Sum, members: list[ScalarDraws], n: int, rng: np.random.RandomState):
        self.kernel = kernel
        self.members = members
        self.signs = draw_signs(rng, (len(members), n), dtype=np.int64).astype(np.float64)

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.signs.shape[1])

    def _check_stored(self, sizes: Sizes) -> None:
        require(sizes["m"] == len(self.kernel.terms), "the sum must have one member per term")

    def writer(self, X: Rows) -> Writer:
        writers = [member.writer(X) for member in self.members]

        def write(rows: slice, out: Array) -> None:
            out[...] = 0
            draws = np.empty_like(out)
            for write_member, signs in zip(writers, self.signs, strict=True):
                write_member(rows, draws)
                out += draws * signs.astype(out.dtype)

        return write

    def mean(self, X: Array, Y: Array) -> Array:
        return np.asarray(sum(member.mean(X, Y) for member in self.members))

    def second_moment(self, X: Array, Y: Array) -> Array | None:
        """Return the sum of m_i over terms plus, for each ordered pair i != j, k_i(x,x) k_j(y,y) + 2 k_i k_j."""
        moments = [member.second_moment(X, Y) for member in self.members]
        total = np.zeros((X.shape[0], Y.shape[0]))
        for i, (term, moment) in enumerate(zip(self.kernel.terms, moments, strict=True)):
            if moment is None:
                return None
            total += moment
            for other in (*self.kernel.terms[:i], *self.kernel.terms[i + 1 :]):
                total += np.outer(term.evaluate_diag(X), other.evaluate_diag(Y)) + 2 * term.evaluate(
                    X, Y
                ) * other.evaluate(X, Y)
        return total


@part("DrawsOfProduct")
class _Products(ScalarDraws):
    """Products of independent draws of the factors."""

    _stored = Stored(
        members=Many(Member(ScalarDraws, {"n_draws": "n"}), "m"),
    )

    def __init__(self, members: list[ScalarDraws]):
        self.members = members

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.members[0].n_draws

    def _check_stored(self, sizes: Sizes) -> None:
        require(sizes["m"], "a product must have members")

    def writer(self, X: Rows) -> Writer:
        writers = [member.writer(X) for member in self.members]

        def write(rows: slice, out: Array) -> None:
            writers[0](rows, out)
            draws = np.empty_like(out)
            for write_member in writers[1:]:
                write_member(rows, draws)
                out *= draws

        return write

    def mean(self, X: Array, Y: Array) -> Array:
        return np.asarray(np.prod([member.mean(X, Y) for member in self.members], axis=0))

    def second_moment(self, X: Array, Y: Array) -> Array | None:
        total = np.ones((X.shape[0], Y.shape[0]))
        for member in self.members:
            moment = member.second_moment(X, Y)
            if moment is None:
                return None
            total *= moment
        return total


@part("DrawsOfTransform")
class _Transformed(ScalarDraws):
    """Draws on transformed rows."""

    _stored = Stored(
        kernel=Member(TransformedKernel),
        member=Member(ScalarDraws),
    )

    def __init__(self, kernel: TransformedKernel, member: ScalarDraws):
        self.kernel = kernel
        self.member = member

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.member.n_draws

    def writer(self, X: Rows) -> Writer:
        return self.member.writer(self.kernel.apply(X))

    def mean(self, X: Array, Y: Array) -> Array:
        return self.member.mean(self.kernel.apply(X), self.kernel.apply(Y))

    def second_moment(self, X: Array, Y: Array) -> Array | None:
        return self.member.second_moment(self.kernel.apply(X), self.kernel.apply(Y))


@part("DrawsOfMultiple")
class _Reweighted(ScalarDraws):
    """Draws times a function of the row: a constant for a multiple, the inverse length for a normalised kernel."""

    _stored = Stored(
        kernel=Member((Scaled, Normalized)),
        member=Member(ScalarDraws, {"n_draws": "n"}),
    )

    def __init__(self, kernel: Scaled | Normalized, member: ScalarDraws):
        self.kernel = kernel
        self.member = member

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.member.n_draws

    def _weights(self, X: Rows) -> Array:
        if isinstance(self.kernel, Scaled):
            return np.full(X.shape[0], sqrt(self.kernel.scale))
        return inverse_lengths(self.kernel.kernel, X)

    def writer(self, X: Rows) -> Writer:
        write_member = self.member.writer(X)

        def write(rows: slice, out: Array) -> None:
            write_member(rows, out)
            out *= self._weights(X[rows]).astype(out.dtype)[:, None]

        return write

    def mean(self, X: Array, Y: Array) -> Array:
        return np.asarray(np.outer(self._weights(X), self._weights(Y)) * self.member.mean(X, Y))

    def second_moment(self, X: Array, Y: Array) -> Array | None:
        moment = self.member.second_moment(X, Y)
        return None if moment is None else np.outer(self._weights(X) ** 2, self._weights(Y) ** 2) * moment
