"""Maps made of other maps: sums, multiples, products, normalised kernels and transformed rows."""

from mercer.export.convolution import Factor, convolution, hash_matrix
from mercer.export.graph import Graph, Tensor
from mercer.export.kernels import diagonal, transformed
from mercer.export.registry import features, writes_map
from mercer.features import (
    Concatenate,
    HomogeneousFeatures,
    Normalize,
    Rescale,
    ScaleColumns,
    SelectColumns,
    TensorProduct,
    Widened,
)


@writes_map(Concatenate)
def concatenate(feature_map: Concatenate, graph: Graph, X: Tensor) -> Tensor:
    """Write the features of all members next to each other."""
    return graph.concatenate([features(member, graph, X) for member in feature_map.maps_])


@writes_map(Rescale)
def rescale(feature_map: Rescale, graph: Graph, X: Tensor) -> Tensor:
    """Write the features times the root of the multiple."""
    return features(feature_map.map_, graph, X) * feature_map.kernel_.scale**0.5


@writes_map(Widened)
def widened(feature_map: Widened, graph: Graph, X: Tensor) -> Tensor:
    """Write the features of the map that was wide enough."""
    return features(feature_map.map_, graph, X)


@writes_map(Normalize)
def normalize(feature_map: Normalize, graph: Graph, X: Tensor) -> Tensor:
    """Write the features over sqrt(k(x, x)); 0 where that is 0."""
    squares = diagonal(feature_map.map_.kernel_, X)
    positive = squares > 0.0
    inverse = positive.where(1.0 / positive.where(squares, 1.0).op("Sqrt"), 0.0)
    return features(feature_map.map_, graph, X) * inverse


@writes_map(HomogeneousFeatures)
def homogeneous(feature_map: HomogeneousFeatures, graph: Graph, X: Tensor) -> Tensor:
    """Write the features of x / |x|, times |x| to the power of the kernel; 0 for a row of zeros."""
    lengths = X.square().sum(1).op("Sqrt")
    positive = lengths > 0.0
    unit = X / positive.where(lengths, 1.0)
    power = feature_map.kernel_.power
    factor = lengths.power(power) if power else positive.cast(X.dtype)
    return features(feature_map.map_, graph, unit) * factor


@writes_map(ScaleColumns, SelectColumns)
def transformed_rows(feature_map: "ScaleColumns | SelectColumns", graph: Graph, X: Tensor) -> Tensor:
    """Write the features of transformed rows."""
    return features(feature_map.map_, graph, transformed(feature_map.transformation, X))


@writes_map(TensorProduct)
def tensor_product(feature_map: TensorProduct, graph: Graph, X: Tensor) -> Tensor:
    """Write the convolution of the count sketches of all members' features."""
    width = feature_map.n_features_out_
    tables = zip(feature_map.maps_, feature_map.index_, feature_map.sign_, strict=True)
    factors = [Factor(features(one, graph, X), hash_matrix(index, sign, width), None) for one, index, sign in tables]
    return convolution(factors, width)
