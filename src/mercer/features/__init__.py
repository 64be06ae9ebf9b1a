"""Feature maps z with k(x, y) ~ <z(x), z(y)>: one algorithm, one file.

Every map draws in ``fit``, applies in ``transform``, and says in ``variance`` how far its estimate may lie from the
kernel. ``feature_map`` walks a kernel expression and returns the map for it.
"""

from mercer.features.base import FeatureMap
from mercer.features.compose import Concatenate, Rescale, TensorProduct
from mercer.features.dispatch import feature_map, methods_for, register
from mercer.features.linear import LinearFeatures
from mercer.features.maclaurin import RandomMaclaurin
from mercer.features.normalize import Normalize
from mercer.features.tensor_sketch import TensorSketch

__all__ = [
    "Concatenate",
    "FeatureMap",
    "LinearFeatures",
    "Normalize",
    "RandomMaclaurin",
    "Rescale",
    "TensorProduct",
    "TensorSketch",
    "feature_map",
    "methods_for",
    "register",
]
