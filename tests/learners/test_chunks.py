"""Results of streams in chunks: scores without all predictions in memory, and predictions in a file."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

from mercer import (
    FOGDRegressor,
    Gaussian,
    KernelLogisticRegression,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
)
from mercer.data import as_blocks
from mercer.learners import chunks


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "_CHUNK_ROWS", 70)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((500, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(500), rng.rand(500)


def _factory(*parts):
    def blocks():
        for start in range(0, 500, 64):
            yield tuple(part[start : start + 64] for part in parts)

    return as_blocks(blocks)


@pytest.mark.parametrize("model", [KernelRidge(Gaussian(), random_state=0), FOGDRegressor(random_state=0)], ids=repr)
def test_r2_of_a_stream(rows, model):
    X, y, weight = rows
    model.fit(X, y)
    expected = r2_score(y, model.predict(X), sample_weight=weight)
    np.testing.assert_allclose(model.score(_factory(X, y, weight)), expected, rtol=1e-10)
    np.testing.assert_allclose(model.score(as_blocks(X, y)), r2_score(y, model.predict(X)), rtol=1e-10)


def test_accuracy_of_a_stream(rows):
    X, y, weight = rows
    labels = np.where(y > 0, "up", "down")
    model = KernelSVC(Gaussian(), random_state=0).fit(X, labels)
    expected = accuracy_score(labels, model.predict(X), sample_weight=weight)
    np.testing.assert_allclose(model.score(_factory(X, labels, weight)), expected, rtol=1e-12)


def test_a_stream_is_scored_without_all_predictions_in_memory(rows, monkeypatch):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).fit(X, y)
    sizes, predict = [], KernelRidge.predict
    monkeypatch.setattr(KernelRidge, "predict", lambda self, X: sizes.append(X.n_rows) or predict(self, X))
    model.score(as_blocks(X, y))
    assert sizes == [70] * 7 + [10]


def test_blocks_without_y_are_refused(rows):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).fit(X, y)
    for given in (X, as_blocks(X)):
        with pytest.raises(ValueError, match=r"score needs y: score\(X, y\)"):
            model.score(given)


METHODS = [
    (KernelRidge(Gaussian(), random_state=0), "predict"),
    (KernelRidgeClassifier(Gaussian(), random_state=0), "predict"),
    (KernelRidgeClassifier(Gaussian(), random_state=0), "decision_function"),
    (KernelLogisticRegression(Gaussian(), random_state=0), "predict_proba"),
]


@pytest.mark.parametrize(("model", "method"), METHODS)
def test_results_in_a_file_or_an_array(rows, tmp_path, model, method):
    X, y, _ = rows
    model.fit(
        X,
        y if isinstance(model, KernelRidge) else np.array(["a", "bc", "d"], dtype=object)[np.digitize(y, [-0.3, 0.3])],
    )
    expected = getattr(model, method)(as_blocks(X))
    path = tmp_path / "found.npy"
    for given in (X, as_blocks(X), _factory(X)):
        found = getattr(model, method)(given, out=path)
        assert isinstance(found, np.memmap)
        _same(found, expected)
        _same(np.load(path), expected)
    array = np.empty(expected.shape, dtype=expected.dtype)
    assert getattr(model, method)(_factory(X), out=array) is array
    _same(array, expected)
    assert [entry.name for entry in tmp_path.iterdir()] == ["found.npy"]


def _same(found, expected):
    assert found.shape == expected.shape
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(found.astype(expected.dtype), expected)


def test_an_interrupted_file_leaves_the_old_one(rows, tmp_path):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).fit(X, y)
    path = tmp_path / "found.npy"
    path.write_bytes(b"old")
    bad = X.copy()
    bad[300, 1] = np.nan
    with pytest.raises(ValueError, match="NaN at row 300"):
        model.predict(as_blocks(bad), out=path)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["found.npy"]


def test_wrong_outs_are_refused(rows, tmp_path):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"out must be an array, or the path of a .npy file"):
        model.predict(X, out=tmp_path / "found.csv")
    with pytest.raises(ValueError, match="out must be an array"):
        model.predict(X, out=7)
    with pytest.raises(ValueError, match=r"out has shape \(500, 2\)"):
        model.predict(X, out=np.empty((500, 2)))
    with pytest.raises(ValueError, match=r"out has shape \(499,\)"):
        model.predict(X, out=np.empty(499))
    with pytest.raises(ValueError, match="out has 501 rows, and X has 500"):
        model.predict(X, out=np.empty(501))
    with pytest.raises(ValueError, match="out takes the predictions alone"):
        model.predict(X, out=np.empty(500), return_std=True)


def test_far_rows_are_warned_of_once(rows, tmp_path):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).fit(X, y)
    far = X.copy()
    far[[3, 400]] = 1e3
    with pytest.warns(UserWarning, match="2 of 500 rows lie far") as caught:
        model.predict(far, out=tmp_path / "found.npy")
    assert len(caught) == 1
