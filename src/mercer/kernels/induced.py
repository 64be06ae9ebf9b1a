"""Kernels of the distance that another kernel induces."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.kernels.evaluation.bandwidth import RULES, median_distance
from mercer.kernels.radial import RadialKernel
from mercer.structures.domains import Domain

# Rows that a bandwidth is found on, and objects, of which a pair may cost the product of their sizes.
_SAMPLE_ROWS, _SAMPLE_OBJECTS = 1000, 200


@dataclass(frozen=True, repr=False)
class Induced(Kernel):
    r"""A radial kernel h of the distance that another kernel induces.

    .. math:: h(d(x, y)), \quad d^2(x, y) = k(x, x) + k(y, y) - 2 k(x, y)

    ``Induced(Gaussian(), WeisfeilerLehman(3))`` is the Gaussian kernel of graphs; with
    ``Convolution(kappa, average="mean")`` inside it is the Gaussian of the distance of mean embeddings.

    Parameters
    ----------
    outer : radial kernel
        ``Gaussian``, ``Matern``, ``Cauchy``, ``RationalQuadratic``, ``ExponentialPower``. With ``gamma="scale"`` the
        bandwidth is the mean squared distance of the objects of ``fit`` to their mean, and with ``"median"`` the median
        distance; both on at most 1000 objects.
    inner : Kernel
        Of any domain.

    References
    ----------
    N. Kriege, F. Johansson and C. Morris, "A survey on graph kernels", Applied Network Science 2020.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> from mercer.kernels import Induced, Spectrum
    >>> Induced(Gaussian(gamma=0.5), Spectrum(1))(["ab", "ac"]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    outer: RadialKernel
    inner: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.outer, RadialKernel):
            raise ValueError(
                f"Induced: outer must be a radial kernel such as Gaussian(), a function of the distance, got "
                f"{self.outer!r}. For a function of the kernel's values take Composed."
            )
        if not isinstance(self.inner, Kernel):
            raise ValueError(f"Induced: inner must be a kernel, got {self.inner!r}.")

    @property
    @override
    def domain(self) -> Domain:
        return self.inner.domain

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Kernel:
        """Return the kernel with both kernels resolved: the outer on distances of at most 1000 rows or 200 objects."""
        inner = self.inner.resolve(X, sample_weight)
        outer = _resolved_outer(self.outer, inner, X, sample_weight)
        unchanged = inner is self.inner and outer is self.outer
        return self if unchanged else self.with_params(outer=outer, inner=inner)

    @override
    def check_domain(self, name: str, X: Rows) -> None:
        self.inner.check_domain(name, X)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self._of_values(self.inner.evaluate(X, Y), self.inner.evaluate_diag(X), self.inner.evaluate_diag(Y))

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        Y = Y.astype(dtype, copy=False)
        tile, squares = self.inner.evaluator(Y, dtype), self.inner.evaluate_diag(Y)

        def induced(X: Rows) -> Array:
            X = X.astype(dtype, copy=False)
            return self._of_values(tile(X), self.inner.evaluate_diag(X), squares).astype(dtype, copy=False)

        return induced

    def _of_values(self, values: Array, left: Array, right: Array) -> Array:
        distances = np.sqrt(np.maximum(left[:, None] + right - 2 * values, 0.0))
        of_one = self.outer.evaluate(distances.reshape(-1, 1), np.zeros((1, 1), dtype=distances.dtype))
        return np.asarray(of_one).reshape(distances.shape)

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        _ = self.outer.bandwidth  # unresolved kernels have no values, not on the diagonal either
        return np.ones(X.shape[0], dtype=X.dtype)


def _resolved_outer(outer: RadialKernel, inner: Kernel, X: Rows, sample_weight: Array | None) -> RadialKernel:
    rule = next((value for field in fields(outer) if (value := getattr(outer, field.name)) in RULES), None)
    if rule is None:
        return outer
    weights = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    n_sampled = _SAMPLE_ROWS if inner.domain == "rows" else _SAMPLE_OBJECTS
    if X.shape[0] > n_sampled:
        share = weights / weights.sum()
        chosen = np.sort(np.random.RandomState(0).choice(X.shape[0], n_sampled, p=share))
        X, weights = X[chosen], np.ones(n_sampled)
    values, squares = inner.evaluate(X, X), np.asarray(inner.evaluate_diag(X), dtype=np.float64)
    inner.check_finite(values)
    # Two rows on a line show the outer kernel's rule the same scale as all objects do in the inner kernel's space.
    if rule == "scale":
        share = weights / weights.sum()
        spread = np.sqrt(max(float(share @ squares - share @ values @ share), 0.0))
        return outer.resolve(np.array([[-spread], [spread]]))  # type: ignore[return-value]
    distances = np.maximum(squares[:, None] + squares - 2 * values, 0.0)
    numbers = np.arange(len(weights), dtype=np.float64)[:, None]
    median = median_distance("Induced: outer", lambda A, B: distances, numbers, weights)
    return outer.resolve(np.array([[0.0], [np.sqrt(median)]]))  # type: ignore[return-value]
