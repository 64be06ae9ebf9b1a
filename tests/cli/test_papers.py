"""papers: a paper of one experiment, run, judged and shown."""

import json
from pathlib import Path

import pytest

EXPERIMENT = """
[paper]
title = "A small paper"
authors = "Nobody"
year = 2020
summary = "It says that two and two are four."

[[experiment]]
name = "table1"
title = "Table 1"
function = "add"
grid = { b = [1, 2] }
"""
CLAIMS = """
[[claim]]
id = "four"
source = "Table 1"
says = "Two and two are four."
experiment = "table1"
metric = "sum"
where = { b = 2 }
published = 4.0
tolerance = 0.5
because = "of rounding"
better = "higher"
"""
CODE = "def add(settings):\n    return {'sum': 2 + settings['b']}\n"


@pytest.fixture
def papers(here, monkeypatch):
    folder = here / "papers" / "small_2020"
    folder.mkdir(parents=True)
    (folder / "experiment.toml").write_text(EXPERIMENT)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "experiments.py").write_text(CODE)
    monkeypatch.setenv("MERCER_PAPERS", str(here / "papers"))
    return folder


def test_the_list(run, papers):
    assert json.loads(run("papers", "list", "--json").stdout)["papers"][0]["tables"] == ["table1"]
    assert run("papers", "list").stdout.startswith("small_2020: A small paper, Nobody (2020)")


def test_a_run_is_judged_shown_and_resumed(run, papers):
    done = run("papers", "run", "small_2020", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["cells"]["done"] == 2
    assert [claim["verdict"] for claim in said["claims"]] == ["reproduced"]
    assert "Two and two are four" in Path(said["report"]).read_text()
    again = run("papers", "run", "small_2020")
    assert again.stderr.count("stored") == 2
    assert "1 reproduced" in run("papers", "verdicts", "small_2020").stdout
    assert run("papers", "report", "small_2020", "-o", "page.html").exit_code == 0


@pytest.mark.parametrize("arguments", [["run", "other_1999"], ["run", "small_2020", "--table", "table9"]])
def test_an_unknown_paper_or_table_shows_the_list(run, papers, arguments):
    done = run("papers", *arguments)
    assert done.exit_code == 3
    assert "small_2020" in done.stderr or "table1" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_papers_the_way_out_is_named(run, here, monkeypatch):
    monkeypatch.setenv("MERCER_PAPERS", str(here / "nothing"))
    done = run("papers", "list")
    assert (done.exit_code, "there is no such folder" in done.stderr) == (3, True)


def test_ctrl_c_keeps_the_finished_cells_and_says_so(run, papers):
    (papers / "experiments.py").write_text(
        "def add(settings):\n    if settings['b'] == 2:\n        raise KeyboardInterrupt\n    return {'sum': 3}\n"
    )
    stopped = run("papers", "run", "small_2020")
    assert stopped.exit_code == 130
    assert "the finished cells are kept" in stopped.stderr
    (papers / "experiments.py").write_text(CODE)
    again = run("papers", "run", "small_2020")
    assert again.exit_code == 0
    assert "1/2 table1: b 1: stored" in again.stderr


def test_a_missing_data_set_is_named_with_what_it_leaves_out(run, papers):
    (papers / "experiments.py").write_text(
        "from mercer.bench import MissingDataError\n"
        "def add(settings):\n    raise MissingDataError('data set gone: it can be had from the shop')\n"
    )
    done = run("papers", "run", "small_2020", "--json")
    assert done.exit_code == 0
    assert "claims not run: table1: b 1; table1: b 2. data set gone" in done.stderr
    assert json.loads(done.stdout)["claims"][0]["verdict"] == "not run"


def test_without_a_name_the_pages_of_all_papers_are_written(run, papers):
    done = run("papers", "report", "--json")
    assert [page["paper"] for page in json.loads(done.stdout)["reports"]] == ["small_2020"]
    assert run("papers", "report", "-o", "page.html").exit_code == 2


def test_results_that_cannot_be_written_are_an_output_that_cannot(run, papers):
    (papers / "file").write_text("")
    done = run("papers", "run", "small_2020", "--results", papers / "file" / "results")
    assert (done.exit_code, done.stdout) == (5, "")
    assert "cannot be written (Not a directory). What was finished is kept: free some space, or name" in done.stderr


def test_a_corrupted_result_is_named_by_whoever_looks(run, papers):
    assert run("papers", "run", "small_2020").exit_code == 0
    path = next((papers / "results" / "full" / "table1").glob("*.json"))
    path.write_text("{")
    done = run("papers", "verdicts", "small_2020")
    assert done.exit_code == 0
    assert f"{path.name}: it is not a result. Set aside as {path.stem}.corrupt" in done.stderr
