"""Kernel values of rows with fixed rows, such as landmarks: one formula per class of kernels.

Callers pass rows in float64: where two rows nearly coincide, the float32 distance |x|^2 + |y|^2 - 2 <x, y> has no
correct digit, and sums of kernel values have coefficients of both signs that are large.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import pi
from operator import add, mul
from typing import Any

import numpy as np

from mercer._typing import Array, override
from mercer.export.graph import Tensor, Value
from mercer.export.registry import ExportError
from mercer.features.registry import of_nearest_ancestor
from mercer.kernels import (
    AdditiveKernel,
    ArcCosine,
    Cauchy,
    Chi2,
    Columns,
    Composed,
    DotProductKernel,
    Exponential,
    ExponentialChi2,
    ExponentialPower,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Kernel,
    Laplacian,
    Linear,
    LowOrder,
    Matern,
    Metric,
    Normalized,
    Polynomial,
    Product,
    RadialKernel,
    RationalQuadratic,
    SameCategory,
    Scaled,
    ScaledColumns,
    Sigmoid,
    StationaryKernel,
    Sum,
    TransformedKernel,
    VovkInfinite,
    VovkPolynomial,
)


class Pairs(ABC):
    """Rows of a graph (n, d) and the fixed rows that each is compared with; results have the shape (n, m)."""

    X: Tensor

    @abstractmethod
    def products(self) -> Tensor:
        """Write <x, y>."""

    @abstractmethod
    def squared_distances(self) -> Tensor:
        """Write |x - y|^2."""

    @abstractmethod
    def of_columns(self, function: Callable[[Tensor, Value], Tensor]) -> Tensor:
        """Write a function of the entries x_j and y_j, of shape (n, m, d)."""

    @abstractmethod
    def of_fixed(self, function: Callable[[Array], Array]) -> Value:
        """Return a function of the fixed rows, one number for each, to be used next to results (n, m)."""

    @abstractmethod
    def transformed(self, kernel: TransformedKernel) -> "Pairs":
        """Return the pairs of transformed rows."""


@dataclass(frozen=True)
class FixedPairs(Pairs):
    """All rows with the same fixed rows Y (m, d)."""

    X: Tensor
    Y: Array

    @override
    def products(self) -> Tensor:
        return self.X @ self.Y.T

    @override
    def squared_distances(self) -> Tensor:
        centre = self.Y.mean(axis=0)
        X, Y = self.X - centre, self.Y - centre
        squares = X.square().sum(1) + np.square(Y).sum(axis=1)[None, :] - (X @ Y.T) * 2.0
        return squares.at_least(0.0)

    @override
    def of_columns(self, function: Callable[[Tensor, Value], Tensor]) -> Tensor:
        return function(self.X.insert_axis(1), self.Y[None])

    @override
    def of_fixed(self, function: Callable[[Array], Array]) -> Value:
        return function(self.Y)[None, :]

    @override
    def transformed(self, kernel: TransformedKernel) -> "Pairs":
        return FixedPairs(transformed(kernel, self.X), kernel.apply(self.Y))


@dataclass(frozen=True)
class GatheredPairs(Pairs):
    """Each row with the rows of its own group: ``groups`` (g, m, d), and the number of each row's group (n,)."""

    X: Tensor
    groups: Array
    number: Tensor

    @override
    def products(self) -> Tensor:
        return self._batched(self.X, self.groups)

    @override
    def squared_distances(self) -> Tensor:
        centre = self.groups.mean(axis=(0, 1))
        X, groups = self.X - centre, self.groups - centre
        lengths = self._own(np.square(groups).sum(axis=2))
        return (X.square().sum(1) + lengths - self._batched(X, groups) * 2.0).at_least(0.0)

    @override
    def of_columns(self, function: Callable[[Tensor, Value], Tensor]) -> Tensor:
        return function(self.X.insert_axis(1), self._own(self.groups))

    @override
    def of_fixed(self, function: Callable[[Array], Array]) -> Value:
        values = function(self.groups.reshape(-1, self.groups.shape[2])).reshape(self.groups.shape[:2])
        return self._own(values)

    @override
    def transformed(self, kernel: TransformedKernel) -> "Pairs":
        flat = kernel.apply(self.groups.reshape(-1, self.groups.shape[2]))
        groups = flat.reshape(*self.groups.shape[:2], -1)
        return GatheredPairs(transformed(kernel, self.X), groups, self.number)

    def _batched(self, X: Tensor, groups: Array) -> Tensor:
        return (X.insert_axis(1) @ self._own(groups.transpose(0, 2, 1))).op("Squeeze", np.array([1]))

    def _own(self, values: Array) -> Tensor:
        """Return what belongs to the group of each row."""
        return self.X.graph.constant(values, self.X.dtype).take(self.number)


def kernel_values(kernel: Kernel, pairs: Pairs) -> Tensor:
    """Write k(x, y) of all pairs, in the precision of the rows."""
    writer = of_nearest_ancestor(_VALUES, kernel)
    if writer is None:
        raise _refused(kernel, "its function is not one that ONNX has")
    return writer(kernel, pairs)


def transformed(kernel: Kernel, X: Tensor) -> Tensor:
    """Write the rows that a kernel of transformed rows sees."""
    if isinstance(kernel, ScaledColumns):
        return X * np.asarray(kernel.weights)
    if isinstance(kernel, Columns):
        return X.take(np.asarray(kernel.columns), axis=1)
    if isinstance(kernel, Metric):
        return X @ kernel.matrix
    if isinstance(kernel, TransformedKernel):
        raise _refused(kernel, "its transformation is not one that ONNX has")
    return X


def diagonal(kernel: Kernel, X: Tensor) -> Tensor:
    """Write k(x, x) as a column (n, 1)."""
    writer = of_nearest_ancestor(_DIAGONALS, kernel)
    if writer is None:
        raise _refused(kernel, "k(x, x) has no formula in ONNX")
    return writer(kernel, X)


def _arc_cosine_diagonal(kernel: ArcCosine, X: Tensor) -> Tensor:
    squares = X.square().sum(1)
    nonzero = (squares > 0.0).cast(X.dtype)
    return nonzero if kernel.order == 0 else squares.power(kernel.order) * (1.0, 3.0)[kernel.order - 1]


def _constant_diagonal(kernel: Kernel, X: Tensor) -> Tensor:
    return X.columns(0, 1) * 0.0 + (1.0 + (kernel.offset if isinstance(kernel, SameCategory) else 0.0))


def _refused(kernel: Kernel, why: str) -> ExportError:
    return ExportError(
        f"to_onnx: {kernel!r} cannot be written as ONNX: {why}. Gaussian, Matern(0.5), Matern(1.5), Matern(2.5), "
        "Laplacian, Polynomial and their sums and products can; mercer.save keeps any model for Python."
    )


def _profile(kernel: DotProductKernel, t: Tensor) -> Tensor:
    """Write f(t) of a dot-product kernel."""
    match kernel:
        case Linear():
            return t
        case Polynomial():
            return (t * kernel.gamma + kernel.coef0).power(kernel.degree)
        case Exponential():
            return (t * kernel.gamma).op("Exp")
        case Sigmoid():
            return (t * kernel.gamma + kernel.coef0).op("Tanh")
        case VovkInfinite():
            return 1.0 / (1.0 - t)
        case VovkPolynomial():
            return reduce(lambda total, _: total * t + 1.0, range(kernel.degree - 1), t * 0.0 + 1.0)
    raise _refused(kernel, "it is a function of your own")


def _radial(kernel: RadialKernel, pairs: Pairs) -> Tensor:
    return _radial_profile(kernel, pairs.squared_distances())


def _radial_profile(kernel: RadialKernel, squares: Tensor) -> Tensor:
    """Write a radial kernel where |x - y|^2 is given."""
    if isinstance(kernel, Gaussian):
        return (squares * -kernel.bandwidth).op("Exp")
    q = squares * float(kernel.bandwidth) ** -2
    match kernel:
        case Cauchy():
            return 1.0 / (q + 1.0)
        case RationalQuadratic():
            return ((q * (0.5 / kernel.alpha) + 1.0).op("Log") * -kernel.alpha).op("Exp")
        case ExponentialPower():
            return (-q.op("Pow", np.float64(kernel.alpha / 2))).op("Exp")
        case Matern(nu=0.5 | 1.5 | 2.5):
            t = (q * (2 * kernel.nu)).op("Sqrt")
            decay = (-t).op("Exp")
            return (
                decay if kernel.nu == 0.5 else decay * (t + 1.0 + (t.square() * (1 / 3) if kernel.nu == 2.5 else 0.0))
            )
        case Matern():
            raise _refused(kernel, "ONNX has no Bessel function K_nu. Take nu=0.5, 1.5 or 2.5")
    raise _refused(kernel, "its function of the distance is not one that ONNX has")


def _laplacian(kernel: Laplacian, pairs: Pairs) -> Tensor:
    distances = pairs.of_columns(lambda x, y: (x - y).op("Abs")).sum(2, keep=False)
    return (distances * -kernel.bandwidth).op("Exp")


def _low_order(kernel: LowOrder, pairs: Pairs) -> Tensor:
    """Write the product over columns of 1 - p + p k(x_j, y_j)."""
    inner = kernel.kernel

    def of_entries(x: Tensor, y: Value) -> Tensor:
        difference = x - y
        if isinstance(inner, Laplacian):
            values = (difference.op("Abs") * -inner.bandwidth).op("Exp")
        elif isinstance(inner, RadialKernel):
            values = _radial_profile(inner, difference.square())
        else:
            raise _refused(kernel, "its kernel of one column is not one that ONNX has")
        return values

    values = pairs.of_columns(of_entries)
    p = kernel.probability(_n_columns(pairs))
    return (values * p + (1.0 - p)).op("ReduceProd", np.array([2]), keepdims=0)


def _n_columns(pairs: Pairs) -> int:
    fixed = pairs.Y if isinstance(pairs, FixedPairs) else pairs.groups if isinstance(pairs, GatheredPairs) else None
    assert fixed is not None  # noqa: S101 - the only two kinds
    return int(fixed.shape[-1])


def _additive(kernel: AdditiveKernel, pairs: Pairs) -> Tensor:
    """Write the sum over columns of a kernel of two numbers, 0 where one of them is 0."""
    function = _OF_NUMBERS.get(type(kernel))
    if function is None:
        raise _refused(kernel, "its function of two numbers is not one that ONNX has")
    return pairs.of_columns(function).sum(2, keep=False)


def _harmonic(x: Tensor, y: Value) -> Tensor:
    total = x + y
    positive = total > 0.0
    return positive.where(x * y * 2.0 / positive.where(total, 1.0), 0.0)


def _entropy(x: Tensor, y: Value) -> Tensor:
    positive = (x * y) > 0.0
    a, b = positive.where(x, 1.0), positive.where(y, 1.0)
    values = a * (b / a + 1.0).op("Log") + b * (a / b + 1.0).op("Log")
    return positive.where(values * (0.5 / np.log(2.0)), 0.0)


_OF_NUMBERS: dict[type, Callable[[Tensor, Value], Tensor]] = {
    Chi2: _harmonic,
    Intersection: lambda x, y: x.at_most(y),
    JensenShannon: _entropy,
    Hellinger: lambda x, y: (x * y).op("Sqrt"),
}


def _exponential_chi2(kernel: ExponentialChi2, pairs: Pairs) -> Tensor:
    sums = pairs.X.sum(1) + pairs.of_fixed(lambda Y: Y.sum(axis=1))
    exponent = (sums - _additive(Chi2(), pairs) * 2.0).at_least(0.0)
    return (exponent * (-0.5 * kernel.sigma**-2)).op("Exp")


def _arc_cosine(kernel: ArcCosine, pairs: Pairs) -> Tensor:
    """Write the kernel by the cosine of the angle."""
    sizes = pairs.X.square().sum(1).op("Sqrt") * pairs.of_fixed(lambda Y: np.linalg.norm(Y, axis=1))
    positive = sizes > 0.0
    cosine = pairs.products() / positive.where(sizes, 1.0)
    cosine = cosine.at_most(1.0).at_least(-1.0)
    # The angle from its half: runtimes have arc tangents in float32 only, and these are right to 7 digits everywhere.
    half = ((1.0 - cosine) / (cosine + 1.0).at_least(1e-300)).op("Sqrt").cast(np.float32).op("Atan")
    left = pi - half.cast(pairs.X.dtype) * 2.0
    if kernel.order == 0:
        angular = left
    else:
        sine = (1.0 - cosine.square()).at_least(0.0).op("Sqrt")
        angular = sine + left * cosine
        if kernel.order == 2:
            angular = sine * cosine * 3.0 + left * (cosine.square() * 2.0 + 1.0)
    values = angular * (1 / pi)
    values = values * sizes.power(kernel.order) if kernel.order else values
    return positive.where(values, 0.0)


def _same_category(kernel: SameCategory, pairs: Pairs) -> Tensor:
    same = pairs.of_columns(lambda x, y: x.equals(y).cast(pairs.X.dtype))
    return same.op("ReduceMin", np.array([2]), keepdims=0) + kernel.offset


def _normalized(kernel: Normalized, pairs: Pairs) -> Tensor:
    squares = diagonal(kernel.kernel, pairs.X)
    positive = squares > 0.0
    own = positive.where(1.0 / positive.where(squares, 1.0).op("Sqrt"), 0.0)

    def inverse(Y: Array) -> Array:
        fixed = np.asarray(kernel.kernel.evaluate_diag(Y))
        return np.divide(1.0, np.sqrt(fixed), out=np.zeros_like(fixed), where=fixed > 0)

    return kernel_values(kernel.kernel, pairs) * own * pairs.of_fixed(inverse)


_VALUES: dict[type, Callable[[Any, Pairs], Tensor]] = {
    AdditiveKernel: _additive,
    ArcCosine: _arc_cosine,
    Composed: lambda kernel, pairs: _profile(kernel.f, kernel_values(kernel.inner, pairs)),
    DotProductKernel: lambda kernel, pairs: _profile(kernel, pairs.products()),
    ExponentialChi2: _exponential_chi2,
    Laplacian: _laplacian,
    LowOrder: _low_order,
    Normalized: _normalized,
    Product: lambda kernel, pairs: reduce(mul, (kernel_values(term, pairs) for term in kernel.terms)),
    RadialKernel: _radial,
    SameCategory: _same_category,
    Scaled: lambda kernel, pairs: kernel_values(kernel.kernel, pairs) * kernel.scale,
    Sum: lambda kernel, pairs: reduce(add, (kernel_values(term, pairs) for term in kernel.terms)),
    TransformedKernel: lambda kernel, pairs: kernel_values(kernel.kernel, pairs.transformed(kernel)),
}

_DIAGONALS: dict[type, Callable[[Any, Tensor], Tensor]] = {
    AdditiveKernel: lambda kernel, X: X.sum(1),
    ArcCosine: _arc_cosine_diagonal,
    Composed: lambda kernel, X: _profile(kernel.f, diagonal(kernel.inner, X)),
    DotProductKernel: lambda kernel, X: _profile(kernel, X.square().sum(1)),
    ExponentialChi2: _constant_diagonal,
    LowOrder: _constant_diagonal,
    Normalized: lambda kernel, X: (diagonal(kernel.kernel, X) > 0.0).cast(X.dtype),
    Product: lambda kernel, X: reduce(mul, (diagonal(term, X) for term in kernel.terms)),
    SameCategory: _constant_diagonal,
    Scaled: lambda kernel, X: diagonal(kernel.kernel, X) * kernel.scale,
    StationaryKernel: _constant_diagonal,
    Sum: lambda kernel, X: reduce(add, (diagonal(term, X) for term in kernel.terms)),
    TransformedKernel: lambda kernel, X: diagonal(kernel.kernel, transformed(kernel, X)),
}
