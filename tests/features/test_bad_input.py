"""Bad input to any map: the argument, the rule, the value, the way out; and nothing half-fitted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from mercer import KernelRidge, Laplacian, LinearFeatures, Polynomial, RandomMaclaurin, TensorSketch, config_context
from mercer.features import Concatenate, Rescale, TensorProduct
from mercer.testing import sample_rows

MAPS = [TensorSketch, RandomMaclaurin, LinearFeatures, Concatenate, TensorProduct, Rescale]
X = sample_rows()


def _with(value, row=3, column=2):
    bad = X.copy()
    bad[row, column] = value
    return bad


def _broken_csr(**parts):
    broken = sparse.csr_array(X)
    for name, change in parts.items():
        change(getattr(broken, name))
    return broken


BAD_ROWS = [
    (_with(np.nan), r"X contains NaN at row 3, column 2; every entry must be a finite number of float64. Impute it"),
    (_with(np.inf), r"X contains infinity \(inf\) at row 3, column 2"),
    (_with(-np.inf).astype(np.float32), r"X contains infinity \(inf\) at row 3, column 2"),
    (sparse.csr_array(_with(np.nan)), r"X contains NaN at row 3, column 2"),
    (X[0], r"Expected 2D array, got 1D array instead"),
    (X[None], r"Found array with dim 3"),
    (X[:0], r"0 sample\(s\) \(shape=\(0, 5\)\) while a minimum of 1 is required"),
    (X[:, :0], r"0 feature\(s\) \(shape=\(6, 0\)\) while a minimum of 1 is required"),
    (X.astype("U9"), r"X holds text \(<U9\); it must hold numbers. Encode it first"),
    (X + 1j, r"Complex data not supported: it must hold real numbers"),
    (
        _broken_csr(indices=lambda i: i.__setitem__(0, 99)),
        r"not a valid CSR matrix: its indices leave the range 0 to 4",
    ),
    (_broken_csr(indices=lambda i: i.__setitem__(0, -1)), r"its indices leave the range 0 to 4"),
    (_broken_csr(indptr=lambda p: p.__setitem__(1, 29)), r"not a valid CSR matrix: its indptr is not in order"),
    # the differences of these 32-bit pointers wrap to positive numbers
    (
        _broken_csr(indptr=lambda p: p.__setitem__(slice(2, 5), [2**20, 2**30, -3 * 2**29])),
        r"not a valid CSR matrix: its indptr is not in order",
    ),
]


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize(("bad", "message"), BAD_ROWS, ids=range(len(BAD_ROWS)))
def test_bad_rows_are_named_in_fit_and_in_transform(kind, bad, message):
    with pytest.raises(ValueError, match=message):
        kind().fit(bad)
    fitted = kind(random_state=0).fit(X)
    before = fitted.transform(X)
    wide_enough = np.ndim(bad) != 2 or bad.shape[1] == X.shape[1]
    with pytest.raises(ValueError, match=message if wide_enough else "feature"):
        fitted.transform(bad)
    np.testing.assert_array_equal(fitted.transform(X), before)


@pytest.mark.parametrize("kind", MAPS)
def test_another_width_at_transform(kind):
    fitted = kind().fit(X)
    with pytest.raises(ValueError, match=rf"X has 3 features, but {kind.__name__} is expecting 5 features"):
        fitted.transform(X[:, :3])


@pytest.mark.parametrize("kind", [TensorSketch, RandomMaclaurin, LinearFeatures, TensorProduct])
@pytest.mark.parametrize("value", [0, -5, 2.5, "many", True, None])
def test_a_number_of_features_that_is_none(kind, value):
    with pytest.raises(ValueError, match=rf"{kind.__name__}: n_components must be an integer >= 1, got {value!r}"):
        kind(n_components=value).fit(X)


@pytest.mark.parametrize("kind", [TensorSketch, RandomMaclaurin])
def test_sizes_beyond_memory_and_beyond_integers(kind):
    with pytest.raises((ValueError, MemoryError), match=r"n_components must be below 2\^31, got 9223372036854775808"):
        kind(n_components=2**63).fit(X)
    with config_context(memory="1MiB"), pytest.raises(MemoryError, match=r"n_components=\d+ needs [\d.]+ GiB"):
        kind(n_components=100_000).fit_transform(X)


def test_output_beyond_this_machine_says_how_many_gib():
    sketch = TensorSketch(n_components=2**31 - 1).fit(X)
    rows = np.broadcast_to(X[:1], (100_000, 5))
    with pytest.raises(
        MemoryError, match=r"n_components=2147483647 needs 1,\d{3},\d{3}.\d GiB for 100000 rows of features"
    ):
        sketch.transform(rows)


@pytest.mark.parametrize(
    ("kind", "kernel", "message"),
    [
        (
            TensorSketch,
            "rbf",
            r"TensorSketch: kernel must be a kernel object, got the name 'rbf'. Write Gaussian\(gamma",
        ),
        (RandomMaclaurin, "polynomial", r"got the name 'polynomial'. Write Polynomial\(3, gamma=1.0, coef0=1.0\)"),
        (TensorSketch, 3, r"kernel must be a kernel object such as Polynomial\(2\), got 3"),
        (TensorSketch, Laplacian(gamma=1.0), r"must be a dot-product or a Gaussian kernel, got Laplacian\(gamma=1.0\)"),
    ],
)
def test_kernels_are_values_not_strings(kind, kernel, message):
    with pytest.raises(ValueError, match=message):
        kind(kernel).fit(X)


@pytest.mark.parametrize("kind", [TensorSketch, RandomMaclaurin])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_overflow_is_detected_and_the_row_named(kind, make):
    large = np.ones((600, 5), dtype=np.float32)
    large[577] = 1e20
    fitted = kind(Polynomial(2), n_components=16, random_state=0).fit(large)
    with pytest.raises(ValueError, match=r"the features of row 577 of X overflow float32: .* Scale X down"):
        fitted.transform(make(large))
    assert np.isfinite(fitted.transform(make(large.astype(np.float64)))).all()


def test_large_but_harmless_entries_are_not_refused():
    X = np.full((4, 3), 1e20, dtype=np.float32)  # their squares overflow, the linear sketch does not
    assert np.isfinite(LinearFeatures(n_components=2).fit_transform(X)).all()


@pytest.mark.parametrize("kind", MAPS)
def test_a_refused_fit_leaves_nothing_behind(kind):
    fresh = kind()
    with pytest.raises(ValueError, match="NaN"):
        fresh.fit(_with(np.nan))
    with pytest.raises(NotFittedError):
        fresh.transform(X)
    fitted = kind(random_state=0).fit(X)
    before = fitted.transform(X)
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(_with(np.nan)[:, :3])
    np.testing.assert_array_equal(fitted.transform(X), before)


_NUMBERS = pd.DataFrame({"size": [1.0, 2.0, 3.0], "code": ["1", "2.5", "3"]}, dtype=object)
_TEXT = _NUMBERS.assign(town=["Rome", "Oslo", "Rome"])
OF_TEXT = {
    "objects of pandas": _TEXT,
    "strings of pandas": _TEXT.astype({"town": "string"}),
    "categories of pandas": _TEXT.astype({"town": "category"}),
    "polars": pl.DataFrame({"size": [1.0, 2.0], "town": ["Rome", "Oslo"]}),
    "categories of polars": pl.DataFrame({"town": pl.Series(["Rome", "Oslo"], dtype=pl.Categorical)}),
    "lazy": pl.DataFrame({"size": [1.0, 2.0], "town": ["Rome", "Oslo"]}).lazy(),
}


@pytest.mark.parametrize("table", OF_TEXT.values(), ids=OF_TEXT.keys())
@pytest.mark.parametrize("kind", [TensorSketch, KernelRidge])
def test_text_in_a_frame_is_refused_with_its_column_and_who_takes_it(kind, table):
    with pytest.raises(
        ValueError, match=rf"{kind.__name__}: X holds text in column 'town', such as '(Rome|Oslo)'"
    ) as said:
        kind().fit(table, np.zeros(2 if isinstance(table, pl.DataFrame | pl.LazyFrame) else 3))
    for way_out in ("TunedClassifier", "TableModel", "OneHotEncoder"):
        assert way_out in str(said.value)


def test_text_in_an_array_of_objects_is_refused_with_the_number_of_its_column():
    with pytest.raises(ValueError, match=r"X holds text in column 1, such as 'Oslo'"):
        LinearFeatures().fit(np.array([[1.0, 2.0], [3.0, "Oslo"]], dtype=object))


def test_text_of_numbers_is_numbers_and_lazy_frames_are_collected():
    assert LinearFeatures(n_components=2).fit_transform(_NUMBERS).tolist() == [[1, 1], [2, 2.5], [3, 3]]
    lazy = pl.DataFrame({"a": [1.0, 2.0], "b": [0.5, 0.0]}).lazy()
    fitted = LinearFeatures(n_components=2).fit(lazy)
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    assert fitted.transform(lazy).tolist() == [[1, 0.5], [2, 0]]
