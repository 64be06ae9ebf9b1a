"""The papers' preparations: what they promise of lengths, ranges and labels."""

import numpy as np
import pytest

from mercer.datasets import PREPARATIONS, DatasetError, catalogue, prepare
from mercer.datasets.dataset import Dataset


def _drawn(name, n=300):
    info = catalogue()[name]
    rng = np.random.RandomState(0)
    labels = np.arange(n) % (7 if name == "covtype" else 2) + 1
    X = rng.randint(0, 200, size=(n, 12)).astype(np.uint8)
    X[:, -2:] = 0  # as the last pixels of MNIST
    test = (X[::3], labels[::3]) if info.n_test else (None, None)
    return Dataset(info, X, labels, *test)


@pytest.mark.parametrize("row", PREPARATIONS, ids=lambda row: f"{row.paper}-{row.dataset}")
def test_every_preparation_runs_and_gives_float32(row):
    assert row.dataset in catalogue()
    assert row.about.endswith(".")
    data = row(_drawn(row.dataset))
    assert data.X.dtype == np.float32
    assert np.isfinite(data.X).all()
    assert data.X_test is None or data.X_test.shape[1] == data.X.shape[1]
    if row.paper == "pham_pagh_2013":
        np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, rtol=1e-5)
    if row.paper == "kar_karnick_2012":
        assert np.linalg.norm(data.X, axis=1).max() == pytest.approx(1, rel=1e-5)
        assert data.y_test is not None


def test_pham_and_pagh_on_covertype_and_adult():
    covtype = prepare("pham_pagh_2013", "covtype", _drawn("covtype"))
    assert set(np.unique(covtype.y)) == {-1, 1}
    assert covtype.X.min() >= 0
    again = prepare("pham_pagh_2013", "covtype", _drawn("covtype"))
    np.testing.assert_array_equal(covtype.X, again.X)
    adult = prepare("pham_pagh_2013", "a9a", _drawn("a9a"))
    assert adult.y_test is None
    assert len(adult.y) == 400
    assert prepare("pham_pagh_2013", "mnist", _drawn("mnist")).X.shape[1] == 10


def test_scales_are_learned_on_the_training_rows():
    data = _drawn("letter")
    prepared = prepare("soni_garg", "letter", Dataset(data.info, data.X, data.y, data.X_test + 50, data.y_test))
    np.testing.assert_allclose(prepared.X[:, :10].mean(axis=0), 0, atol=1e-4)
    assert (prepared.X_test[:, :10].mean(axis=0) > 0.5).all()


def test_an_unknown_preparation_lists_those_there_are():
    with pytest.raises(DatasetError, match="pham_pagh_2013 a9a"):
        prepare("pham_pagh_2013", "banana", _drawn("banana"))
