"""Typed stub of the compiled core (csrc/bind_*.cpp). Each function equals its namesake in mercer.reference.

Arrays are float32 or float64 throughout a call, with contiguous rows; nothing is converted or copied. A bad bound is a
ValueError, another dtype a TypeError. Calls run on the calling thread without the GIL.
"""

from mercer._typing import Array

def count_sketch(X: Array, index: Array, sign: Array, out: Array) -> None: ...
def count_sketch_csr(data: Array, indices: Array, indptr: Array, index: Array, sign: Array, out: Array) -> None: ...
def tensor_sketch(X: Array, index: Array, sign: Array, scale: float, constant: float, out: Array) -> None: ...
def tensor_sketch_csr(
    data: Array,
    indices: Array,
    indptr: Array,
    index: Array,
    sign: Array,
    scale: float,
    constant: float,
    out: Array,
) -> None: ...
def convolve(sketches: Array, out: Array) -> None: ...
def sign_products(X: Array, codes: Array, widths: Array, scales: Array, out: Array) -> None: ...
def project_product_csr(data: Array, indices: Array, indptr: Array, W: Array, widths: Array, out: Array) -> None: ...
def cos_sin(out: Array, offsets: Array, scale: float) -> bool: ...
def fourier_features(X: Array, W: Array, offsets: Array, scale: float, out: Array) -> bool: ...
def hadamard_features(
    X: Array, diagonals: Array, permutation: Array, lengths: Array, offsets: Array, scale: float, out: Array
) -> bool: ...
def cell_hashes(X: Array, inverse_pitches: Array, shifts: Array, multipliers: Array, out: Array) -> None: ...
def absolute_distances(X: Array, fixed: Array, out: Array) -> None: ...
def squared_distances(X: Array, fixed: Array, out: Array) -> None: ...
def near_squares(X: Array, fixed: Array, bounds: Array, fixed_bounds: Array, q: Array) -> None: ...
def decays(factor: float, values: Array) -> None: ...
def matern_values(scale: float, linear: float, quadratic: float, values: Array) -> None: ...
def landmark_features(left: Array, right: Array, projection: Array, first: int, out: Array) -> None: ...
def invert_leaf(routines: Array, S: Array, B: Array, squares: Array, diagonal: Array) -> bool: ...
def boost_symmetric_tree(
    codes: Array,
    rows: Array,
    columns: Array,
    n_bins: Array,
    tables: Array,
    members: Array,
    targets: Array,
    weights: Array,
    judges: Array,
    scores: Array,
    expected: Array,
    logistic: bool,
    penalty: float,
    rate: float,
    out_columns: Array,
    out_bins: Array,
    out_values: Array,
    out_errors: Array,
) -> int: ...
def add_tree_scores(codes: Array, columns: Array, bins: Array, values: Array, scores: Array) -> None: ...
def scores(Z: Array, W: Array, out: Array) -> None: ...
def descend(
    Z: Array,
    order: Array,
    targets: Array,
    bounds: Array,
    duals: Array,
    shrunk: Array,
    weights: Array,
    intercepts: Array,
    progress: Array,
    one_sided: bool,
    epsilon: float,
    constant: float,
) -> None: ...
def descend_csr(
    data: Array,
    indices: Array,
    indptr: Array,
    order: Array,
    targets: Array,
    bounds: Array,
    duals: Array,
    shrunk: Array,
    weights: Array,
    intercepts: Array,
    progress: Array,
    one_sided: bool,
    epsilon: float,
    constant: float,
) -> None: ...
def online_gradient(
    Z: Array, y: Array, loss: int, steps: Array, W: Array, squares: Array, scores: Array, decay: float
) -> None: ...
def online_kernel_gradient(
    gram: Array,
    y: Array,
    loss: int,
    steps: Array,
    decay: float,
    limit: int,
    scores: Array,
    coef: Array,
    active: Array,
    counts: Array,
) -> None: ...
def online_newton(
    gram: Array,
    y: Array,
    loss: int,
    row_weight: Array,
    limit: int,
    scores: Array,
    factor: Array,
    coef: Array,
    active: Array,
    counts: Array,
) -> None: ...
def gaussian_exponents(X: Array, Y: Array, gamma: float, out: Array, lower: bool) -> None: ...
def budget_learn(
    update: int,
    maintenance: int,
    loss: int,
    budget: int,
    epsilon: float,
    ridge: float,
    tolerance: float,
    cross: Array,
    gamma: float,
    norms: Array,
    X: Array,
    numbers: Array,
    y: Array,
    steps: Array,
    shrinks: Array,
    uniforms: Array,
    scores: Array,
    coef: Array,
    slot_norms: Array,
    born: Array,
    column: Array,
    rows: Array,
    between: Array,
    inverse: Array,
    reduction: Array,
    totals: Array,
    counts: Array,
    factor: Array,
    rounded: Array,
    sums: Array,
    table: Array,
) -> None: ...
def rows_in_doubt(
    moved: Array,
    heads: Array,
    rests: Array,
    centre_heads: Array,
    centre_sizes: Array,
    apart: Array,
    slack: float,
    longest: float,
    norms: Array,
    labels: Array,
    margins: Array,
    doubt: Array,
    candidates: Array,
) -> int: ...
def nearest_centres(
    Z: Array,
    rows: Array,
    candidates: Array,
    products: Array,
    centres: Array,
    slack: float,
    longest: float,
    weight: Array,
    norms: Array,
    labels: Array,
    margins: Array,
    sums: Array,
    totals: Array,
) -> int: ...
def fft(X: Array, out: Array) -> None: ...
def is_smooth(n: int) -> bool: ...
def simd_level() -> str: ...
def simd_levels() -> list[str]: ...
def has_wider_registers() -> bool: ...
def use_simd(name: str) -> None: ...
def count_keys(
    pointers: Array,
    keys: Array,
    weights: Array,
    counts: int,
    out_pointers: Array,
    out_keys: Array,
    out_values: Array,
    out_squares: Array,
) -> None: ...
def hash_columns(
    pointers: Array,
    keys: Array,
    values: Array,
    coefficients: Array,
    n_buckets: int,
    out_pointers: Array,
    out_columns: Array,
    out_data: Array,
) -> None: ...
def sketch_keys(pointers: Array, keys: Array, values: Array, coefficients: Array, out: Array) -> None: ...
def segment_sum(values: Array, pointers: Array, out: Array) -> None: ...
def string_keys(
    text: Array,
    offsets: Array,
    codes: Array,
    least: int,
    longest: int,
    bits: int,
    base: int,
    placed: bool,
    out_pointers: Array,
    out_keys: Array,
    out_lengths: Array,
) -> int: ...
def count_substrings(
    text: Array,
    offsets: Array,
    codes: Array,
    least: int,
    longest: int,
    bits: int,
    out_pointers: Array,
    out_keys: Array,
    out_values: Array,
    out_squares: Array,
) -> None: ...
def token_keys(
    tokens: Array, offsets: Array, least: int, longest: int, base: int, out_pointers: Array, out_keys: Array
) -> int: ...
def masked_keys(
    text: Array,
    offsets: Array,
    codes: Array,
    masks: Array,
    length: int,
    bits: int,
    base: int,
    complement: Array,
    out_pointers: Array,
    out_keys: Array,
) -> int: ...
def agreement_sums(text: Array, offsets: Array, codes: Array, complement: Array, values: Array, out: Array) -> None: ...
def subsequence_sketch(
    text: Array, offsets: Array, codes: Array, index: Array, sign: Array, widths: Array, decay: float, out: Array
) -> None: ...
def subsequence_values(
    text: Array,
    offsets: Array,
    other_text: Array,
    other_offsets: Array,
    codes: Array,
    length: int,
    decay: float,
    out: Array,
) -> None: ...
def adjacency(edges: Array, graphs: Array, out_degrees: Array, out_neighbours: Array) -> int: ...
def refine(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    edge_labels: Array,
    depth: int,
    seed: int,
    out_keys: Array,
) -> None: ...
def path_keys(
    graphs: Array, nodes: Array, neighbours: Array, labels: Array, seed: int, out_pointers: Array, out_keys: Array
) -> int: ...
def count_paths(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    seed: int,
    presence: bool,
    out_pointers: Array,
    out_keys: Array,
    out_values: Array,
    out_squares: Array,
) -> None: ...
def subtree_keys(trees: Array, labels: Array, parents: Array, seed: int, out_keys: Array, out_sizes: Array) -> None: ...
def fragment_keys(
    trees: Array,
    labels: Array,
    parents: Array,
    max_size: int,
    leaves: bool,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_sizes: Array,
) -> int: ...
def subgraph_keys(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    edge_labels: Array,
    size: int,
    n_draws: int,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_weights: Array,
) -> int: ...
def walk_keys(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    edge_labels: Array,
    length: int,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_counts: Array,
    out_steps: Array,
) -> int: ...
def partial_tree_keys(
    trees: Array,
    labels: Array,
    parents: Array,
    max_size: int,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_shapes: Array,
) -> int: ...
def partial_tree_values(
    trees: Array,
    labels: Array,
    parents: Array,
    other_trees: Array,
    other_labels: Array,
    other_parents: Array,
    decay: float,
    gap_decay: float,
    terminal: float,
    paired: bool,
    out: Array,
) -> None: ...
