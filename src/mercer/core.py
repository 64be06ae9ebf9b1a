"""The primitives in use: compiled if the core was built, plain NumPy otherwise, chosen once at import.

Some choices are made per call. A sketch whose length has a prime factor above 5 uses scipy.fft, which is correct for
every length. Wide products, and dense projections whose weights do not fit the cache of a processor core, use BLAS.

The types of grouped arguments (``BoxTables``, ``ClusterHeads``, ...) are those of ``mercer.reference.types``.
"""

from types import ModuleType

import numpy as np

from mercer import reference
from mercer._typing import Array, Csr, Rows
from mercer.reference.types import (
    BUDGET_MAINTENANCE,
    BUDGET_UPDATES,
    LOSSES,
    BoxTables,
    BudgetRows,
    BudgetRule,
    BudgetState,
    ClusterChanges,
    ClusterDoubts,
    ClusterHeads,
    ClusterRows,
    ClusterScale,
    CsrRows,
    OnlineResult,
)

try:
    import mercer._core as _core  # noqa: PLR0402 - with "from", a missing and a broken core both raise ImportError
except ModuleNotFoundError:  # a core that exists but does not load is an error, on purpose
    COMPILED = False
else:
    COMPILED = True

__all__ = [
    "BUDGET_MAINTENANCE",
    "BUDGET_UPDATES",
    "COMPILED",
    "LOSSES",
    "BoxTables",
    "BudgetRows",
    "BudgetRule",
    "BudgetState",
    "ClusterChanges",
    "ClusterDoubts",
    "ClusterHeads",
    "ClusterRows",
    "ClusterScale",
    "OnlineResult",
    "absolute_distances",
    "adjacency",
    "budget_learn",
    "cell_hashes",
    "convolve",
    "count_sketch",
    "decays",
    "descend",
    "fourier",
    "gaussian_exponents",
    "hadamard_features",
    "landmark_features",
    "matern_values",
    "near_squares",
    "nearest_centres",
    "online_gradient",
    "online_kernel_gradient",
    "online_newton",
    "project_product",
    "rows_in_doubt",
    "scores",
    "sign_products",
    "simd_level",
    "squared_distances",
    "tensor_sketch",
    "trapezoidal_product",
]

# The primitives whose compiled and NumPy versions take the same arguments.
_primitives: ModuleType = _core if COMPILED else reference

# Up to this many bytes of frequencies, one fused loop is faster than BLAS and a second loop (measured, 512 KiB cache).
_SECOND_LEVEL_CACHE = 3 * 2**17
# Numbers of columns for which the compiled product is used instead of BLAS: 4 times as fast for 2 and 3 columns, 1.3
# times for 10 (measured). For one column the speed is equal, but the compiled result of a row is independent of the
# other rows, bit for bit.
_FEW_COLUMNS = range(1, 25)


def simd_level() -> str:
    """Return the instruction set in use; ``"none"`` for the NumPy reference."""
    return _core.simd_level() if COMPILED else "none"


def _for_length(length: int) -> ModuleType:
    """Return the primitives for transforms of a length."""
    return _core if COMPILED and _core.is_smooth(length) else reference


def _csr(X: Csr, rows: slice) -> CsrRows:
    """Return a range of rows of a CSR matrix without copying its entries."""
    indptr = X.indptr[rows.start : rows.stop + 1]
    if X.indices.dtype != indptr.dtype:
        indptr = indptr.astype(X.indices.dtype)
    return CsrRows(X.data, X.indices, indptr)


def _dense(X: Rows, rows: slice) -> Array:
    """Return a range of rows as a dense matrix."""
    part: Array = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
    return part


def count_sketch(X: Rows, rows: slice, index: Array, sign: Array, out: Array) -> None:
    """Overwrite ``out`` (n, D) with the count sketch of the given rows of X, dense or CSR.

    Column j of X is added to the bucket index[j] (int32) with the sign sign[j] (int8).
    """
    if isinstance(X, np.ndarray):
        _primitives.count_sketch(X[rows], index, sign, out)
    else:
        _primitives.count_sketch_csr(*_csr(X, rows), index, sign, out)


def tensor_sketch(X: Rows, rows: slice, index: Array, sign: Array, scale: float, constant: float, out: Array) -> None:
    """Overwrite ``out`` (n, D) with the Tensor Sketch of [scale * x, constant] for the given rows of X, dense or CSR.

    The tables of hashes are (p, d) for degree p, or (p, d + 1) if the constant is not 0: its hash is the last column.
    """
    primitives = _for_length(out.shape[1])
    if isinstance(X, np.ndarray):
        primitives.tensor_sketch(X[rows], index, sign, scale, constant, out)
    else:
        primitives.tensor_sketch_csr(*_csr(X, rows), index, sign, scale, constant, out)


def convolve(sketches: Array, out: Array) -> None:
    """Overwrite ``out`` (n, D) with the circular convolution, row by row, of ``sketches`` (m, n, D)."""
    _for_length(out.shape[1]).convolve(sketches, out)


def project_product(X: Rows, rows: slice, W: Array, widths: Array, out: Array) -> None:
    """Overwrite ``out`` with products of projections of the given rows of X, dense or CSR.

    Factor j is the projection on the next widths[j] columns of W; it multiplies the first widths[j] features.
    """
    if isinstance(X, np.ndarray):
        reference.project_product(X[rows], W, widths, out)
    else:
        _primitives.project_product_csr(*_csr(X, rows), W, widths, out)


def sign_products(X: Array, rows: slice, codes: Array, widths: Array, scales: Array, out: Array) -> None:
    """Overwrite ``out`` with scaled products of projections of dense rows on vectors of signs, eight signs per code.

    Widths are those of ``project_product``; scales[i] multiplies feature i.
    """
    _primitives.sign_products(X[rows], codes, widths, scales, out)


def fourier(X: Rows, rows: slice, W: Array, offsets: Array, scale: float, out: Array) -> bool:
    """Overwrite ``out`` (n, 2p + s) with cosines and sines of the turns X W, for p pairs and s single features.

    W (d, p + s) holds the frequencies in turns, those of the pairs first; the layout is that of ``cos_sin``. Returns
    whether all turns were finite.
    """
    dense = isinstance(X, np.ndarray)
    if dense and W.nbytes <= _SECOND_LEVEL_CACHE:
        return bool(_primitives.fourier_features(X[rows], W, offsets, scale, out))
    n_pairs = W.shape[1] - len(offsets)
    for weights, start in ((W[:, :n_pairs], 0), (W[:, n_pairs:], 2 * n_pairs)):
        width = weights.shape[1]
        if width:
            turns = out[:, start : start + width]
            if dense:
                np.matmul(X[rows], weights, out=turns)
            else:
                _primitives.project_product_csr(*_csr(X, rows), weights, np.array([width], dtype=np.int64), turns)
    return bool(_primitives.cos_sin(out, offsets, scale))


def hadamard_features(
    X: Rows,
    rows: slice,
    diagonals: Array,
    permutation: Array,
    lengths: Array,
    offsets: Array,
    scale: float,
    out: Array,
) -> bool:
    """Overwrite ``out`` with cosines and sines of structured projections of the given rows of X, dense or CSR.

    The projections are products of Hadamard matrices with ``diagonals`` (stages, blocks, size) and, between the first
    two, ``permutation`` (blocks, size); frequency i is multiplied by lengths[i]. Returns whether all turns were finite.
    """
    block = _dense(X, rows)
    return bool(_primitives.hadamard_features(block, diagonals, permutation, lengths, offsets, scale, out))


def absolute_distances(X: Array, fixed: Array) -> Array:
    """Return the L1 distances (n, m) of dense rows from fixed rows (m, d), in their precision."""
    out = np.empty((len(X), len(fixed)), dtype=X.dtype)
    _primitives.absolute_distances(X, fixed, out)
    return out


def squared_distances(X: Array, fixed: Array) -> Array:
    """Return the squared distances (n, m) of dense rows from fixed rows (m, d), in their precision.

    Differences are squared and summed, so that no digit is lost: for few columns as fast as a product.
    """
    out = np.empty((len(X), len(fixed)), dtype=X.dtype)
    _primitives.squared_distances(X, fixed, out)
    return out


def near_squares(X: Array, fixed: Array, bounds: Array, fixed_bounds: Array, q: Array) -> None:
    """Replace those entries of ``q`` (n, m) that belong to near pairs of dense rows by |x - y|^2.

    A pair is near if its entry is at most the sum of ``bounds`` (n,) of its row x and ``fixed_bounds`` (m,) of its
    fixed row y.
    """
    _primitives.near_squares(X, fixed, bounds, fixed_bounds, q)


def decays(factor: float, values: Array) -> None:
    """Overwrite ``values`` (n, m) by exp(min(factor values, 0))."""
    _primitives.decays(factor, values)


def matern_values(scale: float, linear: float, quadratic: float, values: Array) -> None:
    """Overwrite ``values`` (n, m) by (1 + linear t + quadratic t^2) exp(-t) with t = sqrt(scale values)."""
    _primitives.matern_values(scale, linear, quadratic, values)


def invert_leaf(routines: Array, S: Array, B: Array, squares: Array, diagonal: Array) -> bool:
    """Overwrite S (n, n) and B (m, n) as ``mercer.solvers.local.leaf_inverse.inverted`` does, in one compiled call.

    ``routines`` are the addresses of potrf, trtri, trmm and syrk in the precision of S. All matrices are in Fortran
    order. ``squares`` (m, m), zeros at first, becomes the lower triangle of B S^-1 B', and ``diagonal`` that of S^-1.
    Return whether S has a Cholesky factor. There is no fallback.
    """
    return bool(_core.invert_leaf(routines, S.T, B.T, squares.T, diagonal))


def cell_hashes(X: Rows, rows: slice, inverse_pitches: Array, shifts: Array, multipliers: Array, out: Array) -> None:
    """Overwrite ``out`` (n, G) with hashes of the cells of the given rows of X, dense or CSR, in each of G grids."""
    _primitives.cell_hashes(_dense(X, rows), inverse_pitches, shifts, multipliers, out)


def landmark_features(left: Array, right: Array, projection: Array, first: int, out: Array) -> None:
    """Overwrite ``out`` with exp(min(left @ right, 0)) @ projection, whose column j is zero from row first + j on.

    If the processor has wider registers than the core uses, the products of BLAS are faster and are used instead.
    """
    ours = COMPILED and not _core.has_wider_registers()
    (_core if ours else reference).landmark_features(left, right, projection, first, out)


def trapezoidal_product(K: Array, projection: Array, first: int, out: Array) -> None:
    """Overwrite ``out`` with K @ projection, whose column j is zero from row first + j on; always by BLAS."""
    reference.trapezoidal_product(K, projection, first, out)


def descend(Z: Rows, order: Array, tables: BoxTables) -> None:
    """Take one dual coordinate step for each row of Z, dense or CSR, in the given order, in each problem.

    Changes the duals, weights, intercepts and progress of ``tables``; see ``reference.descend``.
    """
    if isinstance(Z, np.ndarray):
        if COMPILED:
            _core.descend(Z, order, *tables)
        else:
            reference.descend(Z, order, tables)
        return
    rows = _csr(Z, slice(0, Z.shape[0]))
    if COMPILED:
        _core.descend_csr(rows.data, rows.indices, rows.indptr, order, *tables)
    else:
        reference.descend_csr(rows, order, tables)


def online_gradient(
    Z: Array, y: Array, loss: int, steps: Array, W: Array, squares: Array, scores: Array, decay: float
) -> None:
    """Take a gradient step for each row of Z (n, D) in turn, changing the weights W (k, D).

    Row t takes the step steps[t]; ``scores`` (n, k) receives the scores before each step. With ``squares`` (k, D) the
    steps are AdaGrad's; if ``squares`` has no rows, plain gradient descent. Before each step, weights and squares are
    multiplied by ``decay``. Losses are numbered as in ``LOSSES``.
    """
    _primitives.online_gradient(Z, y, loss, steps, W, squares, scores, decay)


def online_kernel_gradient(
    gram: Array, y: Array, loss: int, steps: Array, decay: float, limit: int, result: OnlineResult
) -> None:
    """Take a gradient step for each of n rows in turn in the space of their kernel, with Gram matrix ``gram`` (n, n).

    Ends after ``limit`` rows with a loss and writes into ``result``; see ``reference.online_kernel_gradient``.
    """
    if COMPILED:
        _core.online_kernel_gradient(gram, y, loss, steps, decay, limit, *result)
    else:
        reference.online_kernel_gradient(gram, y, loss, steps, decay, limit, result)


def online_newton(
    gram: Array, y: Array, loss: int, row_weight: Array, limit: int, factor: Array, result: OnlineResult
) -> None:
    """Take a Newton step for each of n rows in turn, from ``gram`` = Z P Z^T alone.

    Row t counts as row_weight[t] rows. Ends after ``limit`` rows with a loss; writes ``factor`` (n, n) and ``result``;
    see ``reference.online_newton``.
    """
    if COMPILED:
        scores, *rest = result
        _core.online_newton(gram, y, loss, row_weight, limit, scores, factor, *rest)
    else:
        reference.online_newton(gram, y, loss, row_weight, limit, factor, result)


def gaussian_exponents(X: Array, Y: Array, gamma: float, out: Array, lower: bool = False) -> None:
    """Overwrite ``out`` (n, m) with gamma |x - y|^2 for the rows of X (n, d) and Y (m, d), all float64.

    Each entry depends on its two rows alone, bit for bit. With ``lower``, where Y is X, the entries above the diagonal
    are not needed: what they hold afterwards is not defined.
    """
    _primitives.gaussian_exponents(X, Y, gamma, out, lower)


def budget_learn(rule: BudgetRule, rows: BudgetRows, state: BudgetState, table: Array) -> None:
    """Learn the rows of a block in turn with a budget of support vectors, changing ``state``.

    Writes ``rows.scores``; ``table`` holds the places at which pairs are merged. See ``reference.budget_learn``.
    """
    if COMPILED:
        update, maintenance = BUDGET_UPDATES.index(rule.update), BUDGET_MAINTENANCE.index(rule.maintenance)
        # mypy gives each field of an unpacked tuple the union of all field types
        _core.budget_learn(update, maintenance, *rule[2:], *rows, *state, table)  # type: ignore[arg-type]
    else:
        reference.budget_learn(rule, rows, state, table)


def adjacency(edges: Array, graphs: Array, out_degrees: Array, out_neighbours: Array) -> int:
    """Write the degrees and the ascending neighbours of nodes from ``edges`` (m, 2), int64; return how many there are.

    Graph g has the nodes from graphs[g] on. Returns -1 - e if edge e does not lie in one graph.
    """
    return int(_primitives.adjacency(edges, graphs, out_degrees, out_neighbours))


def scores(Z: Rows, weights: Array, out: Array | None = None) -> Array:
    """Return rows of features, dense or CSR, times columns of weights (D, k).

    Dense rows times a few columns of the same precision use the compiled product; ``out`` requires this case.
    """
    if not isinstance(Z, np.ndarray) or Z.dtype != weights.dtype:
        return np.asarray(Z @ weights)
    n_columns = weights.shape[1]
    if out is None:
        out = np.empty((Z.shape[0], n_columns), dtype=Z.dtype)
    ours = COMPILED and n_columns in _FEW_COLUMNS and Z.strides[1] == Z.itemsize
    (_core if ours else reference).scores(Z, np.ascontiguousarray(weights.T), out)
    return out


def rows_in_doubt(
    moved: Array, heads: ClusterHeads, scale: ClusterScale, state: ClusterRows, doubts: ClusterDoubts
) -> int:
    """Find the rows whose nearest centre is not known from margins and heads alone; return their number.

    ``moved`` (k,) is subtracted from the margins first. Writes into ``doubts``; see ``reference.rows_in_doubt``.
    """
    if COMPILED:
        return _core.rows_in_doubt(moved, *heads, *scale, *state, *doubts)
    return reference.rows_in_doubt(moved, heads, scale, state, doubts)


def nearest_centres(
    Z: Rows,
    doubts: ClusterDoubts,
    products: Array,
    centres: Array,
    scale: ClusterScale,
    state: ClusterRows,
    changes: ClusterChanges,
) -> int:
    """Find the nearest centres of rows in doubt, with features dense or CSR; return how many rows changed centre.

    Changes ``state`` and ``changes``; see ``reference.nearest_centres``.
    """
    if COMPILED and isinstance(Z, np.ndarray):
        weight, sums, totals = changes
        return _core.nearest_centres(Z, *doubts, products, centres, *scale, weight, *state, sums, totals)
    return reference.nearest_centres(Z, doubts, products, centres, scale, state, changes)
