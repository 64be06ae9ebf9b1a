"""Every compiled primitive in plain NumPy: the oracle of the compiled core for ever, and its fallback.

A function here and its namesake in ``mercer._core`` take the same arguments, write into ``out`` and agree to
rounding. Tables of hashes are shared by all rows: ``index`` (int32) names a bucket, ``sign`` (int8) is -1 or +1.
"""

from mercer.reference.binning import cell_hashes
from mercer.reference.clusters import nearest_centres, rows_in_doubt
from mercer.reference.coordinate_descent import descend, descend_csr
from mercer.reference.count_sketch import count_sketch, count_sketch_csr
from mercer.reference.fourier import cos_sin, fourier_features
from mercer.reference.hadamard import hadamard_features
from mercer.reference.landmarks import landmark_features, trapezoidal_product
from mercer.reference.online import online_gradient, online_kernel_gradient, online_newton
from mercer.reference.projection import project_product, project_product_csr, sign_products
from mercer.reference.scores import scores
from mercer.reference.tensor_sketch import convolve, tensor_sketch, tensor_sketch_csr

__all__ = [
    "cell_hashes",
    "convolve",
    "cos_sin",
    "count_sketch",
    "count_sketch_csr",
    "descend",
    "descend_csr",
    "fourier_features",
    "hadamard_features",
    "landmark_features",
    "nearest_centres",
    "online_gradient",
    "online_kernel_gradient",
    "online_newton",
    "project_product",
    "project_product_csr",
    "rows_in_doubt",
    "scores",
    "sign_products",
    "tensor_sketch",
    "tensor_sketch_csr",
    "trapezoidal_product",
]
