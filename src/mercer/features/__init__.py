"""Feature maps z with k(x, y) ~ <z(x), z(y)>: one algorithm, one file.

Every map draws in ``fit``, applies in ``transform``, and says in ``variance`` how far its estimate may lie from the
kernel. ``feature_map`` walks a kernel expression and returns the map for it.
"""

from mercer.features import composed_bounds as _composed_bounds  # noqa: F401, registers its inequalities
from mercer.features import fourier_bounds as _fourier_bounds  # noqa: F401, registers its inequalities
from mercer.features.additive import AdditiveFeatures, ExponentialChi2Features
from mercer.features.automatic import ShiftInvariantFeatures
from mercer.features.base import FeatureMap
from mercer.features.binning import RandomBinning
from mercer.features.bounds import Components, components_for, register_bounds
from mercer.features.categories import CategoryFeatures
from mercer.features.compose import Concatenate, Rescale, TensorProduct
from mercer.features.dispatch import feature_map, methods_for, register
from mercer.features.fastfood import Fastfood
from mercer.features.fourier import FourierFeatures
from mercer.features.kitchen_sinks import KitchenSinks
from mercer.features.linear import LinearFeatures
from mercer.features.maclaurin import RandomMaclaurin
from mercer.features.normalize import Normalize
from mercer.features.nystroem import Nystroem
from mercer.features.nystroem_bound import drineas_mahoney_components, drineas_mahoney_error
from mercer.features.orthogonal import OrthogonalFeatures
from mercer.features.quasi_random import QuasiRandomFeatures
from mercer.features.split_sketch import SplitSketch
from mercer.features.tensor_sketch import TensorSketch
from mercer.features.transforms import ScaleColumns, SelectColumns

__all__ = [
    "AdditiveFeatures",
    "CategoryFeatures",
    "Components",
    "Concatenate",
    "ExponentialChi2Features",
    "Fastfood",
    "FeatureMap",
    "FourierFeatures",
    "KitchenSinks",
    "LinearFeatures",
    "Normalize",
    "Nystroem",
    "OrthogonalFeatures",
    "QuasiRandomFeatures",
    "RandomBinning",
    "RandomMaclaurin",
    "Rescale",
    "ScaleColumns",
    "SelectColumns",
    "ShiftInvariantFeatures",
    "SplitSketch",
    "TensorProduct",
    "TensorSketch",
    "components_for",
    "drineas_mahoney_components",
    "drineas_mahoney_error",
    "feature_map",
    "methods_for",
    "register",
    "register_bounds",
]
