"""From a kernel to its map: one recursion over the algebra, one table for the leaves."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._typing import Seed
from mercer.features.additive import AdditiveFeatures
from mercer.features.base import FeatureMap
from mercer.features.binning import RandomBinning
from mercer.features.categories import CategoryFeatures
from mercer.features.composed.columns import ScaleColumns, SelectColumns
from mercer.features.composed.concatenate import Concatenate
from mercer.features.composed.normalize import Normalize
from mercer.features.composed.rescale import Rescale
from mercer.features.composed.tensor_product import TensorProduct
from mercer.features.composed.widened import Widened
from mercer.features.exponential_chi2 import ExponentialChi2Features
from mercer.features.fourier.fastfood import Fastfood
from mercer.features.fourier.independent import FourierFeatures
from mercer.features.fourier.orthogonal import OrthogonalFeatures
from mercer.features.fourier.quasi_random import QuasiRandomFeatures
from mercer.features.fourier.seeded_blocks import WIDE, SeededBlocks
from mercer.features.fourier.shift_invariant import ShiftInvariantFeatures
from mercer.features.kernel_map import KernelMap
from mercer.features.kitchen_sinks import KitchenSinks
from mercer.features.nystroem.map import Nystroem
from mercer.features.registry import of_nearest_ancestor
from mercer.features.sketches.homogeneous import HomogeneousFeatures
from mercer.features.sketches.linear import LinearFeatures
from mercer.features.sketches.maclaurin import RandomMaclaurin
from mercer.features.sketches.split_sketch import SplitSketch
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.features.structured.convolution_features import ConvolutionFeatures
from mercer.features.structured.induced_features import InducedFeatures
from mercer.features.structured.part_features import PartFeatures
from mercer.features.structured.part_sketch import PartTensorSketch, is_function_of_parts
from mercer.features.structured.subsequence_sketch import SubsequenceSketch
from mercer.kernels import (
    AdditiveKernel,
    ArcCosine,
    Columns,
    Composed,
    Convolution,
    DotProductKernel,
    ExpectedProduct,
    ExponentialChi2,
    Gaussian,
    HomogeneousKernel,
    Induced,
    Kernel,
    Linear,
    LowOrder,
    Normalized,
    Polynomial,
    Product,
    RadialKernel,
    SameCategory,
    Scaled,
    ScaledColumns,
    Sigmoid,
    StationaryKernel,
    Subsequence,
    Sum,
)
from mercer.kernels.frequencies import is_shift_invariant
from mercer.kernels.parameter import as_kernel
from mercer.kernels.structured.parts import is_keyed
from mercer.validation import check_integer

# Features of the inner map of a kernel of another kernel's distances.
_INNER_FEATURES = 4096

# The one method that takes every kernel, and an expression as a whole.
_WHOLE = "nystroem"

MapFactory = Callable[[Kernel, int], FeatureMap]

# Kernel class -> method name -> factory. The first method of a class is its default. A class without a row takes the
# row of its nearest ancestor.
_table: dict[type, dict[str, MapFactory]] = {}


def register_map(kernel_class: type, method: str, factory: MapFactory, *, default: bool = False) -> None:
    """Add a row to the table of maps: ``factory(kernel, n_components)`` returns an unfitted map."""
    methods = _table.setdefault(kernel_class, {})
    if default:
        _table[kernel_class] = {method: factory, **{key: value for key, value in methods.items() if key != method}}
    else:
        methods[method] = factory


def _shift_invariant(kernel: Kernel, n_components: int) -> FeatureMap:
    """Return the map of the least error, or beyond 32,768 features the one whose slabs are not stored."""
    chosen = SeededBlocks if n_components > WIDE else ShiftInvariantFeatures
    return chosen(kernel, n_components=n_components)


register_map(Linear, "exact", lambda kernel, n: LinearFeatures(kernel, n_components=n))
register_map(SameCategory, "exact", lambda kernel, n: CategoryFeatures(kernel, n_components=n))
register_map(Polynomial, "tensor_sketch", lambda kernel, n: TensorSketch(kernel, n_components=n))
register_map(Polynomial, "split_sketch", lambda kernel, n: SplitSketch(kernel, n_components=n))
register_map(Polynomial, "maclaurin", lambda kernel, n: RandomMaclaurin(kernel, n_components=n))
register_map(Composed, "maclaurin", lambda kernel, n: RandomMaclaurin(kernel, n_components=n))
register_map(DotProductKernel, "maclaurin", lambda kernel, n: RandomMaclaurin(kernel, n_components=n))
register_map(DotProductKernel, "tensor_sketch", lambda kernel, n: TensorSketch(kernel, n_components=n))
for _kind in (StationaryKernel, RadialKernel, Gaussian):
    register_map(_kind, "shift_invariant", _shift_invariant)
    register_map(_kind, "fourier", lambda kernel, n: FourierFeatures(kernel, n_components=n))
    register_map(_kind, "quasi_random", lambda kernel, n: QuasiRandomFeatures(kernel, n_components=n))
    register_map(_kind, "binning", lambda kernel, n: RandomBinning(kernel, n_components=n))
register_map(LowOrder, "fourier", lambda kernel, n: FourierFeatures(kernel, n_components=n))
register_map(LowOrder, "quasi_random", lambda kernel, n: QuasiRandomFeatures(kernel, n_components=n))
for _kind in (RadialKernel, Gaussian):
    register_map(_kind, "orthogonal", lambda kernel, n: OrthogonalFeatures(kernel, n_components=n))
    register_map(_kind, "fastfood", lambda kernel, n: Fastfood(kernel, n_components=n))
register_map(Gaussian, "tensor_sketch", lambda kernel, n: TensorSketch(kernel, n_components=n))
register_map(AdditiveKernel, "additive", lambda kernel, n: AdditiveFeatures(kernel, n_components=n))
register_map(Subsequence, "tensor_sketch", lambda kernel, n: SubsequenceSketch(kernel, n_components=n))
register_map(ExponentialChi2, "fourier", lambda kernel, n: ExponentialChi2Features(kernel, n_components=n))


def _arc_cosine(kernel: Any, n_components: int) -> FeatureMap:
    unit = ("step", "relu", "squared_relu")[kernel.order]
    return KitchenSinks(unit, n_components=n_components)


def _expected_product(kernel: Any, n_components: int) -> FeatureMap:
    return KitchenSinks(kernel.phi, kernel.distribution, n_components=n_components)


register_map(ArcCosine, "kitchen_sinks", _arc_cosine)
for _of_angle in (ArcCosine, HomogeneousKernel):
    register_map(_of_angle, "tensor_sketch", lambda kernel, n: HomogeneousFeatures(kernel, n_components=n))
    register_map(
        _of_angle, "maclaurin", lambda kernel, n: HomogeneousFeatures(kernel, n_components=n, method="maclaurin")
    )
register_map(ExpectedProduct, "kitchen_sinks", _expected_product)


def methods_for(kernel: Kernel) -> list[str]:
    """Return the names of the maps that can be drawn for a kernel: the default first, ``"nystroem"`` last.

    ``feature_map`` with the name of one that cannot says at ``fit`` what it lacks.

    >>> from mercer import Gaussian, Laplacian, Polynomial
    >>> from mercer.features import methods_for
    >>> methods_for(Polynomial(2))
    ['tensor_sketch', 'split_sketch', 'maclaurin', 'nystroem']
    >>> methods_for(Laplacian())
    ['shift_invariant', 'fourier', 'quasi_random', 'binning', 'nystroem']
    >>> "binning" in methods_for(Gaussian())
    False
    """
    drawn = [name for name, factory in _row(kernel).items() if _takes_its_kernel(factory(kernel, 1))]
    return [*drawn, _WHOLE]


def _takes_its_kernel(made: FeatureMap) -> bool:
    if not isinstance(made, KernelMap) or made.kernel is None:  # kitchen sinks, or a map of yours, have none to check
        return True
    try:
        made.check_kernel(made.kernel)
    except ValueError:
        return False
    return True


def _row(kernel: Kernel) -> dict[str, MapFactory]:
    if isinstance(kernel, ArcCosine) and kernel.depth > 1:  # one layer of random units is not enough
        return _table[HomogeneousKernel]
    return of_nearest_ancestor(_table, kernel) or {}


def feature_map(
    kernel: Kernel | None,
    n_components: int | str = 100,
    *,
    method: str = "auto",
    error: float | None = None,
    random_state: Seed = None,
) -> FeatureMap:
    """Return an unfitted map for any kernel expression.

    A sum becomes a concatenation that shares the budget, a scalar a rescaling, a product of shift-invariant kernels one
    map whose frequencies are sums of independent draws, any other product a tensor sketch of its factors' maps, and a
    leaf its registered map.

    Parameters
    ----------
    kernel : Kernel
    n_components : int or "auto", default=100
        Features in all; "auto" takes as many as ``error`` needs, found by measurement in ``fit``
        (``mercer.features.Widened``).
    method : str, default="auto"
        The map to take for the leaves, where a leaf has it; ``"auto"`` takes each leaf's default. ``"nystroem"`` takes
        one Nystroem map for the whole expression, whatever the kernel.
    error : float, optional
        With ``n_components="auto"`` only: the largest relative error of the Gram matrix, 0.05 by default.
    random_state : int, RandomState or None

    Examples
    --------
    >>> from mercer import Linear, Polynomial, feature_map
    >>> feature_map(Polynomial(3), 256)
    TensorSketch(kernel=Polynomial(3), n_components=256)
    """
    kernel = as_kernel("feature_map", kernel, Polynomial(2))
    if isinstance(n_components, str):
        if n_components != "auto":
            raise ValueError(f"feature_map: n_components must be 'auto' or an integer >= 1, got {n_components!r}.")
        inner = feature_map(kernel, 1, method=method)
        return Widened(inner, error=0.05 if error is None else error, random_state=random_state)
    n_components = check_integer("feature_map", "n_components", n_components)
    if error is not None:
        raise ValueError(
            f"feature_map: error={error!r} chooses the number of features, and n_components={n_components} gives it. "
            "Write n_components='auto', or leave error out."
        )
    whole = method == _WHOLE  # the algebra needs no walk: the landmarks see the kernel as one
    chosen = Nystroem(kernel, n_components=n_components) if whole else _map_of(kernel, n_components, method)
    return chosen.set_params(random_state=random_state)


def _map_of(kernel: Kernel, n_components: int, method: str) -> FeatureMap:
    special = _map_of_objects(kernel, n_components, method)
    if special is not None:
        return special
    if isinstance(kernel, Sum):
        members = [_map_of(term, n_components, method) for term in kernel.terms]
        return Concatenate(members, n_components=n_components)
    if isinstance(kernel, Product):
        return _product(kernel, n_components, method)
    if isinstance(kernel, Scaled | Normalized | ScaledColumns | Columns):
        return _wrapped(kernel, _map_of(kernel.kernel, n_components, method))
    return _leaf(kernel, n_components, method)


def _map_of_objects(kernel: Kernel, n_components: int, method: str) -> FeatureMap | None:
    """Return the map of a kernel on objects, or of the distances of another kernel; None for other kernels."""
    if is_keyed(kernel):  # sums, multiples and normalised ones of part kernels stay sparse in one map
        return PartFeatures(kernel, n_components=n_components)
    if is_function_of_parts(kernel):
        return PartTensorSketch(kernel, n_components=n_components)
    if isinstance(kernel, Convolution):
        of_parts = _map_of(kernel.kernel, n_components, method)
        # parts that a function finds may have keys, whose sketch has a width of its own
        width = None if kernel.decompose is None else n_components
        return ConvolutionFeatures(of_parts, average=kernel.average, decompose=kernel.decompose, n_components=width)
    if not isinstance(kernel, Induced | Composed) or (isinstance(kernel, Composed) and kernel.domain == "rows"):
        return None
    outer = kernel.outer if isinstance(kernel, Induced) else kernel.f
    return InducedFeatures(outer, _map_of(kernel.inner, _INNER_FEATURES, method), n_components=n_components)


def _wrapped(kernel: Scaled | Normalized | ScaledColumns | Columns, inner: FeatureMap) -> FeatureMap:
    """Return the map of a kernel of one inner kernel, given that one's map."""
    if isinstance(kernel, Scaled):
        return Rescale(inner, scale=kernel.scale)
    if isinstance(kernel, Normalized):
        return Normalize(inner)
    if isinstance(kernel, ScaledColumns):
        return ScaleColumns(inner, weights=kernel.weights)
    return SelectColumns(inner, columns=kernel.columns)


def _product(kernel: Product, n_components: int, method: str) -> FeatureMap:
    """Merge the shift-invariant factors into one map, whose frequencies are sums, and sketch it with the others."""
    merged = [term for term in kernel.terms if is_shift_invariant(term)]
    others = [term for term in kernel.terms if not is_shift_invariant(term)]
    if len(merged) > 1:
        known: dict[str, Callable[..., FeatureMap]] = {"quasi_random": QuasiRandomFeatures, "binning": RandomBinning}
        chosen = known.get(method, _shift_invariant)
        members = [chosen(Product(tuple(merged)), n_components=n_components)]
    else:
        members, others = [], list(kernel.terms)
    members += [_map_of(term, n_components, method) for term in others]
    return members[0] if len(members) == 1 else TensorProduct(members, n_components=n_components)


def _leaf(kernel: Kernel, n_components: int, method: str) -> FeatureMap:
    row = _row(kernel)
    if isinstance(kernel, Sigmoid):
        raise ValueError(f"feature_map: {kernel!r} has no feature map: {_first_negative(kernel)}.")
    if not row:
        raise ValueError(
            f"feature_map: no map is known for {kernel!r}. Take method='nystroem', or add one with "
            "mercer.features.register_map."
        )
    name = next(iter(row)) if method == "auto" else method
    if name not in row:
        raise ValueError(
            f"feature_map: method must be 'auto' or one of {methods_for(kernel)} for {kernel!r}, got {method!r}."
        )
    return row[name](kernel, n_components)


def _first_negative(kernel: Sigmoid) -> str:
    with np.errstate(over="ignore", invalid="ignore"):
        found = next(((n, a) for n, a in enumerate(kernel.maclaurin(8)) if a < 0), None)
    if found is None:  # they underflow
        return "it is not positive semi-definite, whatever its parameters (Kar and Karnick, 2012, Theorem 2)"
    n, a = found
    return f"its Maclaurin coefficient a_{n} = {a:.6g} is negative (Kar and Karnick, 2012, Theorem 2)"
