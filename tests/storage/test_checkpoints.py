"""Files of checkpoints: two newest, damaged ones set aside, no litter, and errors of the disk in words."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from mercer.checkpoints import CheckpointError, CheckpointWarning, Step
from mercer.stats import ClassTotals, ColumnRanges, Moments, RowSample
from mercer.storage import CheckpointFolder, files


def steps(number):
    return [Step("survey", "done", {"n_rows": number}), Step("moments", "begun", None, "after 3 rows")]


@pytest.fixture
def slot(tmp_path):
    slot = CheckpointFolder(tmp_path).slot("Fit")
    yield slot
    slot.release()


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def again(slot, folder):
    slot.release()
    return CheckpointFolder(folder).slot("Fit")


def test_what_is_saved_is_loaded(slot):
    rows = np.random.RandomState(0).rand(50, 3).astype(np.float32)
    labels = np.array(["b", "a"] * 25)
    statistics = [
        Moments.of(3, 1).update(rows, np.ones(50)),
        RowSample(10, seed=3).update(rows),
        ClassTotals().update(labels, np.ones(50)),
        ColumnRanges.of(3).update(rows),
    ]
    slot.save(
        [Step("pass", "done", statistics), Step("loop", "loop", {"gap": np.inf, "rng": np.random.RandomState(1)})]
    )
    loaded, loop = slot.load()
    moments, sample, classes, ranges = loaded.value
    assert np.array_equal(moments.gram, statistics[0].gram)
    assert moments.merge(statistics[0]).weight == 100  # its arrays can be changed
    assert np.array_equal(sample.rows, statistics[1].rows)
    assert sample.rows.dtype == np.float32
    assert classes.classes.tolist() == ["a", "b"]
    assert np.array_equal(ranges.low, rows.min(axis=0))
    assert loop.value["gap"] == np.inf
    assert loop.value["rng"].randint(1000) == np.random.RandomState(1).randint(1000)


def test_two_newest_are_kept(slot, tmp_path):
    for number in range(5):
        slot.save(steps(number))
    assert names(tmp_path) == ["fit-1.000004.checkpoint", "fit-1.000005.checkpoint"]
    newer = again(slot, tmp_path)
    assert newer.load()[0].value == {"n_rows": 4}
    newer.save(steps(9))
    assert names(tmp_path) == ["fit-1.000005.checkpoint", "fit-1.000006.checkpoint"]
    newer.clear()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign"])
def test_a_damaged_record_is_set_aside(slot, tmp_path, damage):
    slot.save(steps(1))
    slot.save(steps(2))
    newest = tmp_path / "fit-1.000002.checkpoint"
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 1
    changed = {"cut": bytes(data[:-9]), "flipped": bytes(data), "empty": b"", "foreign": b"x,y\n1,2\n"}
    newest.write_bytes(changed[damage])
    with pytest.warns(CheckpointWarning, match="cannot be used: it is .* It is now .*damaged"):
        assert slot.load()[0].value == {"n_rows": 1}
    assert names(tmp_path) == ["fit-1.000001.checkpoint", "fit-1.000002.checkpoint.damaged"]


def test_two_damaged_records_leave_nothing(slot, tmp_path):
    slot.save(steps(1))
    slot.save(steps(2))
    for path in tmp_path.glob("*.checkpoint"):
        path.write_bytes(path.read_bytes()[:40])
    with pytest.warns(CheckpointWarning) as warned:
        assert slot.load() == []
    assert len(warned) == 2


def test_a_record_names_no_other_class(slot, tmp_path, monkeypatch):
    from mercer.storage import checkpoints

    slot.save([Step("pass", "done", ClassTotals())])
    monkeypatch.delitem(checkpoints._STATISTICS, "ClassTotals")
    with pytest.warns(CheckpointWarning, match="names the statistic 'ClassTotals'"):
        assert slot.load() == []


def test_unfinished_files_of_killed_processes_are_removed(slot, tmp_path):
    slot.save(steps(1))
    (tmp_path / ".fit-1.000002.checkpoint.0123abcd.part").write_bytes(b"half")
    (tmp_path / ".other.0123abcd.part").write_bytes(b"not ours")
    newer = again(slot, tmp_path)
    assert names(tmp_path) == [".other.0123abcd.part", "fit-1.000001.checkpoint"]
    newer.release()


def test_a_full_disk_is_a_warning_and_the_older_record_stays(slot, tmp_path, monkeypatch):
    slot.save(steps(1))

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.warns(CheckpointWarning, match="could not be written: No space left on device. The fit goes on"):
        slot.save(steps(2))
    slot.save(steps(3))  # says nothing more
    assert names(tmp_path) == ["fit-1.000001.checkpoint"]
    monkeypatch.undo()
    assert slot.load()[0].value == {"n_rows": 1}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CheckpointError, match="no permission to write to the folder"):
        CheckpointFolder(tmp_path)


def test_a_folder_that_cannot_be_written_is_refused_before_the_fit(tmp_path, monkeypatch):
    def refused(path, *rest):
        raise OSError(errno.EROFS, "Read-only file system")

    folder = CheckpointFolder(tmp_path)
    monkeypatch.setattr(files.os, "open", refused)
    with pytest.raises(CheckpointError, match="cannot be written: Read-only file system"):
        folder.slot("Fit")


def test_two_processes_do_not_share_a_record(slot, tmp_path):
    program = f"""
from mercer.storage import CheckpointFolder
CheckpointFolder({str(tmp_path)!r}).slot("Fit")
"""
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "another process is fitting with the checkpoint" in other.stderr
