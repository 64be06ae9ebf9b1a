"""The primitives in force: compiled where the core was built, plain NumPy otherwise, chosen once at import.

Some choices are made per call: a sketch whose length has a prime factor beyond 5 goes through scipy.fft, which is
correct for every length, and dense projections on more than a core's cache holds, and wide products, are left to BLAS.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from mercer import reference
from mercer._typing import Array

_compiled: ModuleType | None
try:
    import mercer._core as _compiled_module
except ModuleNotFoundError:  # a core that is there but does not load is an error, not a fallback
    _compiled = None
else:
    _compiled = _compiled_module

COMPILED = _compiled is not None

# Bytes of frequencies up to which a fused loop beats BLAS and a pass over its result (measured on 512 KiB of cache).
_SECOND_LEVEL_CACHE = 3 * 2**17
# Columns for which a product of our own beats BLAS: 4 times as fast for 2 and 3, 1.3 times for 10 (measured). For one
# both are as fast; but the bits of a row do not depend here on the rows beside it.
_FEW_COLUMNS = range(1, 25)


def simd_level() -> str:
    """Return the instruction set in use, ``"none"`` on the NumPy reference."""
    return str(_compiled.simd_level()) if _compiled is not None else "none"


def _primitive(name: str, *, length: int | None = None) -> Callable[..., Any]:
    fast = _compiled is not None and (length is None or _compiled.is_smooth(length))
    function: Callable[..., Any] = getattr(_compiled if fast else reference, name)
    return function


def _pointers(X: Any, rows: slice) -> tuple[Array, Array, Array]:
    """Return data, indices and the pointers of a range of rows of a CSR matrix, without copying its entries."""
    indptr = X.indptr[rows.start : rows.stop + 1]
    if X.indices.dtype != indptr.dtype:
        indptr = indptr.astype(X.indices.dtype)
    return X.data, X.indices, indptr


def count_sketch(X: Any, rows: slice, index: Array, sign: Array, out: Array) -> None:
    """Overwrite ``out`` with the count sketch of the given rows of X, dense or CSR."""
    if isinstance(X, np.ndarray):
        _primitive("count_sketch")(X[rows], index, sign, out)
    else:
        _primitive("count_sketch_csr")(*_pointers(X, rows), index, sign, out)


def tensor_sketch(X: Any, rows: slice, index: Array, sign: Array, scale: float, constant: float, out: Array) -> None:
    """Overwrite ``out`` with the Tensor Sketch of [scale * x, constant] for the given rows of X, dense or CSR."""
    length = out.shape[1]
    if isinstance(X, np.ndarray):
        _primitive("tensor_sketch", length=length)(X[rows], index, sign, scale, constant, out)
    else:
        _primitive("tensor_sketch_csr", length=length)(*_pointers(X, rows), index, sign, scale, constant, out)


def convolve(sketches: Array, out: Array) -> None:
    """Overwrite ``out`` (n, D) with the circular convolution, row by row, of ``sketches`` (m, n, D)."""
    _primitive("convolve", length=out.shape[1])(sketches, out)


def project_product(X: Any, rows: slice, W: Array, widths: Array, out: Array) -> None:
    """Overwrite ``out`` with products of projections of the given rows of X, dense or CSR."""
    if isinstance(X, np.ndarray):
        reference.project_product(X[rows], W, widths, out)
    else:
        _primitive("project_product_csr")(*_pointers(X, rows), W, widths, out)


def sign_products(X: Array, rows: slice, codes: Array, widths: Array, scales: Array, out: Array) -> None:
    """Overwrite ``out`` with scaled products of projections of dense rows on vectors of signs, eight signs a code."""
    _primitive("sign_products")(X[rows], codes, widths, scales, out)


def fourier(X: Any, rows: slice, W: Array, offsets: Array, scale: float, out: Array) -> bool:
    """Overwrite ``out`` (n, 2p + s) with cosines and sines of the turns X W, for p pairs and s single features.

    W (d, p + s) holds the frequencies in turns, those of the pairs first; the layout is that of ``cos_sin``. Returns
    whether all turns were finite.
    """
    if not isinstance(X, np.ndarray):
        return _fourier_csr(X, rows, W, offsets, scale, out)
    if W.nbytes <= _SECOND_LEVEL_CACHE:
        return bool(_primitive("fourier_features")(X[rows], W, offsets, scale, out))
    n_pairs = W.shape[1] - len(offsets)
    for weights, start in ((W[:, :n_pairs], 0), (W[:, n_pairs:], 2 * n_pairs)):
        if weights.shape[1]:
            np.matmul(X[rows], weights, out=out[:, start : start + weights.shape[1]])
    return bool(_primitive("cos_sin")(out, offsets, scale))


def _fourier_csr(X: Any, rows: slice, W: Array, offsets: Array, scale: float, out: Array) -> bool:
    n_pairs = W.shape[1] - len(offsets)
    for weights, start in ((W[:, :n_pairs], 0), (W[:, n_pairs:], 2 * n_pairs)):
        if weights.shape[1]:
            width = np.array([weights.shape[1]], dtype=np.int64)
            turns = out[:, start : start + weights.shape[1]]
            _primitive("project_product_csr")(*_pointers(X, rows), weights, width, turns)
    return bool(_primitive("cos_sin")(out, offsets, scale))


def hadamard_features(
    X: Any,
    rows: slice,
    diagonals: Array,
    permutation: Array,
    lengths: Array,
    offsets: Array,
    scale: float,
    out: Array,
) -> bool:
    """Overwrite ``out`` with cosines and sines of structured projections of the given rows of X, dense or CSR.

    Returns whether all turns were finite.
    """
    block = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
    return bool(_primitive("hadamard_features")(block, diagonals, permutation, lengths, offsets, scale, out))


def cell_hashes(X: Any, rows: slice, inverse_pitches: Array, shifts: Array, multipliers: Array, out: Array) -> None:
    """Overwrite ``out`` with hashes of the cells of the given rows of X, dense or CSR, one a grid."""
    block = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
    _primitive("cell_hashes")(block, inverse_pitches, shifts, multipliers, out)


def landmark_features(left: Array, right: Array, projection: Array, first: int, out: Array) -> None:
    """Overwrite ``out`` with exp(min(left @ right, 0)) @ projection, whose column j is zero from row first + j on.

    Where the processor's registers are wider than the core's, BLAS's products are the faster ones.
    """
    ours = _compiled is not None and not _compiled.has_wider_registers()
    (_primitive("landmark_features") if ours else reference.landmark_features)(left, right, projection, first, out)


def trapezoidal_product(K: Array, projection: Array, first: int, out: Array) -> None:
    """Overwrite ``out`` with K @ projection, whose column j is zero from row first + j on; BLAS's work."""
    reference.trapezoidal_product(K, projection, first, out)


def descend(Z: Any, order: Array, *problems: Any) -> None:
    """Descend in the duals of linear problems, on the rows of Z, dense or CSR, in the given order."""
    if isinstance(Z, np.ndarray):
        _primitive("descend")(Z, order, *problems)
    else:
        _primitive("descend_csr")(*_pointers(Z, slice(0, Z.shape[0])), order, *problems)


def online_gradient(Z: Array, y: Array, loss: int, steps: Array, W: Array, squares: Array, scores: Array) -> None:
    """Descend along the gradient of each row of Z in turn; see ``reference.online_gradient``."""
    _primitive("online_gradient")(Z, y, loss, steps, W, squares, scores)


def online_kernel_gradient(gram: Array, y: Array, loss: int, steps: Array, limit: int, *out: Array) -> None:
    """Descend along the gradient of each row in the space of its kernel; see ``reference.online_kernel_gradient``."""
    _primitive("online_kernel_gradient")(gram, y, loss, steps, limit, *out)


def online_newton(gram: Array, y: Array, loss: int, limit: int, *out: Array) -> None:
    """Take a Newton step for each row, known by Z P Z^T; see ``reference.online_newton``."""
    _primitive("online_newton")(gram, y, loss, limit, *out)


def scores(Z: Any, weights: Array, out: Array | None = None) -> Array:
    """Return rows of features, dense or CSR, times columns of weights (D, k).

    A few columns of the precision of dense rows, which ``out`` asks for, are multiplied by our own loop.
    """
    if not isinstance(Z, np.ndarray) or Z.dtype != weights.dtype:
        return np.asarray(Z @ weights)
    n_columns = weights.shape[1]
    if out is None:
        out = np.empty((Z.shape[0], n_columns), dtype=Z.dtype)
    ours = COMPILED and n_columns in _FEW_COLUMNS and Z.strides[1] == Z.itemsize
    (_primitive("scores") if ours else reference.scores)(Z, np.ascontiguousarray(weights.T), out)
    return out


def rows_in_doubt(*arguments: Any) -> int:
    """Find the rows whose nearest centres few products do not tell; see ``reference.rows_in_doubt``."""
    n_doubt: Any = _primitive("rows_in_doubt")(*arguments)
    return int(n_doubt)


def nearest_centres(Z: Any, *arguments: Any) -> int:
    """Find the nearest centres of rows in doubt, with features dense or CSR; see ``reference.nearest_centres``."""
    dense = isinstance(Z, np.ndarray)
    n_moves: Any = (_primitive("nearest_centres") if dense else reference.nearest_centres)(Z, *arguments)
    return int(n_moves)
