"""Features by degree: low degrees exact, higher degrees sketched, features allocated by predicted variance."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from mercer import core
from mercer._typing import Array, Rows, is_sparse
from mercer.features.base import Writer
from mercer.features.sketches.expansions import Expansion
from mercer.features.sketches.hashes import draw_hashes
from mercer.features.sketches.variances import PairMoments, power_sketch_variance, power_sketch_variances
from mercer.state import LARGEST_DEGREE, Count, Integers, Many, Member, Real, Sizes, Stored, Table, part, require
from mercer.validation import check_memory

_EXACT_DEGREES = 3  # degrees 0, 1 and 2 have exact features
_LARGE = 10**6  # a width D at which D * Var is close to its limit
_ALLOCATION_ROWS = 300
_MADE_UP_ROWS = 32
_AT_THE_ANCHOR = 1e-12  # below this ratio |v| / |x|, v is rounding error
_CONSTANT = 1e-9  # below this relative spread, a feature counts as equal for all rows

_DEGREE = Count(most=LARGEST_DEGREE)
# The attributes that ``publish_allocation`` sets.
STORED_ALLOCATION = Stored(
    exact_degrees_=Integers((None,), least=0, optional=True),
    dropped_degrees_=Integers((None,), least=0, optional=True),
    allocation_=Table(_DEGREE, Count(), optional=True),
)


def exact_width(degree: int, n_columns: int) -> int:
    """Return the number of exact features of <v, v'>^degree: the distinct monomials of that degree."""
    return (1, n_columns, n_columns * (n_columns + 1) // 2)[degree]


@part("Allocation")
@dataclass(frozen=True)
class Allocation:
    """The allocation of features: exact degrees, the width of each sketched degree, and the degrees left out."""

    _stored = Stored(
        exact=Many(Count(most=_EXACT_DEGREES - 1), of=tuple),
        sketched=Table(_DEGREE, Count()),
        dropped=Many(_DEGREE, of=tuple),
        predicted=Real(),
    )

    exact: tuple[int, ...]
    sketched: dict[int, int]
    dropped: tuple[int, ...]
    predicted: float


def allocate(expansion: Expansion, sample: Rows, n_components: int) -> Allocation:
    """Allocate the features so that the predicted mean squared error on the sampled pairs is smallest.

    A sketched degree k adds the error V_k / D_k, where V_k is the mean over pairs of g_k(x)^2 g_k(y)^2 D Var in closed
    form, so D_k proportional to sqrt(V_k) is optimal. A degree is left out only if its own mean square is below this
    error. At least one degree above 0 stays if a feature is available: otherwise the features of all rows are parallel.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a degree that overflows is left out
        pairs, G = expansion.moments(sample)
    return allocate_by_moments(pairs, G, expansion.degrees, expansion.width, n_components)


def allocate_by_moments(
    pairs: PairMoments, G: Array, degrees: list[int], n_columns: int, n_components: int
) -> Allocation:
    """Allocate the features as ``allocate`` does, given the moments of sampled pairs and the weights g_k of rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        cost, signal = _cost_and_signal(pairs, G)
    options = []
    for last in range(_EXACT_DEGREES):
        exact = tuple(k for k in degrees if k <= last)
        budget = n_components - sum(exact_width(k, n_columns) for k in exact)
        if budget >= 0:
            options.append(_share(cost, signal, exact, [k for k in degrees if k > last], budget))
    best = min(options, key=lambda option: option.predicted)
    constant = np.ptp(G[:, 0]) <= _CONSTANT * np.abs(G[:, 0]).max()
    if best.exact != (0,) or best.sketched or degrees == [0] or not constant:
        return best
    # The only feature is the same for all rows: a sketch of another degree is more useful.
    alone = _share(cost, signal, (), degrees[1:], n_components)
    return replace(alone, dropped=(0, *alone.dropped))


def telling_rows(expansion: Expansion, sample: Rows, rng: np.random.RandomState) -> Rows:
    """Return the sample, or synthetic rows around the anchor if all sampled rows lie at the anchor.

    Rows at the anchor say nothing about the degrees. The mean of the rows is the anchor, so one row, or copies of one
    row, lie at the anchor.
    """
    longest = expansion.scale**2 * row_norms(sample, squared=True).max() + expansion.constant**2
    if expansion.squares(sample).max() > _AT_THE_ANCHOR**2 * longest:
        return sample
    one = sample[:1].toarray() if is_sparse(sample) else sample[:1]
    directions = rng.standard_normal((_MADE_UP_ROWS, one.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return one + expansion.reach(longest**0.5) / expansion.scale * directions


def _cost_and_signal(pairs: PairMoments, G: Array) -> tuple[Array, Array]:
    squares, n_pairs = G**2, pairs.t.size
    cost, signal = np.zeros(G.shape[1]), np.zeros(G.shape[1])
    signal[0] = squares[:, 0].mean() ** 2
    power = np.ones_like(pairs.t)
    for k, variance in enumerate(power_sketch_variances(pairs, G.shape[1] - 1, _LARGE), start=1):
        power *= pairs.t**2
        signal[k] = squares[:, k] @ power @ squares[:, k] / n_pairs
        cost[k] = squares[:, k] @ variance @ squares[:, k] / n_pairs * _LARGE
    return np.nan_to_num(cost, nan=np.finfo(float).max), np.nan_to_num(signal, posinf=0.0)


def _share(cost: Array, signal: Array, exact: tuple[int, ...], others: list[int], budget: int) -> Allocation:
    """Allocate features to the degrees without exact features; drop degrees whose variance exceeds their signal."""
    kept = list(others)
    while kept:
        widths = _proportional(np.sqrt(cost[kept]), budget)
        gain = [signal[k] - cost[k] / width if width else -np.inf for k, width in zip(kept, widths, strict=True)]
        worst = int(np.argmin(gain))
        if gain[worst] >= 0:
            break
        kept.pop(worst)
    if budget and not kept and max(exact, default=0) == 0 and max(others, default=0) > 0:
        kept = [max((k for k in others if k > 0), key=lambda k: float(signal[k]))]
    sketched = dict(zip(kept, _proportional(np.sqrt(cost[kept]), budget), strict=True)) if kept else {}
    dropped = tuple(k for k in others if k not in sketched)
    predicted = sum(cost[k] / width for k, width in sketched.items()) + float(signal[list(dropped)].sum())
    return Allocation(exact, sketched, dropped, predicted)


def _proportional(shares: Array, total: int) -> list[int]:
    """Split ``total`` into integers proportional to ``shares``, each at least 1 if ``total`` is large enough."""
    shares = np.maximum(shares, 1e-300)
    ideal = shares / shares.sum() * total
    widths = np.maximum(np.floor(ideal), 1 if total >= len(shares) else 0).astype(int)
    while widths.sum() > total:
        widths[np.argmax(widths)] -= 1
    for i in np.argsort(ideal - widths)[::-1][: total - widths.sum()]:
        widths[i] += 1
    return [int(width) for width in widths]


def smooth_pieces(width: int) -> list[int]:
    """Split a width into lengths without a prime factor above 5, largest first: sketches of such lengths are fast.

    >>> smooth_pieces(377)
    [375, 2]
    """
    pieces = []
    while width:
        piece = next(n for n in range(width, 0, -1) if _is_smooth(n))
        pieces.append(piece)
        width -= piece
    return pieces


def _is_smooth(n: int) -> bool:
    for prime in (2, 3, 5):
        while n % prime == 0:
            n //= prime
    return n == 1


@part("Piece")
@dataclass(frozen=True)
class _Piece:
    """One sketch of one degree: the hashes, and the sketch's share of the features of the degree."""

    _stored = Stored(
        degree=Count("p", least=1, most=LARGEST_DEGREE),
        share=Real(positive=True),
        width=Count("D", least=1),
        index=Integers(("p", "w"), (np.int32,), least=0, below="D"),
        sign=Integers(("p", "w"), (np.int8,), least=-1, below=2),
    )

    degree: int
    share: float
    index: Array
    sign: Array
    width: int


@part("Strata")
class Strata:
    """A drawn stratified map: exact features of low degrees, sketches of higher degrees."""

    _stored = Stored(
        expansion=Member(Expansion),
        allocation=Member(Allocation),
        pieces=Many(Member(_Piece)),
    )

    def __init__(self, expansion: Expansion, allocation: Allocation, rng: np.random.RandomState, owner: str = "Strata"):
        self.expansion = expansion
        self.allocation = allocation
        n_factors = sum(degree * len(smooth_pieces(width)) for degree, width in allocation.sketched.items())
        what = f"hash tables of {n_factors} factors x {expansion.width} columns"
        n_components = sum(allocation.sketched.values())
        way_out = "Take a kernel of a lower degree, fewer columns, or method='fourier' for a Gaussian kernel."
        check_memory(owner, "n_components", n_components, 5 * n_factors * expansion.width, what, way_out=way_out)
        self.pieces = [
            _Piece(degree, length / width, *draw_hashes(rng, length, (degree, expansion.width)), length)
            for degree, width in allocation.sketched.items()
            for length in smooth_pieces(width)
        ]

    def _check_stored(self, sizes: Sizes) -> None:
        exact, last = self.allocation.exact, self.expansion.last_degree
        widths = dict.fromkeys(self.allocation.sketched, 0)
        for piece in self.pieces:
            require(piece.degree in widths, f"a piece has the degree {piece.degree}, which is not sketched")
            require(piece.index.shape[1] == self.expansion.width, "a piece must have one bucket per column")
            widths[piece.degree] += piece.width
        require(widths == self.allocation.sketched, "the pieces must have the widths of the allocation")
        degrees = [*exact, *widths, *self.allocation.dropped]
        require(list(exact) == sorted(set(exact)), "the exact degrees must ascend")
        require(
            len(set(degrees)) == len(degrees) and max(degrees, default=0) <= last,
            "degrees must be distinct and at most the last degree",
        )

    @classmethod
    def on_rows(
        cls, owner: str, expansion: Expansion, X: Rows, n_components: int, rng: np.random.RandomState
    ) -> "Strata":
        """Allocate the features by the variance on a sample of the rows of X, and draw the hashes."""
        sample = X[sample_rows(rng, X.shape[0], _ALLOCATION_ROWS)].astype(np.float64)
        return cls(expansion, allocate(expansion, telling_rows(expansion, sample, rng), n_components), rng, owner)

    def redrawn(self, rng: np.random.RandomState) -> "Strata":
        """Return the same expansion and allocation with new hashes."""
        return Strata(self.expansion, self.allocation, rng)

    @property
    def n_features_out(self) -> int:
        """Number of features."""
        exact = sum(exact_width(k, self.expansion.width) for k in self.allocation.exact)
        return exact + sum(self.allocation.sketched.values())

    def writer(self, X: Rows) -> Writer:
        """Return the function that writes the features of ranges of rows of X."""
        if is_sparse(X) and 1 not in self.allocation.exact:
            return self._sparse_writer(X)

        def write(rows: slice, out: Array) -> None:
            V, G = self.expansion.rows(X[rows])
            start = 0
            for degree in self.allocation.exact:
                stop = start + exact_width(degree, V.shape[1])
                _write_monomials(V, degree, out[:, start:stop])
                out[:, start:stop] *= G[:, degree, None]
                start = stop
            every = slice(0, len(V))
            for piece in self.pieces:
                target = out[:, start : start + piece.width]
                core.tensor_sketch(V, every, piece.index, piece.sign, 1.0, 0.0, target)
                target *= G[:, piece.degree, None] * V.dtype.type(sqrt(piece.share))
                start += piece.width

        return write

    def _sparse_writer(self, X: Rows) -> Writer:
        """Sketch v = [scale x, constant] - a u from sketches of x and of the anchor u: v would be dense."""
        n, u = X.shape[1], self.expansion.u
        constants = np.append(np.zeros(n), [self.expansion.constant] * (len(u) - n))
        anchors = [[_sketch_vector(v, piece) for v in (constants, u)] for piece in self.pieces]

        def write(rows: slice, out: Array) -> None:
            a, G = (part.astype(out.dtype) for part in self.expansion.sparse_rows(X[rows]))
            start = 0
            if 0 in self.allocation.exact:
                out[:, 0] = G[:, 0]
                start = 1
            for piece, (constant, anchor) in zip(self.pieces, anchors, strict=True):
                sketches = np.empty((piece.degree, len(out), piece.width), dtype=out.dtype)
                for j in range(piece.degree):
                    core.count_sketch(X, rows, piece.index[j, :n], piece.sign[j, :n], sketches[j])
                sketches *= out.dtype.type(self.expansion.scale)
                sketches += (constant[:, None] - a[:, None] * anchor[:, None]).astype(out.dtype)
                target = out[:, start : start + piece.width]
                core.convolve(sketches, target)
                target *= G[:, piece.degree, None] * out.dtype.type(sqrt(piece.share))
                start += piece.width

        return write

    @property
    def is_random(self) -> bool:
        """Whether any degree is sketched."""
        return len(self.pieces) > 0

    def scratch_bytes(self, X: Rows) -> float:
        """Return the bytes of working memory per row of X, in addition to the features."""
        sketches = max((piece.degree * piece.width for piece in self.pieces), default=0)
        dense = 0 if is_sparse(X) and 1 not in self.allocation.exact else 3 * self.expansion.width
        return float(X.dtype.itemsize * (sketches + dense))

    def mean(self, X: Array, Y: Array) -> Array:
        """Return the mean of the estimate: the kernel without the degrees left out and those above the last degree."""
        (V, G), (W, H) = self.expansion.rows(X), self.expansion.rows(Y)
        t = V @ W.T
        total = np.zeros_like(t)
        for k in (*self.allocation.exact, *self.allocation.sketched):
            total += np.outer(G[:, k], H[:, k]) * t**k
        return total

    def variance(self, X: Array, Y: Array) -> Array:
        """Return the variance of the estimate about its own mean."""
        (V, G), (W, H) = self.expansion.rows(X), self.expansion.rows(Y)
        pairs = PairMoments.of(V, W)
        total = np.zeros_like(pairs.t)
        for piece in self.pieces:
            weight = np.outer(G[:, piece.degree] ** 2, H[:, piece.degree] ** 2) * piece.share**2
            total += weight * power_sketch_variance(pairs, piece.degree, piece.width)
        return total


def sample_rows(rng: np.random.RandomState, n_rows: int, size: int) -> Array:
    """Draw ``size`` row numbers without replacement, sorted; all row numbers if there are no more than ``size``."""
    return np.sort(rng.choice(n_rows, min(size, n_rows), replace=False))


def publish_allocation(estimator: Any, strata: Strata) -> None:
    """Set the public attributes that describe the allocation of features to degrees."""
    estimator.exact_degrees_ = np.array(strata.allocation.exact, dtype=int)
    estimator.allocation_ = dict(strata.allocation.sketched)
    estimator.dropped_degrees_ = np.array(strata.allocation.dropped, dtype=int)


def _sketch_vector(v: Array, piece: _Piece) -> Array:
    out = np.zeros((piece.degree, piece.width))
    for j in range(piece.degree):
        np.add.at(out[j], piece.index[j], piece.sign[j] * v)
    return out


def _write_monomials(V: Array, degree: int, out: Array) -> None:
    if degree == 0:
        out[...] = 1
    elif degree == 1:
        out[...] = V
    else:
        start, n_columns = 0, V.shape[1]
        for i in range(n_columns):
            stop = start + n_columns - i
            np.multiply(V[:, i:], V[:, i, None], out=out[:, start:stop])
            out[:, start + 1 : stop] *= V.dtype.type(sqrt(2))
            start = stop
