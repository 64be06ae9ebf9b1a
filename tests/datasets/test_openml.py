"""What OpenML gives becomes the arrays of the files."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from mercer.datasets import DatasetError, load, openml
from mercer.datasets.dataset import from_arrays
from mercer.datasets.loading import check

DATA = os.environ.get("MERCER_DATA")


needs_data = pytest.mark.skipif(not DATA, reason="MERCER_DATA names no folder of real data sets")


@pytest.fixture
def folders(monkeypatch, tmp_path):
    """Give empty folders for the data and for the cache."""
    monkeypatch.setenv("MERCER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path


def _banana(n_first=2924):
    y = np.repeat(["1", "2"], [n_first, 5300 - n_first])
    return SimpleNamespace(data=np.arange(10600.0).reshape(-1, 2), target=y, details={"name": "banana"})


def test_what_openml_gives_is_checked_before_it_is_kept(folders, monkeypatch):
    monkeypatch.setattr(openml, "fetch_openml", lambda **options: _banana(n_first=2000))
    with pytest.raises(DatasetError, match=r"classes of the train part have \[2000, 3300\]"):
        load("banana")
    other = _banana()
    other.details["name"] = "plantain"
    monkeypatch.setattr(openml, "fetch_openml", lambda **options: other)
    with pytest.raises(DatasetError, match="1460 is 'plantain'"):
        load("banana")
    assert not (folders / "cache").exists()


@needs_data
@pytest.mark.parametrize(
    ("name", "shift", "extra"), [("pendigits", 0, 0), ("usps", 1, 0), ("a9a", 0, 0), ("codrna", 0, 100)]
)
def test_the_recipes_of_openml_give_the_arrays_of_the_files(name, shift, extra):
    """OpenML lists train, test and sometimes more rows after each other, labels as text."""
    data = load(name)
    whole = data.joined()
    X, y = np.vstack([whole.X, whole.X[:extra]]), np.concatenate([whole.y, whole.y[:extra]]).astype(int) + shift
    bunch = SimpleNamespace(data=sparse.csr_matrix(X.astype(float)), target=y.astype(str))
    again = from_arrays(data.info, openml.arrays_of(data.info, bunch))
    check(again)
    for part in ("X", "y", "X_test", "y_test"):
        assert getattr(again, part).dtype == getattr(data, part).dtype
        np.testing.assert_array_equal(getattr(again, part), getattr(data, part))


@needs_data
def test_the_recipe_of_nursery_orders_the_categories_as_uci_does():
    data = load("nursery")
    rng = np.random.RandomState(0)
    categories, codes = {}, np.empty(data.X.shape)
    for j, (column, values) in enumerate(openml._NURSERY.items()):
        order = rng.permutation(len(values))
        categories[column] = [values[i] for i in order]
        codes[:, j] = np.argsort(order)[data.X[:, j]]
    labels = np.array(openml._NURSERY_CLASSES)[data.y]
    arrays = openml.arrays_of(data.info, SimpleNamespace(data=codes, target=labels, categories=categories))
    np.testing.assert_array_equal(arrays["X"], data.X)
    np.testing.assert_array_equal(arrays["y"], data.y)
    np.testing.assert_array_equal(arrays["classes"], data.extras["classes"])
    np.testing.assert_array_equal(arrays["X_onehot"], data.extras["X_onehot"])
