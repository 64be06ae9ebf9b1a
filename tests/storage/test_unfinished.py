"""Outputs that are continued: what is recorded stays, what is not is cut off, and other facts are refused."""

import json
import re

import pytest

from mercer.checkpoints import CheckpointError
from mercer.storage.unfinished import UnfinishedFile, remove_lost_record

FACTS = {"the size of the input": "5"}


@pytest.fixture
def target(tmp_path):
    return tmp_path / "rows.csv"


def _begun(target):
    begun = UnfinishedFile(target, FACTS)
    begun.file.write(b"one")
    begun.save({"rows": 1})
    begun.file.write(b"lost")
    begun.close()


def test_what_is_not_recorded_is_cut_off(target):
    _begun(target)
    again = UnfinishedFile(target, FACTS)
    assert (again.state, again.file.tell()) == ({"rows": 1}, 3)
    again.file.write(b"two")
    again.finish()
    assert target.read_bytes() == b"onetwo"
    assert list(target.parent.iterdir()) == [target]


def test_only_the_first_bytes_may_be_recorded(target):
    begun = UnfinishedFile(target, FACTS)
    begun.file.write(b"one and a half")
    begun.save({"rows": 1}, 3)
    begun.close()
    again = UnfinishedFile(target, FACTS)
    again.finish()
    assert target.read_bytes() == b"one"


def test_nothing_recorded_begins_again(target):
    begun = UnfinishedFile(target, FACTS)
    begun.file.write(b"lost")
    begun.close()
    again = UnfinishedFile(target, FACTS)
    assert (again.state, again.file.tell()) == (None, 0)
    again.discard()
    assert list(target.parent.iterdir()) == []


def test_other_facts_are_refused_by_name(target):
    _begun(target)
    with pytest.raises(CheckpointError, match=r"the size of the input was 5 and is 6 now.*To begin again, delete"):
        UnfinishedFile(target, {"the size of the input": "6"})
    UnfinishedFile(target, FACTS).discard()  # nothing was lost, and no lock is left
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data, record: record.write_text("{"), "this record is damaged"),
        (lambda data, record: record.write_text(json.dumps({"facts": FACTS})), "this record is damaged"),
        (lambda data, record: data.write_bytes(b"o"), "it has fewer bytes than its record says"),
    ],
)
def test_damage_is_refused(target, damage, message):
    _begun(target)
    damage(target.with_name(".rows.csv.unfinished"), target.with_name(".rows.csv.unfinished.json"))
    with pytest.raises(CheckpointError, match=re.escape(message)):
        UnfinishedFile(target, FACTS)


def test_one_process_at_a_time(target):
    first = UnfinishedFile(target, FACTS)
    with pytest.raises(CheckpointError, match="another process is writing it"):
        UnfinishedFile(target, FACTS)
    first.close()
    UnfinishedFile(target, FACTS).close()


def test_a_file_that_came_in_between_stays(target):
    begun = UnfinishedFile(target, FACTS)
    begun.file.write(b"new")
    begun.save({"rows": 1})
    target.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        begun.finish()
    assert target.read_bytes() == b"precious"
    again = UnfinishedFile(target, FACTS)
    assert again.state == {"rows": 1}
    again.finish(overwrite=True)
    assert target.read_bytes() == b"new"


def test_the_record_of_a_complete_output_is_removed(target):
    _begun(target)
    target.with_name(".rows.csv.unfinished").replace(target)  # killed after this
    remove_lost_record(target)
    assert list(target.parent.iterdir()) == [target]
