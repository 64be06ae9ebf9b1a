"""Kernels as frozen values with an algebra.

A kernel is called on rows to give its Gram matrix; kernels add, multiply and scale to kernels; and each says what its
feature maps need to know (Maclaurin coefficients here). Nothing is computed until a kernel is called.
"""

from mercer.kernels.base import Kernel, Product, Scaled, Sum
from mercer.kernels.dot_product import (
    DotProduct,
    DotProductKernel,
    Exponential,
    Linear,
    Polynomial,
    Sigmoid,
    VovkInfinite,
    VovkPolynomial,
)
from mercer.kernels.functions import Composed, Normalized
from mercer.kernels.stationary import Gaussian, Laplacian, StationaryKernel

__all__ = [
    "Composed",
    "DotProduct",
    "DotProductKernel",
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
    "StationaryKernel",
    "Sum",
    "VovkInfinite",
    "VovkPolynomial",
]
