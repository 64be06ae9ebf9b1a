"""``mercer inspect``: what a model file holds, without what a terminal would obey."""

import io
import json

import mercer
from mercer import KernelPCA
from mercer.storage import container

from .conftest import DATA, MODEL, OUTPUT, USAGE


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


def test_a_page_of_a_model_and_of_rows(run, here, model, table):
    done = run("inspect", model, "--report", "page.html")
    assert (done.exit_code, done.stdout) == (0, "a page written to page.html\n")
    page = (here / "page.html").read_text()
    assert "How good is it?" in page
    assert "On the rows given" not in page
    assert "error of the kernel" in page
    assert run("inspect", model, "--report", "page.html").exit_code == OUTPUT  # never without --force
    done = run("inspect", model, "--report", "page.html", "--data", table, "--force")
    assert done.exit_code == 0
    assert "On the rows given" in (here / "page.html").read_text()


def test_wrong_use_of_the_page_is_one_line(run, here, model, table):
    done = run("inspect", model, "--data", table)
    assert done.exit_code == USAGE
    assert "belong to --report" in done.stderr
    done = run("inspect", model, "--report", "p.html", "--data", "no.csv")
    assert done.exit_code == DATA
    done = run("inspect", model, "--report", "p.html", "--data", table, "--target", "no")
    assert (done.exit_code, len(done.stderr.splitlines())) == (DATA, 1)
    assert not (here / "p.html").exists()


def test_a_model_without_a_target_has_no_page(run, here):
    mercer.save(KernelPCA(random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), here / "pca.mercer")
    done = run("inspect", "pca.mercer", "--report", "p.html")
    assert done.exit_code == MODEL
    assert "predicts no target" in done.stderr
