"""The primitives in force: compiled where the core was built, plain NumPy otherwise, chosen once at import.

Two choices are made per call: a sketch whose length has a prime factor beyond 5 goes through scipy.fft, which is
correct for every length, and dense projections are left to BLAS.
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


def simd_level() -> str:
    """Return the instruction set in use, ``"none"`` on the NumPy reference."""
    return str(_compiled.simd_level()) if _compiled is not None else "none"


def _primitive(name: str, *, length: int | None = None) -> Callable[..., None]:
    fast = _compiled is not None and (length is None or _compiled.is_smooth(length))
    function: Callable[..., None] = getattr(_compiled if fast else reference, name)
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
