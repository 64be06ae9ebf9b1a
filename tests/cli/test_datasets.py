"""datasets: the registry listed, a set described and exported."""

import json
import os

import pandas as pd
import pytest


def test_the_list_says_what_is_there_and_what_is_here(run, here, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(here))
    monkeypatch.setenv("MERCER_CACHE", str(here))
    said = json.loads(run("datasets", "list", "--json").stdout)["datasets"]
    by_name = {entry["name"]: entry for entry in said}
    assert by_name["mnist"]["n_train"] == 60000
    assert by_name["mnist"]["path"] is None
    assert "mnist" in run("datasets", "list").stdout


def test_one_is_described_by_its_name_or_an_alias(run):
    said = json.loads(run("datasets", "show", "adult", "--json").stdout)
    assert (said["name"], said["n_features"]) == ("a9a", 123)
    assert said["licence"]
    assert "recipe: " in run("datasets", "show", "a9a").stdout


@pytest.mark.parametrize("arguments", [["show"], ["export", "-o", "out.csv"]])
def test_an_unknown_name_names_the_nearest(run, here, arguments):
    done = run("datasets", *arguments, "mnst")
    assert (done.exit_code, "Did you mean 'mnist'?" in done.stderr) == (3, True)
    assert list(here.iterdir()) == []


def test_a_set_that_is_not_here_is_one_line(run, here, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(here))
    monkeypatch.setenv("MERCER_CACHE", str(here))
    done = run("datasets", "export", "banana", "-o", "out.csv", "--no-download")
    assert (done.exit_code, len(done.stderr.splitlines())) == (3, 1)
    assert list(here.iterdir()) == []


@pytest.mark.skipif("MERCER_DATA" not in os.environ, reason="MERCER_DATA names no folder of data sets")
def test_an_exported_set_can_be_trained_on_and_compared(run, here):
    done = run("datasets", "export", "banana", "-o", "banana.parquet", "--json")
    assert json.loads(done.stdout)["rows"] == 5300
    assert list(pd.read_parquet("banana.parquet")) == ["x0", "x1", "y"]
    done = run("train", "banana.parquet", "-t", "y", "-o", "m.mercer", "-D", 128, "--test-fraction", 0.3, "--json")
    assert json.loads(done.stdout)["score"] > 0.87
    done = run("compare", "banana", "--rows", 300, "-D", 16, "--no-report", "--json")
    assert json.loads(done.stdout)["train_rows"] == 210
