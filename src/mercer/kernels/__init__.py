"""Kernels as frozen values with an algebra.

A kernel is called on rows to give its Gram matrix; kernels add, multiply and scale to kernels; and each says what its
feature maps need to know: Maclaurin coefficients, or the distributions of its frequencies and of its grids. Nothing is
computed until a kernel is called.
"""

from mercer.kernels.additive import AdditiveKernel, Chi2, ExponentialChi2, Hellinger, Intersection, JensenShannon
from mercer.kernels.arc_cosine import ArcCosine
from mercer.kernels.base import Kernel, Product, Scaled, Sum
from mercer.kernels.category import SameCategory
from mercer.kernels.custom import FunctionKernel, PrecomputedKernel
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
from mercer.kernels.expected_product import ExpectedProduct
from mercer.kernels.exponential_power import ExponentialPower
from mercer.kernels.functions import Composed, Normalized
from mercer.kernels.gaussian import Gaussian
from mercer.kernels.homogeneous import Angular, HomogeneousKernel
from mercer.kernels.induced import Induced
from mercer.kernels.laplacian import Laplacian
from mercer.kernels.low_order import LowOrder
from mercer.kernels.matern import Matern
from mercer.kernels.metric import Metric
from mercer.kernels.neural_tangent import NeuralTangent
from mercer.kernels.parse import KernelSyntaxError, parse_kernel
from mercer.kernels.radial import Cauchy, RadialKernel, RationalQuadratic
from mercer.kernels.stationary import StationaryKernel
from mercer.kernels.structured.convolution import Convolution
from mercer.kernels.structured.decompositions import Decomposition
from mercer.kernels.structured.gapped_kmers import GappedKmers
from mercer.kernels.structured.graphlets import Graphlets
from mercer.kernels.structured.hamming_kmers import HammingKmers
from mercer.kernels.structured.labelled_walks import LabelledWalks
from mercer.kernels.structured.neighbourhoods import Neighbourhoods
from mercer.kernels.structured.partial_tree import PartialTree
from mercer.kernels.structured.parts import PartKernel
from mercer.kernels.structured.shortest_path import ShortestPath
from mercer.kernels.structured.spectrum import Spectrum
from mercer.kernels.structured.subsequence import Subsequence
from mercer.kernels.structured.subset_tree import SubsetTree
from mercer.kernels.structured.subtree import Subtree
from mercer.kernels.structured.user_parts import Parts
from mercer.kernels.structured.weighted_degree import WeightedDegree
from mercer.kernels.structured.weisfeiler_lehman import WeisfeilerLehman
from mercer.kernels.structured.windows import Windows
from mercer.kernels.transforms import Columns, ScaledColumns, TransformedKernel

__all__ = [
    "AdditiveKernel",
    "Angular",
    "ArcCosine",
    "Cauchy",
    "Chi2",
    "Columns",
    "Composed",
    "Convolution",
    "Decomposition",
    "DotProduct",
    "DotProductKernel",
    "ExpectedProduct",
    "Exponential",
    "ExponentialChi2",
    "ExponentialPower",
    "FunctionKernel",
    "GappedKmers",
    "Gaussian",
    "Graphlets",
    "HammingKmers",
    "Hellinger",
    "HomogeneousKernel",
    "Induced",
    "Intersection",
    "JensenShannon",
    "Kernel",
    "KernelSyntaxError",
    "LabelledWalks",
    "Laplacian",
    "Linear",
    "LowOrder",
    "Matern",
    "Metric",
    "Neighbourhoods",
    "NeuralTangent",
    "Normalized",
    "PartKernel",
    "PartialTree",
    "Parts",
    "Polynomial",
    "PrecomputedKernel",
    "Product",
    "RadialKernel",
    "RationalQuadratic",
    "SameCategory",
    "Scaled",
    "ScaledColumns",
    "ShortestPath",
    "Sigmoid",
    "Spectrum",
    "StationaryKernel",
    "Subsequence",
    "SubsetTree",
    "Subtree",
    "Sum",
    "TransformedKernel",
    "VovkInfinite",
    "VovkPolynomial",
    "WeightedDegree",
    "WeisfeilerLehman",
    "Windows",
    "parse_kernel",
]
