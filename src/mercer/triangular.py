"""Factors of matrices and products with triangular ones, on several threads at once.

They are those of SciPy's BLAS and LAPACK. SciPy's own wrappers hold the lock of the interpreter, so that two threads
take as long as one; calls through ``ctypes`` do not. Matrices are float32 or float64. Those that are overwritten are in
Fortran order.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from mercer._typing import Array

_PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_SCALARS = {"s": ctypes.c_float, "d": ctypes.c_double}
# Triangles up to this size are inverted by LAPACK (measured).
_SMALL_TRIANGLE = 64


class _At(NamedTuple):
    """The place of an entry, at which a part of a matrix begins."""

    matrix: Array
    row: int
    column: int


def factor(S: Array) -> bool:
    """Overwrite the lower triangle of a symmetric matrix, which alone is read, by its lower Cholesky factor.

    Return whether there is one. What is above the diagonal of S stays.

    >>> import numpy as np
    >>> S = np.array([[4.0, 7.0], [2.0, 5.0]], order="F")
    >>> factor(S), S.tolist()
    (True, [[2.0, 7.0], [1.0, 2.0]])
    """
    info = ctypes.c_int()
    _call("potrf", S, b"L", len(S), S, len(S), info)
    return info.value == 0


def inverse(lower: Array, *, overwrite: bool = False) -> Array:
    """Return the inverse of a lower triangular matrix. What is above its diagonal is not read, and stays.

    >>> import numpy as np
    >>> inverse(np.array([[2.0, 0.0], [1.0, 2.0]], order="F")).tolist()
    [[0.5, 0.0], [-0.25, 0.5]]
    """
    found = lower if overwrite else lower.copy(order="F")
    _invert(found, 0, len(found))
    return found


def _invert(A: Array, start: int, stop: int) -> None:
    """Overwrite the triangle of some rows by its inverse: halves, then -A_22^-1 A_21 A_11^-1 below the diagonal.

    LAPACK's own trtri goes by narrow panels, whose products take twice the time.
    """
    if stop - start <= _SMALL_TRIANGLE:
        _call("trtri", A, b"L", b"N", stop - start, _At(A, start, start), len(A), ctypes.c_int())
        return
    # A multiple of the width of a register: vectors begin where lines of the cache begin.
    middle = start + -(-(stop - start) // 32) * 16
    _invert(A, start, middle)
    _invert(A, middle, stop)
    scalar, size = _SCALARS[_PREFIX[A.dtype]], (stop - middle, middle - start)
    left, right, below = _At(A, middle, middle), _At(A, start, start), _At(A, middle, start)
    _call("trmm", A, b"L", b"L", b"N", b"N", *size, scalar(-1), left, len(A), below, len(A))
    _call("trmm", A, b"R", b"L", b"N", b"N", *size, scalar(1), right, len(A), below, len(A))


def solve(lower: Array, B: Array, *, transposed: bool = False, right: bool = False, overwrite: bool = False) -> Array:
    """Return A^-1 B, or B A^-1 if ``right``, with A a lower triangular matrix or its transpose.

    >>> import numpy as np
    >>> L = np.array([[2.0, 0.0], [1.0, 2.0]], order="F")
    >>> solve(L, np.array([[2.0], [3.0]])).ravel().tolist()
    [1.0, 1.0]
    """
    return _by_triangle("trsm", lower, B, transposed, right, overwrite)


def product(lower: Array, B: Array, *, transposed: bool = False, right: bool = False, overwrite: bool = False) -> Array:
    """Return A B, or B A if ``right``, with A a lower triangular matrix or its transpose: half of a product.

    >>> import numpy as np
    >>> L = np.array([[2.0, 0.0], [1.0, 2.0]], order="F")
    >>> product(L, np.ones((2, 1)), transposed=True).ravel().tolist()
    [3.0, 2.0]
    """
    return _by_triangle("trmm", lower, B, transposed, right, overwrite)


def add_square(C: Array, A: Array, factor: float = 1.0, *, transposed: bool = False) -> None:
    """Add ``factor`` A A', or A' A if ``transposed``, to the lower triangle of C: half of a product.

    Both are in Fortran order. What is above the diagonal of C stays.

    >>> import numpy as np
    >>> C = np.zeros((2, 2), order="F")
    >>> add_square(C, np.array([[1.0], [2.0]], order="F"))
    >>> C.tolist()
    [[1.0, 0.0], [2.0, 4.0]]
    """
    (rows, columns), scalar = A.shape, _SCALARS[_PREFIX[A.dtype]]
    n, k = (columns, rows) if transposed else (rows, columns)
    if A.size:
        _call("syrk", A, b"L", b"T" if transposed else b"N", n, k, scalar(factor), A, rows, scalar(1), C, n)


def _by_triangle(name: str, lower: Array, B: Array, transposed: bool, right: bool, overwrite: bool) -> Array:
    out = np.asfortranarray(B, dtype=lower.dtype)
    if not overwrite and (out is B or np.may_share_memory(out, B)):
        out = out.copy(order="F")
    by_columns = lower.flags.f_contiguous  # else the memory is that of the upper triangle of the transpose
    side, uplo = b"R" if right else b"L", b"L" if by_columns else b"U"
    trans = b"T" if transposed == by_columns else b"N"
    (m, n), one = out.shape, _SCALARS[_PREFIX[lower.dtype]](1)
    if out.size:
        _call(name, lower, side, uplo, trans, b"N", m, n, one, lower if by_columns else lower.T, len(lower), out, m)
    return out


def _call(name: str, typed: Array, *arguments: object) -> None:
    _routine(_PREFIX[typed.dtype] + name)(*(_by_reference(argument) for argument in arguments))


def _by_reference(argument: object) -> object:
    if isinstance(argument, np.ndarray):
        assert argument.flags.f_contiguous  # noqa: S101, for the caller: a copy would be written in vain
        return argument.ctypes.data
    if isinstance(argument, _At):
        A, row, column = argument
        assert A.flags.f_contiguous  # noqa: S101
        return A.ctypes.data + (row + column * len(A)) * A.itemsize
    if isinstance(argument, int):
        return ctypes.byref(ctypes.c_int(argument))
    return argument if isinstance(argument, bytes) else ctypes.byref(argument)  # type: ignore[arg-type]


def addresses(names: tuple[str, ...], dtype: np.dtype[np.generic]) -> Array:
    """Return where routines of BLAS and LAPACK are in memory, for compiled code that calls them."""
    return np.array([_address(_PREFIX[dtype] + name)[0] for name in names], dtype=np.int64)


@cache
def _address(name: str) -> tuple[int, int]:
    """Return the address of a routine by its name in the interface that SciPy has for Cython, and its arguments."""
    module = cython_blas if name[1:] in ("syrk", "trmm", "trsm") else cython_lapack
    capsule = module.__pyx_capi__[name]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature: bytes = get_name(capsule)  # such as "void (char *, int *, double *, int *, int *)"
    return get_pointer(capsule, signature), 1 + signature.count(b",")


@cache
def _routine(name: str) -> Callable[..., None]:
    address, n_arguments = _address(name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)
