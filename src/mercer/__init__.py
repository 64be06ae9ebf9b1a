"""Kernel machines at linear cost, through explicit feature maps.

Names load when they are first used: ``import mercer`` alone imports neither SciPy nor scikit-learn.
"""

from importlib import import_module

_ROOM_OF = {
    name: room
    for room, names in {
        "mercer.config": ["config_context", "get_config"],
        "mercer.gram": ["MEKA", "BlockGram", "ExactGram", "LowRankGram", "approximation_error"],
        "mercer.kernels": [
            "Composed",
            "ArcCosine",
            "Cauchy",
            "Chi2",
            "Columns",
            "DotProduct",
            "Exponential",
            "ExponentialChi2",
            "ExponentialPower",
            "Gaussian",
            "Hellinger",
            "Intersection",
            "JensenShannon",
            "Kernel",
            "Laplacian",
            "Linear",
            "Normalized",
            "Matern",
            "Polynomial",
            "Product",
            "RationalQuadratic",
            "SameCategory",
            "ScaledColumns",
            "Scaled",
            "Sigmoid",
            "Sum",
            "VovkInfinite",
            "VovkPolynomial",
            "parse_kernel",
        ],
        "mercer.features": [
            "AdditiveFeatures",
            "CategoryFeatures",
            "Concatenate",
            "ExponentialChi2Features",
            "Fastfood",
            "FourierFeatures",
            "KitchenSinks",
            "LinearFeatures",
            "Normalize",
            "Nystroem",
            "RandomMaclaurin",
            "Rescale",
            "SplitSketch",
            "OrthogonalFeatures",
            "QuasiRandomFeatures",
            "RandomBinning",
            "RandomMaclaurin",
            "Rescale",
            "ScaleColumns",
            "SelectColumns",
            "ShiftInvariantFeatures",
            "TensorProduct",
            "TensorSketch",
            "components_for",
            "feature_map",
        ],
        "mercer.data": ["Blocks", "as_blocks"],
        "mercer.learners": [
            "FOGDClassifier",
            "FOGDRegressor",
            "KernelCCA",
            "KernelKMeans",
            "KernelLogisticRegression",
            "KernelOneClassSVM",
            "KernelPCA",
            "KernelRidge",
            "KernelRidgeClassifier",
            "KernelSVC",
            "KernelSVR",
            "KitchenSinksClassifier",
            "KitchenSinksRegressor",
            "NOGDClassifier",
            "NOGDRegressor",
        ],
        "mercer.storage": ["ModelFileError", "load", "save"],
        "mercer.versions": ["show_versions"],
    }.items()
    for name in names
}

_ROOMS = ["datasets"]  # reached as mercer.datasets without an import of its own

__all__ = ["__version__", *sorted([*_ROOM_OF, *_ROOMS])]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"mercer.{name}")
    if name == "__version__":
        return import_module("importlib.metadata").version("mercer")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    value = getattr(import_module(_ROOM_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
