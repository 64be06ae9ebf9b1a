"""Frobenius norms of a symmetric matrix, estimated from sampled rows, with confidence intervals."""

import numpy as np

from mercer._typing import Array
from mercer.gram.stratified import RowSample, Total


def squared_norm(sample: RowSample, M: Array, diagonal: Array) -> Total:
    """Estimate |M|_F^2 without bias, from M on the sampled rows and its diagonal on all rows."""
    pairs, exact = sample.pairs(M**2), float((diagonal**2).sum())
    return Total(exact + pairs.value, exact + pairs.replicates)


def centred_squared_norm(sample: RowSample, M: Array, diagonal: Array) -> Total:
    """Estimate |HMH|_F^2 = |M|^2 - (2/N) sum_i r_i^2 + (sum_i r_i)^2 / N^2, where r_i is the sum of row i of M.

    H = I - 11'/N centres all N rows. A constant added to M does not change HMH, so the mean of M is subtracted first:
    otherwise the three terms would cancel and lose digits.
    """
    N = len(diagonal)
    if sample.is_whole:
        norm = float((_centred(M) ** 2).sum())
        return Total(norm, np.full(N, norm))
    mean = sample.pairs(M).value / (N * (N - 1))
    M, diagonal = M - mean, diagonal - mean
    squares, pairs = squared_norm(sample, M, diagonal), sample.pairs(M)
    sums = sample.squared_row_sums(M, diagonal[sample.rows])
    total, totals = pairs.value + float(diagonal.sum()), pairs.replicates + diagonal.sum()
    bias = sample.variance(totals)  # the bias of the squared total
    value = squares.value - 2 * sums.value / N + (total**2 - bias) / N**2
    return Total(value, squares.replicates - 2 * sums.replicates / N + (totals**2 - bias) / N**2)


def root_interval(sample: RowSample, squares: Total, by: Total | None, confidence: float) -> tuple[float, float, float]:
    """Return the square root of a total, or of the ratio of two totals, and the ends of the confidence interval.

    The interval is computed for the logarithm, whose distribution is closer to normal than that of a ratio of squares.
    """
    value, replicates = squares.value, squares.replicates
    if by is not None and by.value > 0 and by.replicates.min() > 0:
        value, replicates = value / by.value, replicates / by.replicates
    if value > 0 and replicates.min() > 0:
        below, above = sample.offsets(np.log(replicates), confidence)
        low, high = value * np.exp(-below), value * np.exp(above)
    else:  # no logarithm: the error is 0, or centring removes all of it
        below, above = sample.offsets(replicates, confidence)
        low, high = value - below, value + above
    value, low, high = (float(np.sqrt(max(x, 0.0))) for x in (value, low, high))
    return value, low, high


def _centred(M: Array) -> Array:
    return np.asarray(M - M.mean(axis=0) - M.mean(axis=1)[:, None] + M.mean())
