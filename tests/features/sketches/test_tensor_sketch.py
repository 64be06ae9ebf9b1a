"""Tensor Sketch: contract, moments, golden draws, every layout of X."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import Gaussian, Linear, Polynomial, TensorSketch
from mercer.testing import check_feature_map, sample_rows


@parametrize_with_checks([TensorSketch(), TensorSketch(Gaussian(), n_components=20)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "sketch",
    [
        TensorSketch(n_components=16),
        TensorSketch(Linear(), n_components=8),
        TensorSketch(Polynomial(2), n_components=15),  # odd: the second-order term of the variance halves
        TensorSketch(Polynomial(3, gamma=0.7, coef0=0.5), n_components=20),
        TensorSketch(Polynomial(4, coef0=1.0), n_components=32),
        TensorSketch(Polynomial(2, coef0=1.0), n_components=14),  # a length with the prime 7
        TensorSketch(Polynomial(5, gamma=2.0), n_components=1),
        TensorSketch(Polynomial(3, gamma=0.7, coef0=0.5), n_components=24, n_sketches=3),
    ],
    ids=repr,
)
def test_mean_variance_and_rate(sketch):
    others = {} if sketch.n_components % 2 == 0 else {"n_sketches": []}  # two sketches take an even number of features
    check_feature_map(sketch, sklearn_checks=False, others=others)


def test_the_draw_of_a_seed_never_changes():
    sketch = TensorSketch(Polynomial(2, coef0=1.0), n_components=1000, random_state=0).fit(np.zeros((1, 3)))
    assert sketch.index_.tolist() == [GOLDEN_INDEX]
    assert sketch.sign_.tolist() == [GOLDEN_SIGN]
    assert (sketch.index_.dtype, sketch.sign_.dtype) == (np.int32, np.int8)


GOLDEN_INDEX = [[684, 559, 629, 192], [835, 763, 707, 359]]
GOLDEN_SIGN = [[1, -1, -1, -1], [1, -1, 1, 1]]


def _layouts(X):
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    shuffled = sparse.csr_array(X)
    for start, stop in zip(shuffled.indptr[:-1], shuffled.indptr[1:], strict=True):
        shuffled.indices[start:stop] = shuffled.indices[start:stop][::-1].copy()
        shuffled.data[start:stop] = shuffled.data[start:stop][::-1].copy()
    shuffled.has_sorted_indices = False
    half = sparse.csr_array(X / 2)
    twice = sparse.csr_array(
        (np.repeat(half.data, 2), np.repeat(half.indices, 2), 2 * half.indptr), shape=X.shape
    )  # every entry in two halves
    wide_indices = sparse.csr_array(X)
    wide_indices.indices, wide_indices.indptr = wide_indices.indices.astype("q"), wide_indices.indptr.astype("q")
    return {
        "Fortran order": np.asfortranarray(X),
        "strided columns": wide[:, ::2],
        "strided rows": np.repeat(X, 2, axis=0)[::2],
        "reversed": X[::-1][::-1],
        "read-only": frozen,
        "big-endian": X.astype(">f8"),
        "list": X.tolist(),
        "pandas": pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
        "polars": pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]),
        "pyarrow": pa.table({f"c{i}": X[:, i] for i in range(X.shape[1])}),
        "csr_array": sparse.csr_array(X),
        "csr_matrix": sparse.csr_matrix(X),
        "csc": sparse.csc_array(X),
        "coo": sparse.coo_array(X),
        "unsorted csr": shuffled,
        "duplicate csr entries": twice,
        "64-bit csr": wide_indices,
    }


@pytest.mark.parametrize("layout", _layouts(sample_rows(9)))
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_every_layout_of_x_is_accepted(layout):
    X = sample_rows(9)
    sketch = TensorSketch(Polynomial(3, coef0=1.0), n_components=24, random_state=0)
    expected = sketch.fit_transform(X)
    np.testing.assert_allclose(sketch.fit(_layouts(X)[layout]).transform(_layouts(X)[layout]), expected, atol=1e-14)


def test_several_sketches_are_scaled_sketches_side_by_side():
    X = sample_rows()
    several = TensorSketch(Polynomial(2, coef0=1.0), n_components=20, n_sketches=2, random_state=0).fit(X)
    Z = several.transform(X)
    for i in range(2):
        one = TensorSketch(Polynomial(2, coef0=1.0), n_components=10).fit(X)
        one.index_, one.sign_ = several.index_[i : i + 1], several.sign_[i : i + 1]
        np.testing.assert_allclose(Z[:, 10 * i : 10 * (i + 1)], one.transform(X) / np.sqrt(2), atol=1e-14)
    with pytest.raises(ValueError, match=r"multiple of n_sketches, got 20 and 3. Take n_components=21"):
        TensorSketch(n_components=20, n_sketches=3).fit(X)


def test_names_and_containers_of_the_output():
    X = pd.DataFrame(sample_rows(4), columns=list("abcde"))
    sketch = TensorSketch(n_components=3, random_state=0).set_output(transform="pandas").fit(X)
    assert sketch.transform(X).columns.tolist() == ["tensorsketch0", "tensorsketch1", "tensorsketch2"]
    assert sketch.feature_names_in_.tolist() == list("abcde")


def test_ten_million_columns_cost_by_their_non_zeros():
    X = sparse.csr_array((np.ones(4), ([0, 0, 1, 2], [3, 9_999_999, 5, 3])), shape=(3, 10_000_000))
    Z = TensorSketch(n_components=64, random_state=0).fit_transform(X)
    np.testing.assert_allclose(np.diag(Z @ Z.T)[1:], 1.0)  # one non-zero: the sketch is exact


@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_does_not_depend_on_its_neighbours(rng, n_rows, dtype):
    X = rng.standard_normal((n_rows, 5)).astype(dtype)
    sketch = TensorSketch(Polynomial(2, coef0=1.0), n_components=30, random_state=0).fit(X)
    alone = np.vstack([sketch.transform(row[None]) for row in X])
    tolerance = 100 * np.finfo(dtype).eps * np.abs(alone).max()
    np.testing.assert_allclose(sketch.transform(X), alone, atol=tolerance)
