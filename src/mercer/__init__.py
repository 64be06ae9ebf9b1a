"""Kernel machines at linear cost, through explicit feature maps.

Names load when they are first used: ``import mercer`` alone imports neither SciPy nor scikit-learn.
"""

from importlib import import_module
from importlib.metadata import version
from typing import Any

__version__ = version("mercer")

_ROOM_OF = {
    name: room
    for room, names in {
        "mercer.config": ["config_context", "get_config"],
        "mercer.gram": ["approximation_error"],
        "mercer.kernels": [
            "Composed",
            "DotProduct",
            "Exponential",
            "Gaussian",
            "Kernel",
            "Laplacian",
            "Linear",
            "Normalized",
            "Polynomial",
            "Product",
            "Scaled",
            "Sigmoid",
            "Sum",
            "VovkInfinite",
            "VovkPolynomial",
        ],
        "mercer.features": [
            "Concatenate",
            "LinearFeatures",
            "Normalize",
            "RandomMaclaurin",
            "Rescale",
            "SplitSketch",
            "TensorProduct",
            "TensorSketch",
            "components_for",
            "feature_map",
        ],
        "mercer.versions": ["show_versions"],
    }.items()
    for name in names
}

__all__ = ["__version__", *sorted(_ROOM_OF)]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    value = getattr(import_module(_ROOM_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
