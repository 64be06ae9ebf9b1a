"""What the NumPy primitives refuse: indices that SciPy's products would follow outside their arrays."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from mercer import reference
from mercer.reference.types import BoxTables, CsrRows

N, D_IN, D_OUT = 5, 6, 7
CALLS = ("count_sketch", "count_sketch_csr", "tensor_sketch", "tensor_sketch_csr")


def _spoil(call, **spoiled):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((N, D_IN))
    S = sparse.csr_array(X)
    shape = (2, D_IN) if call.startswith("tensor") else (D_IN,)
    given = {
        "data": S.data,
        "indices": S.indices,
        "indptr": S.indptr,
        "index": rng.randint(D_OUT, size=shape, dtype=np.int32),
        "sign": np.ones(shape, dtype=np.int8),
        **spoiled,
    }
    rows = [given[name] for name in ("data", "indices", "indptr")] if call.endswith("csr") else [X]
    factors = [1.0, 0.0] if call.startswith("tensor") else []
    getattr(reference, call)(*rows, given["index"], given["sign"], *factors, np.empty((N, D_OUT)))


def _table(call, value, dtype=np.int32):
    return np.full((2, D_IN) if call.startswith("tensor") else (D_IN,), value, dtype=dtype)


@pytest.mark.parametrize("call", CALLS)
def test_buckets_outside_are_refused(call):
    _spoil(call)
    for bucket in (-1, D_OUT, 2**30, -(2**30)):
        with pytest.raises(ValueError, match=r"index must lie in \[0, out.shape\[1\]\) = \[0, 7\)"):
            _spoil(call, index=_table(call, bucket))
    with pytest.raises(ValueError, match="index must lie in"):
        _spoil(call, index=_table(call, 0.0, np.float64))
    with pytest.raises(ValueError, match="sign must have the shape of index"):
        _spoil(call, sign=_table(call, 1, np.int8)[..., :-1])


def _csr_call(call, indices, indptr):
    data = np.ones(len(indices))
    if call == "count_sketch_csr":
        index, sign = np.zeros(D_IN, dtype=np.int32), np.ones(D_IN, dtype=np.int8)
        reference.count_sketch_csr(data, indices, indptr, index, sign, np.empty((2, D_OUT)))
    elif call == "project_product_csr":
        W = np.ones((D_IN, D_OUT))
        reference.project_product_csr(data, indices, indptr, W, np.array([D_OUT]), np.empty((2, D_OUT)))
    else:
        tables = [np.ones((2, 1)), np.ones((2, 3)), np.zeros((2, 1)), np.zeros((2, 1), dtype=np.uint8)]
        order, found = np.arange(2), [np.zeros((D_IN, 1)), np.zeros(1), np.zeros((3, 1))]
        reference.descend_csr(CsrRows(data, indices, indptr), order, BoxTables(*tables, *found, True, 0.0, 1.0))


@pytest.mark.parametrize("call", ["count_sketch_csr", "project_product_csr", "descend_csr"])
def test_csr_rows_that_lead_outside_are_refused(call):
    pointers = np.array([0, 2, 4])
    _csr_call(call, np.array([0, 1, 2, 5]), pointers)
    for column in (-1, D_IN, 2**30):
        with pytest.raises(ValueError, match=r"indices must lie in \[0, 6\)"):
            _csr_call(call, np.array([0, 1, 2, column]), pointers)
    for wrong in ([0, 2, 5], [-1, 2, 4], [0, 2, 2**40]):
        with pytest.raises(ValueError, match=r"indptr must lie in \[0, len\(data\)\] = \[0, 4\]"):
            _csr_call(call, np.array([0, 1, 2, 5]), np.array(wrong))
    with pytest.raises(ValueError, match="indptr must not decrease"):
        _csr_call(call, np.array([0, 1, 2, 5]), np.array([0, 3, 2]))


@pytest.mark.parametrize("bucket", [2**30, -(2**30)])
def test_a_forged_sketch_of_a_prime_length_ends_in_an_error_and_not_by_a_signal(bucket):
    """Lengths with a prime factor beyond 5 go to the reference, whatever core there is."""
    code = f"""
import numpy as np, mercer
X = np.random.RandomState(0).rand(3000, 6)
sketch = mercer.TensorSketch(mercer.Polynomial(degree=2), n_components=101, random_state=0).fit(X)
sketch.index_[:] = {bucket}
try:
    sketch.transform(X)
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.startswith("index must lie in")) == (0, True), done
