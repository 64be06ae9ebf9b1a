"""The features of sampled rows: what preconditioners are made of, and a small problem to start the large one from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks
from mercer.data.sources.arrays import ArraySource
from mercer.engines import Local
from mercer.fitting.feature_rows import PROBE_ROWS, FeatureRows
from mercer.fitting.passes import Passes
from mercer.fitting.survey import Sample
from mercer.solvers import Loss, LowRank
from mercer.solvers.scores import linear_scores
from mercer.stats import Moments, Totals

# Rows per feature that a preconditioner is made of, if they are at most the quarter of all rows: with 32 rows per
# feature, Newton-CG takes half of the passes that it takes with 2. Their products take 16 D^3 multiplications. More
# are taken where they are a small part of all rows: their problem is solved first, and its solution is nearer.
_GRAM_ROWS_PER_FEATURE, MOST_GRAM_ROWS_PER_FEATURE = 32, 128
_LEAST_GRAM_ROWS_PER_FEATURE = 2
_GRAM_SHARE, _SMALL_SHARE = 1 / 4, 1 / 64
# Eigenvectors of the covariance of the features that a preconditioner without a D x D matrix has: of dense features,
# and of sparse ones, whose passes take less time.
_LEADING, _SPARSE_LEADING = 1024, 512
# Rows per product of the features of sampled rows.
_GRAM_BLOCK_ROWS = 4096
# The problem of the sampled rows is solved first where they are at most this part of all rows: it takes about as many
# passes over them as the solution saves over all rows.
_PROBLEM_SHARE = 1 / 8
# Rows per feature, in effect, that curvatures of their own must leave.
_CURVED_ROWS_PER_FEATURE = 8


@dataclass(frozen=True)
class SampledRows:
    """A uniform sample of rows of features.

    Parameters
    ----------
    rows : FeatureRows
        All rows, which know a sample of themselves.
    """

    rows: FeatureRows

    def gram(self) -> Array:
        """Return the weighted mean of a a^T, a = (z, 1), over sampled rows; its diagonal for sparse or many features.

        Of 32 rows per feature, but no more than a quarter of all rows where that leaves 2 rows per feature. Of up to
        128 where these are no more than a 64th of all rows.
        """
        if not self.rows.has_gram:
            return self._diagonal()
        sample = self._sample(self._n_gram)
        reader, owner = ArraySource(self.rows.passes.owner, sample.rows), self.rows.passes.owner
        blocks = Blocks(reader, _GRAM_BLOCK_ROWS, sample_weight=_shares(sample), owner=owner, trusted=True)
        empty = Moments.of(self.rows.n_features, 0)
        return _bordered(Local().reduce(lambda block: self._moments(empty, block), blocks, empty.zero()))

    def problem(self) -> FeatureRows | None:
        """Return the rows that ``gram`` is made of as rows of their own, in this process; None if it is not worth it.

        It is where they are at most an eighth of all rows, and their y were sampled.
        """
        rows = self.rows
        if not rows.has_gram or rows.wide_sample.y is None or self._n_gram > _PROBLEM_SHARE * rows.n_rows:
            return None
        sample, owner = self._sample(self._n_gram), rows.passes.owner
        source, weight = ArraySource(owner, sample.rows), sample.given_weight
        blocks = Blocks(source, _GRAM_BLOCK_ROWS, y=sample.y, sample_weight=weight, owner=owner, trusted=True)
        return FeatureRows(rows.feature_map, blocks, rows.targets.as_given, Passes(owner), sample)

    def leading_part(self) -> LowRank:
        """Return the leading eigenvectors of the weighted covariance of the features, from sampled rows.

        At most 1024 (512 of sparse features) and an eighth of the features, from 4 rows each and at most a quarter of
        the rows. Where these would take more than an eighth of the memory budget, eigenvectors of features in slabs are
        not stored, and of others there are fewer.
        """
        rows = self.rows
        most = _SPARSE_LEADING if rows.is_sparse else min(_LEADING, max(rows.n_features // 8, 1))
        # of each row its share of the eigenvectors, and its features unless they are sparse or come in slabs
        held = 0.25 if rows.is_sparse or rows.in_slabs else 1.25
        affordable = int(rows.memory / 8 / (held * rows.n_features * rows.dtype.itemsize))
        few = rows.n_rows if rows.is_sparse else max(int(_GRAM_SHARE * rows.n_rows), PROBE_ROWS)
        wanted = min(max(4 * most, PROBE_ROWS), few)
        sample = self._sample(max(wanted if rows.in_slabs else min(wanted, affordable), 4))
        return LowRank.of(rows.read(sample.rows), _shares(sample), most, centre=True, stored=wanted <= affordable)

    @cached_property
    def _n_gram(self) -> int:
        n, rates = self.rows.n_rows, (_LEAST_GRAM_ROWS_PER_FEATURE, _GRAM_ROWS_PER_FEATURE, MOST_GRAM_ROWS_PER_FEATURE)
        few, many, most = (rate * self.rows.n_features for rate in rates)
        return max(few, min(many, int(_GRAM_SHARE * n)), min(most, int(_SMALL_SHARE * n)), self.rows.n_probed)

    def _moments(self, empty: Moments, block: Block) -> Moments:
        return empty.of_block(self.rows.made(block.X), np.empty((block.n_rows, 0)), block.sample_weight)

    def _diagonal(self) -> Array:
        sample = self._sample(self.rows.n_probed)
        Z, weight = self.rows.made(sample.rows), _shares(sample)
        if not isinstance(Z, np.ndarray):
            return np.append(np.asarray(Z.multiply(Z).T @ weight).ravel(), 1.0)
        return np.append(np.einsum("ij,ij,i->j", Z, Z, weight), 1.0)

    def _sample(self, n_wanted: int) -> Sample:
        """Return about so many sampled rows, spread over the sample."""
        sample = self.rows.sample if n_wanted <= self.rows.sample.rows.shape[0] else self.rows.wide_sample
        n_rows = sample.rows.shape[0]
        n_wanted = min(n_wanted, n_rows)
        chosen = np.arange(n_wanted) * n_rows // n_wanted
        y = None if sample.y is None else sample.y[chosen]
        return Sample(sample.rows[chosen], sample.given_weight[chosen], None, y)


def curved_gram(rows: FeatureRows, loss: Loss, value: Array) -> Array | None:
    """Return the mean of a a^T, a = (z, 1), over rows weighted by the curvatures of their losses at ``value``.

    It is None where the curvatures leave fewer than 8 rows per feature: of c, (sum c)^2 / sum c^2 rows count. A squared
    hinge has no curvature beyond the margin, and the mean one of all rows is better than that of a few.
    """
    k = value.shape[1]

    def curvatures(Z: Rows, Y: Array, weight: Array | None) -> Array:
        found: Array = loss.curvatures(linear_scores(Z, value[:-1], value[-1]), Y).sum(axis=1) / k
        return found if weight is None else weight * found

    def sums(Z: Rows, Y: Array, weight: Array | None) -> Totals:
        c = curvatures(Z, Y, weight)
        return Totals(np.array([c.sum(), c @ c]))

    first, second = rows.reduce("curvatures", sums, Totals.of(2)).values
    if not first**2 >= _CURVED_ROWS_PER_FEATURE * rows.n_features * second > 0:
        return None
    empty = Moments.of(rows.n_features, 0)

    def moments(Z: Rows, Y: Array, weight: Array | None) -> Moments:
        return empty.zero().update(Z, np.empty((Z.shape[0], 0)), curvatures(Z, Y, weight) / first)

    return _bordered(rows.reduce("curved Gram matrix", moments, empty.zero()))


def _shares(sample: Sample) -> Array:
    """Return the weights of a sample, which sum to 1."""
    shares: Array = sample.weight / sample.weight.sum()
    return shares


def _bordered(moments: Moments) -> Array:
    """Return the mean of a a^T, a = (z, 1), given moments of weights that sum to 1."""
    gram = np.ones((len(moments.gram) + 1, len(moments.gram) + 1))
    gram[:-1, :-1] = moments.gram
    gram[-1, :-1] = gram[:-1, -1] = moments.sum_features
    return gram
