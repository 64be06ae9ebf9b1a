"""``mercer inspect``: what a model file holds, without what a terminal would obey."""

import io
import json

from mercer.storage import container

from .conftest import MODEL


def _forged(data, change):
    """Return a file with changed contents and a right checksum."""
    about, tensors = container.read(io.BytesIO(data))
    change(about, about["model"]["state"]["learner_"]["state"], tensors)
    return bytes(container.to_bytes(about, tensors))


def _said_of_another_type(about, learner, tensors):
    about["classes"] = 5


def test_a_forged_description_is_refused_by_inspect(run, here, model):
    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), _said_of_another_type))
    done = run("inspect", "other.mercer")
    assert (done.exit_code, len(done.stderr.splitlines())) == (MODEL, 1)
    assert "classes must be a list, got 5" in done.stderr


def test_what_a_terminal_obeys_is_not_printed(run, here, model):
    def obeyed(about, learner, tensors):
        about["model"]["state"]["target_"] = "\x1b[2Jtarget\r"

    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), obeyed))
    done = run("inspect", "other.mercer")
    assert done.exit_code == 0
    assert "\\x1b[2Jtarget\\x0d" in done.stdout

    def named(about, learner, tensors):
        about.update(format=9, versions={"mercer": "\x1b[2J9"})

    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), named))
    assert "mercer \\x1b[2J9, and" in run("inspect", "other.mercer").stderr


def test_inspect_tells_columns_task_and_kernel(model, run):
    said = json.loads(run("inspect", model, "--json").stdout)
    assert said["numbers"] == ["height", "weight"]
    assert said["categories"] == {"city": ["Lima", "Oslo", "Rome"]}
    assert (said["task"], said["target"], said["classes"]) == ("classification", "label", ["no", "yes"])
    assert said["kernel"].startswith("Gaussian(gamma=")
    assert "height, weight" in run("inspect", model).stdout
