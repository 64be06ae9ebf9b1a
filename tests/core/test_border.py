"""What the compiled core refuses, and how it says so."""

import os
import subprocess
import sys

import numpy as np
import pytest
from oracle import Csr, draw_csr, draw_hashes, draw_rows, empty

from mercer import _core

N, D_IN, D_OUT = 5, 6, 8


class Dense:
    """Arguments of a valid dense call, to be spoiled one at a time."""

    def __init__(self, degree=2):
        rng = np.random.default_rng(0)
        self.X = draw_rows(rng, N, D_IN, np.float32)
        self.index, self.sign = draw_hashes(rng, (degree, D_IN), D_OUT)
        self.constant = 0.0
        self.out = empty((N, D_OUT), np.float32)

    def tensor_sketch(self):
        _core.tensor_sketch(self.X, self.index, self.sign, 1.0, self.constant, self.out)

    def count_sketch(self):
        _core.count_sketch(self.X, self.index[0], self.sign[0], self.out)


class Sparse:
    """Arguments of a valid CSR call, to be spoiled one at a time."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.rows = draw_csr(rng, N, D_IN, np.float32)
        self.index, self.sign = draw_hashes(rng, (3, D_IN), D_OUT)
        self.W = draw_rows(rng, D_IN, D_OUT, np.float32)
        self.out = empty((N, D_OUT), np.float32)

    def tensor_sketch(self):
        _core.tensor_sketch_csr(*self.rows, self.index, self.sign, 1.0, 0.0, self.out)

    def count_sketch(self):
        _core.count_sketch_csr(*self.rows, self.index[0], self.sign[0], self.out)

    def project_product(self):
        _core.project_product_csr(*self.rows, self.W, np.array([D_OUT]), self.out)


DENSE_CALLS = ("tensor_sketch", "count_sketch")
SPARSE_CALLS = ("tensor_sketch", "count_sketch", "project_product")


@pytest.mark.parametrize("call", DENSE_CALLS)
def test_the_valid_dense_call(call):
    arguments = Dense()
    getattr(arguments, call)()
    assert np.isfinite(arguments.out).all()


@pytest.mark.parametrize("call", SPARSE_CALLS)
def test_the_valid_sparse_call(call):
    arguments = Sparse()
    getattr(arguments, call)()
    assert np.isfinite(arguments.out).all()


@pytest.mark.parametrize("call", DENSE_CALLS)
@pytest.mark.parametrize("name", ["X", "out"])
def test_fortran_order(call, name):
    arguments = Dense()
    setattr(arguments, name, np.asfortranarray(getattr(arguments, name)))
    with pytest.raises(ValueError, match=f"{name} must have contiguous rows"):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", DENSE_CALLS)
@pytest.mark.parametrize("name", ["X", "out"])
def test_mixed_dtypes(call, name):
    arguments = Dense()
    setattr(arguments, name, getattr(arguments, name).astype(np.float64))
    with pytest.raises(TypeError):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", DENSE_CALLS)
@pytest.mark.parametrize(("name", "other"), [("index", np.int64), ("sign", np.float32)])
def test_table_dtypes(call, name, other):
    arguments = Dense()
    setattr(arguments, name, getattr(arguments, name).astype(other))
    with pytest.raises(TypeError):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", DENSE_CALLS)
def test_read_only_output(call):
    arguments = Dense()
    arguments.out.flags.writeable = False
    with pytest.raises(TypeError):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", DENSE_CALLS)
@pytest.mark.parametrize("bucket", [-1, D_OUT, 2**31 - 1])
def test_bucket_out_of_range(level, call, bucket):
    arguments = Dense()
    arguments.index[0, -1] = bucket
    with pytest.raises(ValueError, match=r"index must lie in \[0, out.shape\[1\]\) = \[0, 8\)"):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", ["tensor_sketch", "count_sketch"])
@pytest.mark.parametrize("bucket", [-1, D_OUT, 2**31 - 1])
def test_bucket_out_of_range_where_a_row_uses_it(level, call, bucket):
    arguments = Sparse()
    arguments.index[0, arguments.rows.indices[-1]] = bucket
    with pytest.raises(ValueError, match=r"index must lie in \[0, out.shape\[1\]\) = \[0, 8\)"):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", SPARSE_CALLS)
@pytest.mark.parametrize("column", [-1, D_IN, 2**31 - 1])
def test_column_out_of_range(level, call, column):
    arguments = Sparse()
    arguments.rows.indices[-1] = column
    with pytest.raises(ValueError, match=r"indices must lie in \[0, 6\)"):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", SPARSE_CALLS)
@pytest.mark.parametrize("spoil", ["negative", "decreasing", "past the end"])
def test_pointers(call, spoil):
    arguments = Sparse()
    pointers = arguments.rows.indptr
    if spoil == "negative":
        pointers[0] = -1
    elif spoil == "decreasing":
        pointers[2] = pointers[3] + 1
    else:
        pointers[-1] += 1
    with pytest.raises(ValueError, match="indptr must not decrease and must lie in"):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", SPARSE_CALLS)
def test_lengths_of_csr_arrays(call):
    arguments = Sparse()
    data, indices, indptr = arguments.rows
    arguments.rows = Csr(data, indices[:-1], indptr)
    with pytest.raises(ValueError, match=r"len\(indices\) must be len\(data\)"):
        getattr(arguments, call)()
    arguments.rows = Csr(data, indices, indptr[:0])
    with pytest.raises(ValueError, match="indptr must hold n \\+ 1 pointers"):
        getattr(arguments, call)()
    arguments.rows = Csr(data, indices, indptr[:-1])
    with pytest.raises(ValueError, match=r"out.shape\[0\] must be len\(indptr\) - 1 = 4, got 5"):
        getattr(arguments, call)()


@pytest.mark.parametrize("call", SPARSE_CALLS)
def test_index_arrays_of_different_types(call):
    arguments = Sparse()
    data, indices, indptr = arguments.rows
    arguments.rows = Csr(data, indices.astype(np.int64), indptr)
    with pytest.raises(TypeError):
        getattr(arguments, call)()


def test_shapes_of_a_dense_call():
    arguments = Dense()
    arguments.out = arguments.out[:-1]
    with pytest.raises(ValueError, match=r"out.shape\[0\] must be X.shape\[0\] = 5, got 4"):
        arguments.tensor_sketch()
    arguments = Dense()
    arguments.constant = 1.0
    with pytest.raises(ValueError, match=r"X.shape\[1\] must be index.shape\[1\] - \(constant != 0\) = 5, got 6"):
        arguments.tensor_sketch()
    arguments = Dense()
    arguments.sign = arguments.sign[:1]
    with pytest.raises(ValueError, match=r"sign.shape\[0\] must be index.shape\[0\] = 2, got 1"):
        arguments.tensor_sketch()
    arguments = Dense()
    arguments.index = np.asfortranarray(arguments.index)
    with pytest.raises(ValueError, match="index must have contiguous rows"):
        arguments.tensor_sketch()
    with pytest.raises(ValueError, match="index must have at least one row"):
        Dense(degree=0).tensor_sketch()


@pytest.mark.parametrize("arguments", [Dense(), Sparse()], ids=["dense", "csr"])
def test_lengths_without_a_transform(arguments):
    arguments.out = empty((N, 14), np.float32)
    with pytest.raises(ValueError, match=r"out.shape\[1\] must have no prime factor but 2, 3 and 5, got 14"):
        arguments.tensor_sketch()


@pytest.mark.parametrize("widths", [[4, 5], [9], [-1], [4, 3]])
def test_widths(widths):
    X, W = np.ones((N, D_IN), np.float32), np.ones((D_IN, 9), np.float32)
    rows = Sparse().rows
    message = r"W.shape\[1\] must be sum\(widths\)" if widths == [4, 3] else "widths must not increase"
    with pytest.raises(ValueError, match=message):
        _core.project_product_csr(*rows, W, np.array(widths), empty((N, D_OUT), np.float32))
    codes, scales = np.zeros((-(-D_IN // 8), 9), np.uint8), np.ones(widths[0] % 10, np.float32)
    with pytest.raises(ValueError, match=message.replace("W.", "codes.")):
        _core.sign_products(X, codes, np.array(widths), scales, empty((N, D_OUT), np.float32))


def test_signs():
    X, out = np.ones((N, D_IN), np.float32), empty((N, D_OUT), np.float32)
    codes, widths, scales = np.zeros((-(-D_IN // 8), 4), np.uint8), np.array([4]), np.ones(4, np.float32)
    with pytest.raises(ValueError, match=r"codes.shape\[0\] must be ceil\(X.shape\[1\] / 8\)"):
        _core.sign_products(X, np.zeros((9, 4), np.uint8), widths, scales, out)
    with pytest.raises(ValueError, match=r"len\(scales\) must be widths\[0\] = 4, got 3"):
        _core.sign_products(X, codes, widths, scales[:3], out)
    with pytest.raises(ValueError, match=r"out.shape\[0\] must be X.shape\[0\]"):
        _core.sign_products(X[1:], codes, widths, scales, out)


def test_convolve_shapes():
    sketches = np.ones((2, N, D_OUT), np.float32)
    with pytest.raises(ValueError, match=r"out.shape\[1\] must be sketches.shape\[2\] = 8, got 4"):
        _core.convolve(sketches, empty((N, 4), np.float32))
    with pytest.raises(ValueError, match="sketches must hold at least one sketch"):
        _core.convolve(sketches[:0], empty((N, D_OUT), np.float32))


def test_levels():
    assert _core.simd_level() == _core.simd_levels()[-1] or "MERCER_SIMD" in os.environ
    with pytest.raises(ValueError, match=f"name must be one of .*'{_core.simd_levels()[0]}'.*, got 'mmx'"):
        _core.use_simd("mmx")


@pytest.mark.parametrize("name", [*_core.simd_levels(), "mmx"])
def test_level_from_the_environment(name):
    code = "from mercer import _core; print(_core.simd_level())"
    environment = os.environ | {"MERCER_SIMD": name}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    if name in _core.simd_levels():
        assert run.stdout.split() == [name]
    else:
        assert run.returncode != 0
        assert "name must be one of" in run.stderr
