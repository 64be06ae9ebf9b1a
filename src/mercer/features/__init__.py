"""Feature maps z with k(x, y) ~ <z(x), z(y)>: one algorithm, one file.

Every map draws in ``fit``, applies in ``transform``, and says in ``variance`` how far its estimate may lie from the
kernel. ``feature_map`` walks a kernel expression and returns the map for it.
"""

from mercer.features.additive import AdditiveFeatures
from mercer.features.base import FeatureMap
from mercer.features.binning import RandomBinning
from mercer.features.bounds import composed as _composed_bounds  # noqa: F401, registers its inequalities
from mercer.features.bounds import fourier as _fourier_bounds  # noqa: F401, registers its inequalities
from mercer.features.bounds import sketches as _sketch_bounds  # noqa: F401, registers its inequalities
from mercer.features.bounds.components import components_for
from mercer.features.bounds.nystroem import drineas_mahoney_components, drineas_mahoney_error
from mercer.features.bounds.rules import Components, register_bounds
from mercer.features.categories import CategoryFeatures
from mercer.features.composed.columns import ScaleColumns, SelectColumns
from mercer.features.composed.concatenate import Concatenate
from mercer.features.composed.normalize import Normalize
from mercer.features.composed.rescale import Rescale
from mercer.features.composed.tensor_product import TensorProduct
from mercer.features.composed.widened import Widened
from mercer.features.dispatch import feature_map, methods_for, register_map
from mercer.features.exponential_chi2 import ExponentialChi2Features
from mercer.features.fourier.fastfood import Fastfood
from mercer.features.fourier.independent import FourierFeatures
from mercer.features.fourier.orthogonal import OrthogonalFeatures
from mercer.features.fourier.quasi_random import QuasiRandomFeatures
from mercer.features.fourier.seeded_blocks import SeededBlocks
from mercer.features.fourier.shift_invariant import ShiftInvariantFeatures
from mercer.features.kernel_map import KernelMap
from mercer.features.kitchen_sinks import KitchenSinks
from mercer.features.nystroem.map import Nystroem
from mercer.features.sketches.homogeneous import HomogeneousFeatures
from mercer.features.sketches.linear import LinearFeatures
from mercer.features.sketches.maclaurin import RandomMaclaurin
from mercer.features.sketches.split_sketch import SplitSketch
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.features.structured.convolution_features import ConvolutionFeatures
from mercer.features.structured.induced_features import InducedFeatures
from mercer.features.structured.part_features import PartFeatures
from mercer.features.structured.part_sketch import PartTensorSketch
from mercer.features.structured.subsequence_sketch import SubsequenceSketch

__all__ = [
    "AdditiveFeatures",
    "CategoryFeatures",
    "Components",
    "Concatenate",
    "ConvolutionFeatures",
    "ExponentialChi2Features",
    "Fastfood",
    "FeatureMap",
    "FourierFeatures",
    "HomogeneousFeatures",
    "InducedFeatures",
    "KernelMap",
    "KitchenSinks",
    "LinearFeatures",
    "Normalize",
    "Nystroem",
    "OrthogonalFeatures",
    "PartFeatures",
    "PartTensorSketch",
    "QuasiRandomFeatures",
    "RandomBinning",
    "RandomMaclaurin",
    "Rescale",
    "ScaleColumns",
    "SeededBlocks",
    "SelectColumns",
    "ShiftInvariantFeatures",
    "SplitSketch",
    "SubsequenceSketch",
    "TensorProduct",
    "TensorSketch",
    "Widened",
    "components_for",
    "drineas_mahoney_components",
    "drineas_mahoney_error",
    "feature_map",
    "methods_for",
    "register_bounds",
    "register_map",
]
