r"""Rows sampled in strata, and totals over all pairs of rows estimated from the pairs of the sample.

Of the :math:`N_h` rows of stratum h, :math:`n_h` are drawn without replacement. A pair of sampled rows i in h, j in l
then represents

.. math:: c_{hl} = \frac{N_h N_l}{n_h n_l} \quad (h \ne l), \qquad c_{hh} = \frac{N_h (N_h - 1)}{n_h (n_h - 1)}

pairs, which makes the estimate of a total over pairs unbiased (Horvitz and Thompson, 1952). The variance comes from the
jackknife over rows, with the correction for a finite population: with :math:`t_{(k)}` the estimate without row k,

.. math:: V = \sum_h \Big(1 - \frac{n_h}{N_h}\Big) \frac{n_h - 1}{n_h} \sum_{k \in h} (t_{(k)} - \bar t_h)^2.

The jackknife leaves out rows and not pairs, because pairs that share a row are not independent.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import stats

from mercer._typing import Array

_MOST_STRATA = 8
_LEAST_DRAWS = 3  # per stratum: without one row, the jackknife still needs a pair
_DRAWS_PER_STRATUM = 10
# Neighbouring strata whose sizes differ by at most this factor are joined: separate strata would gain nothing.
_SAME_SIZE = 2.0
_SYMMETRIC = 1e-6  # below this skewness the correction is negligible and its formula loses digits


@dataclass(frozen=True)
class Total:
    """An estimated total, and the same estimate without each sampled row in turn."""

    value: float
    replicates: Array


@dataclass(frozen=True)
class RowSample:
    """Sampled rows.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers, stratum by stratum.
    stratum : ndarray of int
        The stratum of each sampled row.
    drawn, held : ndarray of float
        Number of rows drawn from each stratum, and number of rows in each stratum.
    """

    rows: Array
    stratum: Array
    drawn: Array
    held: Array

    @classmethod
    def of(cls, sizes: Array, n_samples: int, rng: np.random.RandomState) -> Self:
        """Draw rows with probabilities roughly proportional to their sizes, the largest ones with certainty."""
        groups = _strata(sizes, n_samples)
        rows = [group if n == len(group) else np.sort(rng.choice(group, n, replace=False)) for group, n in groups]
        drawn = np.array([len(some) for some in rows])
        held = np.array([len(group) for group, _ in groups], dtype=float)
        return cls(np.concatenate(rows), np.repeat(np.arange(len(rows)), drawn), drawn.astype(float), held)

    @property
    def is_whole(self) -> bool:
        """Whether every row is in the sample."""
        return bool((self.drawn == self.held).all())

    @property
    def weights(self) -> Array:
        """The number of rows that each sampled row represents."""
        weights: Array = (self.held / self.drawn)[self.stratum]
        return weights

    def pairs(self, values: Array) -> Total:
        """Estimate the total of ``values`` (symmetric, of the sampled rows) over all pairs of different rows."""
        by_stratum = self._sums(_off_diagonal(values))
        sums = np.array([by_stratum[self.stratum == h].sum(axis=0) for h in range(len(self.held))])
        replicates = np.full(len(self.rows), 0.0)
        total = float((self._pair_weights(self.drawn) * sums).sum())
        for h, here in self._left_out():
            weights = self._pair_weights(self._without(h))
            # Without row k, the sums of row h and of column h decrease by the sums of row k.
            lost = by_stratum[here] @ (weights[h] + weights[:, h])
            replicates[here] = (weights * sums).sum() - lost - total
        return Total(total, total + replicates)

    def squared_row_sums(self, values: Array, diagonal: Array) -> Total:
        """Estimate the total of r_i^2 over all rows, where r_i is the sum of row i of a symmetric matrix.

        Unbiased: the variance of each estimated r_i is subtracted from its square. ``diagonal`` is that of the sampled
        rows.
        """
        off = _off_diagonal(values)
        sums, squares = self._sums(off), self._sums(off**2)
        weights = self._column_weights(self.drawn)
        r = diagonal + (weights * sums).sum(axis=1)
        own = np.eye(len(self.held))[self.stratum]
        n, N = self.drawn - own, self.held - own
        spread = (squares - sums**2 / np.maximum(n, 1)) / np.maximum(n - 1, 1)
        noise = ((1 - n / np.maximum(N, 1)) * N**2 / np.maximum(n, 1) * spread).sum(axis=1)
        plain = float(self.weights @ r**2)
        replicates = np.full(len(r), plain)
        for h, here in self._left_out():
            changed = self._column_weights(self._without(h))[:, [h]]
            without = (r - weights[:, h] * sums[:, h])[:, None] + changed * (sums[:, [h]] - off[:, here])
            without[here, np.arange(len(here))] = 0.0
            replicates[here] = (self.held / self._without(h))[self.stratum] @ without**2
        bias = float(self.weights @ noise)
        return Total(plain - bias, replicates - bias)

    def variance(self, replicates: Array) -> float:
        """Return the jackknife's variance of an estimate."""
        return float((self._deviations(replicates) ** 2).sum())

    def offsets(self, replicates: Array, confidence: float) -> tuple[float, float]:
        """Return the distances from an estimate to the lower and the upper end of its confidence interval.

        The interval uses Student's distribution with the degrees of freedom of the estimated variance, which are few if
        a few rows cause most of the variance. Hall's (1992) transformation t + a t^2 / 3 + a^2 t^3 / 27 + a / 6 removes
        the skewness a.
        """
        influence = -self._deviations(replicates)  # positive if leaving out the row decreases the estimate
        variance, n = float((influence**2).sum()), int(np.count_nonzero(influence))
        if n < 2:
            return 0.0, 0.0
        spread = float((influence**4).sum()) - variance**2 / n
        freedom = np.clip(2 * variance**2 / spread, 1, n - 1) if spread > 0 else n - 1
        quantile = float(stats.t.ppf((1 + confidence) / 2, freedom))
        skewness = float((influence**3).sum()) / variance**1.5
        below, above = (_without_skewness(x, skewness) for x in (quantile, -quantile))
        return below * variance**0.5, -above * variance**0.5

    def _deviations(self, replicates: Array) -> Array:
        out = np.zeros(len(replicates))
        for h, here in self._left_out():
            n, N = self.drawn[h], self.held[h]
            out[here] = np.sqrt((1 - n / N) * (n - 1) / n) * (replicates[here] - replicates[here].mean())
        return out

    def _left_out(self) -> list[tuple[int, Array]]:
        """Return the strata that are not fully sampled, with the positions of their rows in the sample."""
        chance = np.flatnonzero(self.drawn < self.held)
        return [(int(h), np.flatnonzero(self.stratum == h)) for h in chance]

    def _without(self, h: int) -> Array:
        drawn: Array = self.drawn - (np.arange(len(self.drawn)) == h)
        return drawn

    def _sums(self, values: Array) -> Array:
        """Return the sums of each row over the columns of each stratum."""
        return np.stack([values[:, self.stratum == h].sum(axis=1) for h in range(len(self.held))], axis=1)

    def _pair_weights(self, drawn: Array) -> Array:
        weights = np.outer(self.held / drawn, self.held / drawn)
        np.fill_diagonal(weights, self.held * (self.held - 1) / np.maximum(drawn * (drawn - 1), 1))
        return weights

    def _column_weights(self, drawn: Array) -> Array:
        """Return, for each sampled row, the number of other rows that a sampled row of each stratum represents."""
        weights = np.tile(self.held / drawn, (len(self.rows), 1))
        own = (self.held - 1) / np.maximum(drawn - 1, 1)
        weights[np.arange(len(self.rows)), self.stratum] = own[self.stratum]
        return weights


def _without_skewness(x: float, a: float) -> float:
    """Solve t + a t^2 / 3 + a^2 t^3 / 27 + a / 6 = x for t."""
    return float(3 / a * (np.cbrt(1 + a * (x - a / 6)) - 1)) if abs(a) > _SYMMETRIC else x


def _off_diagonal(values: Array) -> Array:
    off = values.copy()
    np.fill_diagonal(off, 0.0)
    return off


def _strata(sizes: Array, n_samples: int) -> list[tuple[Array, int]]:
    """Return row numbers by stratum, each with the number to draw from it.

    Rows so large that they would be drawn more than once form one stratum, of which every row is drawn. The other rows
    are sorted by size and divided into strata of equal total size.
    """
    n_rows = len(sizes)
    if n_samples >= n_rows:
        return [(np.arange(n_rows), n_rows)]
    order = np.argsort(-sizes, kind="stable")
    certain = _n_certain(sizes[order], n_samples)
    rest, n_left = order[certain:], n_samples - certain
    groups = _equal_shares(sizes[rest], max(1, min(_MOST_STRATA, n_left // _DRAWS_PER_STRATUM)))
    draws = _draws(np.array([sizes[rest[group]].sum() for group in groups]), [len(group) for group in groups], n_left)
    strata = [(np.sort(rest[group]), n) for group, n in zip(groups, draws, strict=True)]
    return [(np.sort(order[:certain]), certain), *strata] if certain else strata


def _n_certain(descending: Array, n_samples: int) -> int:
    """Return the number of largest rows whose expected number of draws is at least one; some draws remain."""
    left = np.cumsum(descending[::-1])[::-1]
    most = n_samples - max(_LEAST_DRAWS, n_samples // 10)
    certain = 0
    while certain < most and left[certain] > 0 and descending[certain] * (n_samples - certain) >= left[certain]:
        certain += 1
    return certain


def _equal_shares(descending: Array, n_groups: int) -> list[Array]:
    """Divide descending sizes into groups of equal total, and join neighbouring groups of similar sizes."""
    if not descending.any():
        return [np.arange(len(descending))]
    place = (np.cumsum(descending) - descending / 2) / descending.sum()
    label = np.minimum((place * n_groups).astype(int), n_groups - 1)
    groups: list[Array] = []
    for h in np.unique(label):
        group = np.flatnonzero(label == h)
        if groups and descending[groups[-1][0]] <= _SAME_SIZE * descending[group[-1]]:
            groups[-1] = np.concatenate([groups[-1], group])
        else:
            groups.append(group)
    return groups


def _draws(totals: Array, lengths: list[int], n_samples: int) -> list[int]:
    """Divide the draws in proportion to the totals: at least three per group, at most the number of its rows."""
    wanted = n_samples * totals / totals.sum() if totals.any() else n_samples * np.array(lengths) / sum(lengths)
    least = np.minimum(_LEAST_DRAWS, lengths)
    draws = np.clip(np.floor(wanted).astype(int), least, lengths)
    while (short := n_samples - int(draws.sum())) != 0:
        step = 1 if short > 0 else -1
        free = (draws < lengths) if step > 0 else (draws > least)
        draws[np.argmax(np.where(free, step * (wanted - draws), -np.inf))] += step
    return [int(n) for n in draws]
