"""Runs resume; faults of one cell or one file end neither the run nor the results."""

import errno
import json
import os

import pytest

from mercer import bench


def _files(folder, pattern="*"):
    return sorted(path.name for path in folder.rglob(pattern) if path.is_file())


def test_a_run_stores_every_cell_with_the_machine_and_the_second_runs_nothing(paper, calls):
    first = bench.run("author_2020")
    assert first.counts() == {"done": 5, "skipped": 1, "failed": 0, "missing": 0}
    files = list((paper / "results" / "full").rglob("*.json"))
    assert len(files) == 5
    content = json.loads(files[0].read_text())
    assert {"cpu", "cores", "memory", "core", "numpy"} <= set(content["machine"])
    before = calls()
    seen = []
    again = bench.run("author_2020", show=seen.append)
    assert calls() == before
    assert again.counts() == first.counts()
    assert all(progress.was_stored for progress in seen)
    assert [progress.done for progress in seen] == list(range(1, 7))


def test_again_runs_finished_cells(paper, calls):
    bench.run("author_2020", tables=["errors"])
    before = len(calls())
    bench.run("author_2020", tables=["errors"], again=True)
    assert len(calls()) == 2 * before


def test_ctrl_c_keeps_what_is_done_and_the_next_run_continues(paper, calls):
    def stop(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.run("author_2020", show=stop)
    assert calls() == ["good 10", "good 100"]
    assert len(_files(paper / "results")) == 2
    bench.run("author_2020")
    assert calls().count("good 10") == 1
    assert calls().count("bad 10") == 1


def test_ctrl_c_during_a_write_leaves_nothing_half_written(paper, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench.run("author_2020")
    assert _files(paper / "results") == []


def test_a_full_disk_is_one_sentence_and_the_next_run_continues(paper, monkeypatch, calls):
    real, writes = os.fsync, []

    def full(descriptor):
        writes.append(descriptor)
        if len(writes) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(bench.BenchError, match=r"cannot be written \(No space left on device\). What was finished"):
        bench.run("author_2020")
    assert len(_files(paper / "results")) == 1
    monkeypatch.setattr(os, "fsync", real)
    assert bench.run("author_2020").counts()["done"] == 5
    assert calls().count("good 10") == 1


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace("0.05", "0.04", 1),
        lambda text: '{"sha256": 1}',
    ],
    ids=["truncated", "empty", "another", "changed", "foreign"],
)
def test_a_corrupted_result_is_named_set_aside_and_run_again(paper, calls, corrupt):
    bench.run("author_2020", tables=["errors"], quick=True)
    path = next((paper / "results" / "quick" / "errors").glob("good-10-*.json"))
    good = path.read_text()
    path.write_text(corrupt(good))
    said = []
    assert bench.run("author_2020", tables=["errors"], quick=True, warn=said.append).counts()["done"] == 2
    assert len(said) == 1
    assert path.name in said[0]
    assert "will be run again" in said[0]
    assert path.with_suffix(".corrupt").exists()
    assert json.loads(path.read_text())["values"] == json.loads(good)["values"]
    assert calls().count("good 10") == 2


def test_a_result_that_is_not_text_is_set_aside(paper):
    bench.run("author_2020", tables=["errors"], quick=True)
    path = next((paper / "results" / "quick" / "errors").glob("good-10-*.json"))
    path.write_bytes(b"\xff\xfe\x00")
    said = []
    bench.run("author_2020", tables=["errors"], quick=True, warn=said.append)
    assert "it is not text" in said[0]


@pytest.mark.parametrize("look", [bench.verdicts, bench.report, bench.stored])
def test_looking_at_a_corrupted_result_names_it_too(paper, look):
    bench.run("author_2020", tables=["errors"])
    path = next((paper / "results" / "full" / "errors").glob("good-10-*.json"))
    path.write_text("{}")
    with pytest.warns(UserWarning, match=rf"{path.name}: it is not a result. Set aside as {path.stem}.corrupt"):
        look("author_2020")


def test_missing_data_skips_its_cells_and_is_tried_again(paper):
    toml = paper / "experiment.toml"
    toml.write_text(toml.read_text().replace('data = ["here"', 'data = ["gone"'))
    (paper / "claims.toml").write_text((paper / "claims.toml").read_text().replace('["here"', '["gone"'))
    assert bench.run("author_2020").counts() == {"done": 4, "skipped": 2, "failed": 0, "missing": 0}
    verdict = {entry.claim.id: entry.verdict for entry in bench.verdicts("author_2020")}["table1.gone"]
    assert verdict.status == "not run"
    assert verdict.reason == "data set 'gone' is not here; it can be had from the shop"
    functions = paper / "experiments.py"
    functions.write_text(functions.read_text().replace('== "gone"', '== "nothing"'))
    assert bench.run("author_2020").counts()["skipped"] == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("raise ValueError('broken')", "ValueError: broken"),
        ("return {'train_correct': float('nan')}", "NaN or infinity in train_correct"),
    ],
)
def test_a_failing_cell_is_recorded_and_the_run_goes_on(paper, line, reason):
    functions = paper / "experiments.py"
    functions.write_text(functions.read_text().replace("def error(cell):", f"def error(cell):\n    {line}"))
    outcomes = bench.run("author_2020")
    assert outcomes.counts() == {"done": 2, "skipped": 1, "failed": 3, "missing": 0}
    assert outcomes.outcomes["errors"][0].reason == reason


def test_a_missing_function_is_named(paper):
    (paper / "experiments.py").write_text("")
    with pytest.raises(bench.BenchError, match=r"experiments.py: there is no function 'error'"):
        bench.run("author_2020")


def test_nothing_run_is_all_missing(paper):
    assert bench.stored("author_2020").counts() == {"done": 0, "skipped": 1, "failed": 0, "missing": 5}
