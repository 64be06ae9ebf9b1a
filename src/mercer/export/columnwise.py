"""Maps of single columns and of categories, and kitchen sinks."""

from collections.abc import Callable, Mapping

import numpy as np

from mercer.export.convolution import hash_matrix
from mercer.export.graph import Graph, Tensor
from mercer.export.registry import ExportError, writes_map
from mercer.export.sketches import constant_columns
from mercer.features import AdditiveFeatures, CategoryFeatures, KitchenSinks

_ROOT2 = 2.0**0.5
# The named feature functions of ``KitchenSinks``.
_FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "cosine": lambda t: t.op("Cos") * _ROOT2,
    "sigmoid": lambda t: t.op("Sigmoid"),
    "step": lambda t: (t > 0.0).cast(t.dtype) * _ROOT2,
    "relu": lambda t: t.op("Relu") * _ROOT2,
    "squared_relu": lambda t: t.op("Relu").square() * _ROOT2,
}


@writes_map(KitchenSinks)
def kitchen_sinks(feature_map: KitchenSinks, graph: Graph, X: Tensor) -> Tensor:
    """Write a named function of random projections."""
    phi = feature_map.phi_
    if not isinstance(phi, str):
        raise ExportError(
            f"to_onnx: KitchenSinks of your own function {phi!r} cannot be written as ONNX. Take one of "
            f"{sorted(_FUNCTIONS)}."
        )
    t = X @ feature_map.weights_ + feature_map.offsets_
    return _FUNCTIONS[phi](t) * feature_map.n_features_out_**-0.5


@writes_map(AdditiveFeatures)
def additive_features(feature_map: AdditiveFeatures, graph: Graph, X: Tensor) -> Tensor:
    """Write roots of the entries times cosines and sines of their logarithms; or the count sketch of these."""
    amplitudes, root = np.sqrt(feature_map.weights_), X.op("Sqrt")
    logs = (X > 0.0).where(X, 1.0).op("Log")  # if x = 0, sqrt(x) makes the feature 0
    parts = [root * amplitudes[0]]
    for i in range(1, feature_map.order_ + 1):
        phase, scaled = logs * (i * feature_map.step_), root * amplitudes[i]
        parts += [scaled * phase.op("Cos"), scaled * phase.op("Sin")]
    found = graph.concatenate(parts)
    if not feature_map.is_random:
        return found
    return found @ hash_matrix(feature_map.index_, feature_map.sign_, feature_map.n_features_out_)


@writes_map(CategoryFeatures)
def category_features(feature_map: CategoryFeatures, graph: Graph, X: Tensor) -> Tensor:
    """Write the indicators of the categories that ``fit`` saw, hashed, and the feature that all share."""
    n_features = feature_map.n_features_out_
    shared = feature_map.kernel_.offset**0.5
    first = int(shared > 0 and n_features > 1)
    same = X.insert_axis(1).equals(feature_map.categories_[None]).cast(graph.dtype)
    is_category = same.op("ReduceMin", np.array([2]), keepdims=0)
    table = hash_matrix(first + feature_map.index_, feature_map.sign_, n_features)
    base = np.zeros(n_features)
    base[0] = shared
    return is_category @ table + constant_columns(X, base)
