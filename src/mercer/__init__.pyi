from mercer.config import config_context as config_context
from mercer.config import get_config as get_config
from mercer.features import Concatenate as Concatenate
from mercer.features import LinearFeatures as LinearFeatures
from mercer.features import Normalize as Normalize
from mercer.features import RandomMaclaurin as RandomMaclaurin
from mercer.features import Rescale as Rescale
from mercer.features import TensorProduct as TensorProduct
from mercer.features import TensorSketch as TensorSketch
from mercer.features import feature_map as feature_map
from mercer.kernels import Composed as Composed
from mercer.kernels import DotProduct as DotProduct
from mercer.kernels import Exponential as Exponential
from mercer.kernels import Gaussian as Gaussian
from mercer.kernels import Kernel as Kernel
from mercer.kernels import Laplacian as Laplacian
from mercer.kernels import Linear as Linear
from mercer.kernels import Normalized as Normalized
from mercer.kernels import Polynomial as Polynomial
from mercer.kernels import Product as Product
from mercer.kernels import Scaled as Scaled
from mercer.kernels import Sigmoid as Sigmoid
from mercer.kernels import Sum as Sum
from mercer.kernels import VovkInfinite as VovkInfinite
from mercer.kernels import VovkPolynomial as VovkPolynomial
from mercer.versions import show_versions as show_versions

__version__: str
