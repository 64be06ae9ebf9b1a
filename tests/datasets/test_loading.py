"""Where a data set is found: the folder, the cache, the network."""

import hashlib
import os
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest

from mercer.datasets import DatasetError, catalogue, load, openml

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


def _offline(**options):
    raise URLError("no network")


@needs_data
@pytest.mark.parametrize("name", [n for n, info in catalogue().items() if info.sha256 and info.name != "flights3m"])
def test_every_set_at_hand_is_what_the_registry_says(name):
    data = load(name, download=False)
    assert data.info.name == name
    assert len(data.y) == data.info.n_train


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
