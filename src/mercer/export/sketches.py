"""Sketches of dot-product kernels: linear, Tensor Sketch, split sketch and Random Maclaurin."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from mercer._typing import Array
from mercer.export.convolution import Factor, convolution, hash_matrix
from mercer.export.graph import Graph, Tensor
from mercer.export.registry import ExportError, writes_map
from mercer.features import LinearFeatures, RandomMaclaurin, SplitSketch, TensorSketch
from mercer.features.sketches.expansions import Expansion, ExponentialExpansion, GaussianExpansion, SplitExpansion
from mercer.features.sketches.strata import Strata
from mercer.kernels import Polynomial


@writes_map(LinearFeatures)
def linear_features(feature_map: LinearFeatures, graph: Graph, X: Tensor) -> Tensor:
    """Write the columns, or their count sketch."""
    if not feature_map.is_random:
        return X.op("Identity")
    return X @ hash_matrix(feature_map.index_, feature_map.sign_, feature_map.n_features_out_)


@writes_map(TensorSketch)
def tensor_sketch(feature_map: TensorSketch, graph: Graph, X: Tensor) -> Tensor:
    """Write the sketches of a polynomial kernel, or those of all degrees of a series."""
    if feature_map.strata_ is not None:
        return _strata(feature_map.strata_, graph, X)
    kernel, n_sketches = feature_map.kernel_, len(feature_map.index_)
    gamma, coef0 = (kernel.gamma, kernel.coef0) if isinstance(kernel, Polynomial) else (1.0, 0.0)
    width = feature_map.n_features_out_ // n_sketches
    parts = []
    for index, sign in zip(feature_map.index_, feature_map.sign_, strict=True):
        tables = [hash_matrix(*hashes, width) for hashes in zip(index, sign, strict=True)]
        parts.append(convolution([_affine(X, table, sqrt(gamma), sqrt(coef0)) for table in tables], width))
    return graph.concatenate(parts) * n_sketches**-0.5


@writes_map(SplitSketch)
def split_sketch(feature_map: SplitSketch, graph: Graph, X: Tensor) -> Tensor:
    """Write the degrees around the common direction of the rows."""
    return _strata(feature_map.strata_, graph, X)


@writes_map(RandomMaclaurin)
def random_maclaurin(feature_map: RandomMaclaurin, graph: Graph, X: Tensor) -> Tensor:
    """Write the exact constant and linear parts, products of projections on signs, and constants."""
    if feature_map.inner_ is not None:
        raise ExportError(
            f"to_onnx: RandomMaclaurin of {feature_map.kernel_!r} cannot be written as ONNX: its factors are draws of "
            "another map. Use Nystroem with this kernel."
        )
    degrees, coefficients = feature_map.degrees_, feature_map.coefficients_
    parts = []
    if feature_map.n_features_out_ > len(degrees):
        if coefficients[0] > 0:
            parts.append(constant_columns(X, np.sqrt(coefficients[:1])))
        if len(coefficients) > 1 and coefficients[1] > 0:
            parts.append(X * sqrt(coefficients[1]))
    scales = np.sqrt(coefficients[degrees] / feature_map.distribution_[degrees] / max(len(degrees), 1))
    widths = [int((degrees > j).sum()) for j in range(int(degrees.max(initial=0)))]
    if widths:
        parts.append(_products(X, feature_map.signs_, widths) * scales[: widths[0]])
    if (degrees == 0).any():
        parts.append(constant_columns(X, scales[degrees == 0]))
    return graph.concatenate(parts)


def constant_columns(X: Tensor, values: Array) -> Tensor:
    """Return one row of numbers for each row of X."""
    return X.columns(0, 1) * 0.0 + values[None, :]


def _products(X: Tensor, signs: Array, widths: Sequence[int]) -> Tensor:
    """Write the products of all factors: the first ``widths[j]`` features have a j-th factor."""
    ends = np.cumsum(widths).tolist()
    factors = [X @ signs[:, end - width : end].astype(np.float64) for width, end in zip(widths, ends, strict=True)]
    product = factors[-1]
    for j in range(len(widths) - 2, -1, -1):
        width, narrow = widths[j], widths[j + 1]
        parts = [factors[j].columns(0, narrow) * product]
        parts += [factors[j].columns(narrow, width)] if narrow < width else []
        product = X.graph.concatenate(parts)
    return product


def _affine(X: Tensor, table: Array, scale: float, constant: float) -> Factor:
    """Return the count sketch of rows [scale x, constant] as rows, a matrix, and what is added."""
    if not constant:
        return Factor(X, scale * table, None)
    return Factor(X, scale * table[:-1], constant * table[-1])


def _strata(strata: Strata, graph: Graph, X: Tensor) -> Tensor:
    """Write exact features of low degrees and sketches of the others, each times its weight of the row."""
    V, projection = _remainder(strata.expansion, graph, X)
    weight = _Weights(strata.expansion, projection, V)
    parts = [_monomials(V, degree, strata.expansion.width) * weight.of(degree) for degree in strata.allocation.exact]
    for piece in strata.pieces:
        tables = [hash_matrix(*hashes, piece.width) for hashes in zip(piece.index, piece.sign, strict=True)]
        sketch = convolution([Factor(V, table, None) for table in tables], piece.width)
        parts.append(sketch * (weight.of(piece.degree) * sqrt(piece.share)))
    return graph.concatenate(parts)


def _remainder(expansion: Expansion, graph: Graph, X: Tensor) -> tuple[Tensor, Tensor]:
    """Write v = [scale x, constant] - a u, and the projection on u."""
    rows = X * expansion.scale
    if expansion.constant > 0:
        rows = graph.concatenate([rows, constant_columns(X, np.array([expansion.constant]))])
    projection = rows @ expansion.u[:, None]
    shift = projection * expansion.u[None, :] if isinstance(expansion, SplitExpansion) else expansion.u[None, :]
    return rows - shift, projection


class _Weights:
    """The weights g_k(x) of the degrees of an expansion, as columns (n, 1)."""

    def __init__(self, expansion: Expansion, projection: Tensor, V: Tensor):
        self._expansion, self._projection = expansion, projection
        self._envelope: Tensor | None = None
        at = np.zeros(1)
        if isinstance(expansion, ExponentialExpansion):
            at = np.array([expansion.u @ expansion.u / 2])
            self._envelope = ((projection - at) * expansion.gamma).op("Exp")
        elif isinstance(expansion, GaussianExpansion):
            self._envelope = (V.square().sum(1) * -expansion.gamma).op("Exp")
        # The weights of a row whose envelope, or whose projection, is 1.
        self._constants = expansion.weights(at if self._envelope is not None else np.ones(1), np.zeros(1))[0]

    def of(self, degree: int) -> "Tensor | Array":
        constant = self._constants[degree : degree + 1]
        if self._envelope is not None:
            return self._envelope * constant
        power = self._expansion.last_degree - degree
        if isinstance(self._expansion, SplitExpansion) and power:
            return self._projection.power(power) * constant
        return np.asarray(constant)


def _monomials(V: Tensor, degree: int, width: int) -> Tensor:
    """Write the distinct monomials of a degree up to 2, in the order of ``Strata``."""
    if degree == 0:
        return constant_columns(V, np.ones(1))
    if degree == 1:
        return V
    i, j = np.triu_indices(width)
    return V.take(i, axis=1) * V.take(j, axis=1) * np.where(i == j, 1.0, sqrt(2))
