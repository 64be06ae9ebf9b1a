"""Kernels that are a function of another kernel's values."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.kernels.dot_product import DotProductKernel
from mercer.structures.domains import Domain

# Degrees of f that are checked for a negative coefficient when the series does not end.
_DEGREES_CHECKED = 64


@dataclass(frozen=True, repr=False)
class Composed(Kernel):
    """A kernel f(k(x, y)) of another kernel's values, with f a series of non-negative coefficients.

    Parameters
    ----------
    f : DotProductKernel
        The function, as the kernel that applies it to a dot product: ``Exponential(gamma=1.0)`` is exp,
        ``Polynomial(3, coef0=1.0)`` is (1 + t)^3, ``DotProduct(f, coefficients)`` any other.
    inner : Kernel

    References
    ----------
    P. Kar and H. Karnick, "Random feature maps for dot product kernels", AISTATS 2012 (compositional kernels).

    Examples
    --------
    >>> from mercer import Composed, Exponential, Gaussian
    >>> Composed(Exponential(gamma=1.0), Gaussian(gamma=0.5))([[0.0]], [[0.0]]).round(4)
    array([[2.7183]])
    """

    f: DotProductKernel
    inner: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.f, DotProductKernel):
            raise ValueError(
                f"Composed: f must be a dot-product kernel such as Exponential(gamma=1.0), whose function is applied "
                f"to the inner kernel, got {self.f!r}. For a function of your own write DotProduct(f, coefficients)."
            )
        if not isinstance(self.inner, Kernel):
            raise ValueError(f"Composed: inner must be a kernel, got {self.inner!r}.")
        last = _DEGREES_CHECKED if self.f.last_degree is None else self.f.last_degree
        bad = [(n, a) for n, a in enumerate(self.f.maclaurin(last)) if not a >= 0]
        if bad:
            raise ValueError(
                f"Composed: {self.f!r} has the Maclaurin coefficient a_{bad[0][0]} = {bad[0][1]:.6g}; all must be "
                ">= 0, or the composition is not positive definite."
            )

    @property
    @override
    def domain(self) -> Domain:
        return self.inner.domain

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self.f.profile(self.inner.evaluate(X, Y))

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        tile = self.inner.evaluator(Y, dtype)
        return lambda X: self.f.profile(tile(X))

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return self.f.profile(np.array(self.inner.evaluate_diag(X)))


@dataclass(frozen=True, repr=False)
class Normalized(Kernel):
    """The normalised kernel k(x, y) / sqrt(k(x, x) k(y, y)), which is 1 for x = y.

    A row with k(x, x) = 0 has no direction: its normalised value is 0 with every row, itself included.

    >>> from mercer import Linear, Normalized
    >>> Normalized(Linear())([[3.0, 4.0]], [[6.0, 8.0]])
    array([[1.]])
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"Normalized: kernel must be a kernel, got {self.kernel!r}.")

    @property
    @override
    def domain(self) -> Domain:
        return self.kernel.domain

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        values = self.kernel.evaluate(X, Y)
        values *= inverse_lengths(self.kernel, X)[:, None]
        values *= inverse_lengths(self.kernel, Y)
        return values

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        Y = Y.astype(dtype, copy=False)
        tile, lengths = self.kernel.evaluator(Y, dtype), inverse_lengths(self.kernel, Y)

        def normalized(X: Rows) -> Array:
            X = X.astype(dtype, copy=False)
            values = tile(X)
            values *= inverse_lengths(self.kernel, X)[:, None]
            values *= lengths
            return values

        return normalized

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return np.asarray(inverse_lengths(self.kernel, X) > 0, dtype=X.dtype)


def inverse_lengths(kernel: Kernel, X: Rows) -> Array:
    """Return 1 / sqrt(k(x, x)) for each row, 0 where k(x, x) is 0."""
    squares = np.asarray(kernel.evaluate_diag(X))
    return np.asarray(np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0))
