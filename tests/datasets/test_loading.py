"""The registry, where a data set is looked for, and that what comes is what the registry says."""

import hashlib
import os
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse

import mercer
from mercer.datasets import DatasetError, Graph, catalogue, load, openml
from mercer.datasets.dataset import from_arrays
from mercer.datasets.loading import check

DATA = os.environ.get("MERCER_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="MERCER_DATA names no folder of real data sets")
PAPERS = [
    "adult",
    "mnist",
    "gisette",
    "covertype",
    "nursery",
    "cod-rna",
    "ijcnn",
    "banana",
    "usps",
    "letter",
    "magic04",
]
PAPERS += ["pendigits", "cifar-10"]


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


def _offline(**options):
    raise URLError("no network")


def test_every_row_of_the_registry_is_complete():
    for name, info in catalogue().items():
        assert info.name == name
        assert all([info.title, info.task, info.licence, info.source, info.recipe, info.file])
        assert info.sha256 is None or len(info.sha256) == 64
        assert sum(info.counts.get("train", [info.n_train])) == info.n_train
        assert sum(info.counts.get("test", [info.n_test])) == info.n_test
        assert info.sha256 or info.openml, f"{name} can be had from nowhere"


def test_all_of_the_papers_sets_are_registered_under_the_papers_names():
    shapes = {name: catalogue()[name].shape for name in PAPERS}
    assert shapes["adult"] == (48842, 123)
    assert shapes["gisette"] == (7000, 5000)
    assert shapes["cifar-10"] == (60000, 3072)
    assert all(catalogue()[name].openml for name in PAPERS)
    assert mercer.datasets.load is load


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(DatasetError, match=r"there is no data set 'mnits'\. Did you mean 'mnist'"):
        load("mnits")


@needs_data
@pytest.mark.parametrize("name", [n for n, info in catalogue().items() if info.sha256 and info.name != "flights3m"])
def test_every_set_at_hand_is_what_the_registry_says(name):
    data = load(name, download=False)
    assert data.info.name == name
    assert len(data.y) == data.info.n_train


@needs_data
def test_sets_that_are_not_plain_arrays():
    mutag = load("mutag")
    assert isinstance(mutag.X[0], Graph)
    assert np.mean([len(graph.nodes) for graph in mutag.X]) == pytest.approx(17.93, abs=0.005)
    assert np.mean([len(graph.edges) / 2 for graph in mutag.X]) == pytest.approx(19.79, abs=0.005)
    assert all(graph.edges.max() < len(graph.nodes) for graph in mutag.X)
    reuters = load("reuters")
    assert sparse.issparse(reuters.X)
    np.testing.assert_allclose(sparse.linalg.norm(reuters.X[:50], axis=1), 1, rtol=1e-5)
    assert len(load("newsgroups20").X_test) == 7532
    assert {len(row) for row in load("splice").X} == {60}
    assert load("adult").joined().X.shape == (48842, 123)


def test_flights_become_columns_of_the_calendar():
    minute = np.array([0, 31 * 1440 + 90], dtype=np.int32)  # Monday 1 January 2001, and Thursday 1 February, 1:30
    ends = {"origin": np.array([0, 1]), "dest": np.array([1, 0])}
    places = {"lat": np.array([10.0, 20.0]), "lon": np.array([-1.0, -2.0])}
    arrays = {"minute": minute, "distance": np.array([5, 6]), "delay": np.array([7, -8]), **ends, **places}
    data = from_arrays(catalogue()["flights"], arrays)
    np.testing.assert_array_equal(data.X, [[1, 1, 0, 0, 5, 10, -1, 20, -2], [2, 1, 3, 90, 6, 20, -2, 10, -1]])
    np.testing.assert_array_equal(data.y, [7, -8])


def test_the_folder_comes_before_the_cache_and_the_cache_before_the_network(folders, monkeypatch):
    monkeypatch.setattr(openml, "fetch_openml", lambda **options: _banana())
    fresh = load("banana")
    np.testing.assert_array_equal(fresh.X[0], [0, 1])
    assert fresh.X.dtype == np.float32
    assert sorted(np.unique(fresh.y)) == [-1, 1]
    monkeypatch.setattr(openml, "fetch_openml", _offline)
    np.testing.assert_array_equal(load("banana").X, fresh.X)  # from the cache
    np.savez(folders / "data" / "banana.npz", X=fresh.X + 1, y=fresh.y)
    with pytest.raises(DatasetError, match="SHA-256 differs"):
        load("banana")
    np.testing.assert_array_equal(load("banana", verify=False).X, fresh.X + 1)


def test_a_file_of_the_cache_that_has_changed_is_refused(folders, monkeypatch):
    monkeypatch.setattr(openml, "fetch_openml", lambda **options: _banana())
    load("banana")
    path = folders / "cache" / "banana.npz"
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(DatasetError, match=r"banana\.npz is not the file"):
        load("banana")
    path.write_bytes(b"PK")
    path.with_suffix(".sha256").write_text(hashlib.sha256(b"PK").hexdigest())
    with pytest.raises(DatasetError, match="cannot be read"):
        load("banana")


def test_without_network_or_file_the_error_says_where_to_put_it(folders, monkeypatch):
    monkeypatch.setattr(openml, "fetch_openml", _offline)
    with pytest.raises(DatasetError, match=r"put gisette\.npz in the folder named by MERCER_DATA"):
        load("gisette")
    with pytest.raises(DatasetError, match="is not at OpenML"):
        load("basehock")
    with pytest.raises(DatasetError, match="download=False"):
        load("gisette", download=False)
    assert not list(Path(folders / "data").iterdir())


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


def test_a_split_of_ones_own_is_stratified():
    info = catalogue()["banana"]
    data = from_arrays(info, {"X": np.arange(200.0).reshape(100, 2), "y": np.repeat([-1, 1], [80, 20])})
    parts = data.split(0.25)
    assert (len(parts.y), len(parts.y_test)) == (75, 25)
    assert (parts.y_test == 1).sum() == 5
    assert parts.split(0.5) is parts
    np.testing.assert_array_equal(np.sort(parts.joined().X[:, 0]), data.X[:, 0])
