"""Exact variances of the dot-product maps, in terms of three numbers per pair of rows.

For rows x, y: t = <x, y>, N = |x|^2 |y|^2 and s = sum_i x_i^2 y_i^2. Every formula follows from the fourth moments of
independent signs, and is tested against re-drawn maps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from mercer._typing import Array, Rows


@dataclass(frozen=True)
class PairMoments:
    """The numbers t, N and s of all pairs of rows."""

    t: Array
    N: Array
    s: Array

    @classmethod
    def of(cls, X: Rows, Y: Rows) -> "PairMoments":
        """Compute t, N and s for the rows of X and Y, dense or CSR."""
        t = np.asarray(safe_sparse_dot(X, Y.T, dense_output=True))
        N = np.outer(row_norms(X, squared=True), row_norms(Y, squared=True))
        s = np.asarray(safe_sparse_dot(X**2, (Y**2).T, dense_output=True))
        return cls(t, N, s)

    @classmethod
    def affine(cls, X: Rows, Y: Rows, gamma: float, coef0: float) -> "PairMoments":
        """Compute t, N and s for the rows [sqrt(gamma) x, sqrt(coef0)]."""
        plain = cls.of(X, Y)
        x = gamma * row_norms(X, squared=True) + coef0
        y = gamma * row_norms(Y, squared=True) + coef0
        return cls(gamma * plain.t + coef0, np.outer(x, y), gamma**2 * plain.s + coef0**2)

    @property
    def rademacher(self) -> Array:
        """The second moment E[(w.x)^2 (w.y)^2] = N + 2t^2 - 2s of one projection on random signs."""
        moment: Array = self.N + 2 * self.t**2 - 2 * self.s
        return moment


def tensor_sketch_variance(factors: Sequence[PairMoments], n_components: int) -> Array:
    """Return the variance of the sketch of a tensor product with one entry of ``factors`` per factor.

    With A, B, C, T the products over the factors of N + t^2 - s, 2t^2 - s, N + 2t^2 - 2s and t^2, it is
    (A + B - 2T) / D + gcd(2, D) (C - A - B + T) / D^2: the four indices of a squared estimate pair up in three ways per
    factor, and the crossing pairings collide with probability 1/D, or gcd(2, D)/D^2 if both kinds occur. The formula
    needs 2-wise independent index hashes and 4-wise independent sign hashes, independent across factors.
    """
    pairings = [_pairings(factor) for factor in factors]
    return _collisions([np.prod(kind, axis=0) for kind in zip(*pairings, strict=True)], n_components)


def power_sketch_variance(pairs: PairMoments, degree: int, n_components: int) -> Array:
    """Return the variance of the sketch of a tensor power: ``tensor_sketch_variance`` with equal factors."""
    return _collisions([kind**degree for kind in _pairings(pairs)], n_components)


def power_sketch_variances(pairs: PairMoments, last: int, n_components: int) -> Iterator[Array]:
    """Yield ``power_sketch_variance`` of degrees 1, 2, ..., last, by one product per degree instead of a power."""
    kinds = _pairings(pairs)
    products = [np.ones_like(pairs.t) for _ in kinds]
    for _ in range(last):
        products = [product * kind for product, kind in zip(products, kinds, strict=True)]
        yield _collisions(products, n_components)


def _pairings(pairs: PairMoments) -> list[Array]:
    square = pairs.t**2
    return [pairs.N + square - pairs.s, 2 * square - pairs.s, pairs.rademacher, square]


def _collisions(products: list[Array], D: int) -> Array:
    A, B, C, T = products
    variance: Array = (A + B - 2 * T) / D + gcd(2, D) * (C - A - B + T) / D**2
    return np.maximum(variance, 0.0)  # a difference of equal numbers may round below 0


def maclaurin_variance(
    mean: Array, moment: Array, coefficients: Array, distribution: Array, n_components: int
) -> Array:
    """Return the variance of Random Maclaurin with degrees drawn independently from ``distribution``.

    Each factor W has E[W(x) W(y)] = ``mean`` = t and E[W(x)^2 W(y)^2] = ``moment`` = m (N + 2t^2 - 2s for random
    signs): the variance is (sum_n a_n^2 / q_n m^n - g(t)^2) / D with g the series of the degrees in the distribution.
    """
    second = np.zeros_like(mean)
    for n in np.flatnonzero(distribution):
        second += coefficients[n] ** 2 / distribution[n] * moment**n
    series = np.where(distribution > 0, coefficients, 0.0)
    total = np.polynomial.polynomial.polyval(mean, series)
    return np.maximum((second - total**2) / n_components, 0.0)
