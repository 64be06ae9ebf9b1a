"""The registry of data sets is complete."""

import pytest

import mercer
from mercer.datasets import DatasetError, catalogue, load

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
