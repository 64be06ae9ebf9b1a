"""Every compiled primitive in plain NumPy: the test oracle of the compiled core, and its fallback.

A function in this package and the function of the same name in ``mercer._core`` take the same arguments, write into
``out`` and agree up to rounding. Tables of hashes are shared by all rows: ``index`` (int32) is the number of a bucket,
``sign`` (int8) is -1 or +1.
"""

from mercer.reference.binning import cell_hashes
from mercer.reference.budget import budget_learn, gaussian_exponents
from mercer.reference.clusters import nearest_centres, rows_in_doubt
from mercer.reference.coordinate_descent import descend, descend_csr
from mercer.reference.count_sketch import count_sketch, count_sketch_csr
from mercer.reference.distances import absolute_distances, squared_distances
from mercer.reference.fourier import cos_sin, fourier_features
from mercer.reference.graph_keys import adjacency, count_paths, path_keys, refine
from mercer.reference.hadamard import hadamard_features
from mercer.reference.key_counts import count_keys, hash_columns, segment_sum, sketch_keys
from mercer.reference.landmarks import landmark_features, trapezoidal_product
from mercer.reference.online import online_gradient, online_kernel_gradient, online_newton
from mercer.reference.partial_trees import partial_tree_keys, partial_tree_values
from mercer.reference.projection import project_product, project_product_csr, sign_products
from mercer.reference.radial import decays, matern_values, near_squares
from mercer.reference.scores import scores
from mercer.reference.string_keys import agreement_sums, masked_keys, string_keys, token_keys
from mercer.reference.subgraph_keys import subgraph_keys
from mercer.reference.subsequences import subsequence_sketch, subsequence_values
from mercer.reference.substring_counts import count_substrings
from mercer.reference.symmetric_tree import add_tree_scores, boost_symmetric_tree
from mercer.reference.tensor_sketch import convolve, tensor_sketch, tensor_sketch_csr
from mercer.reference.tree_keys import fragment_keys, subtree_keys
from mercer.reference.walk_keys import walk_keys

__all__ = [
    "absolute_distances",
    "add_tree_scores",
    "adjacency",
    "agreement_sums",
    "boost_symmetric_tree",
    "budget_learn",
    "cell_hashes",
    "convolve",
    "cos_sin",
    "count_keys",
    "count_paths",
    "count_sketch",
    "count_sketch_csr",
    "count_substrings",
    "decays",
    "descend",
    "descend_csr",
    "fourier_features",
    "fragment_keys",
    "gaussian_exponents",
    "hadamard_features",
    "hash_columns",
    "landmark_features",
    "masked_keys",
    "matern_values",
    "near_squares",
    "nearest_centres",
    "online_gradient",
    "online_kernel_gradient",
    "online_newton",
    "partial_tree_keys",
    "partial_tree_values",
    "path_keys",
    "project_product",
    "project_product_csr",
    "refine",
    "rows_in_doubt",
    "scores",
    "segment_sum",
    "sign_products",
    "sketch_keys",
    "squared_distances",
    "string_keys",
    "subgraph_keys",
    "subsequence_sketch",
    "subsequence_values",
    "subtree_keys",
    "tensor_sketch",
    "tensor_sketch_csr",
    "token_keys",
    "trapezoidal_product",
    "walk_keys",
]
