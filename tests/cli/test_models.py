"""Model files that a command cannot use: damaged, forged, missing, or of no table."""

import io
import re

import numpy as np
import pytest

import mercer
from mercer.data import open_source
from mercer.learners.table_model import TableModel
from mercer.storage import container

from .conftest import MODEL


def _future(data):
    """Return a model file of a format that is still to come."""
    import io

    about, tensors = container.read(io.BytesIO(data))
    return bytes(container.to_bytes(about | {"format": 999}, tensors))


MODELS = {
    "future": (_future, "it has format 999"),
    "cut short": (lambda data: data[: len(data) // 2], "it is"),
    "changed": (lambda data: data[:-9] + b"x" + data[-8:], "it is damaged: its bytes"),
    "foreign": (lambda data: b"PK\x03\x04 something else", "it is not a mercer model file"),
    "empty": (lambda data: b"", "it is empty"),
}


@pytest.mark.parametrize("verb", ["predict", "inspect"])
@pytest.mark.parametrize("fault", MODELS)
def test_model_files_that_cannot_be_used(run, here, model, table, fault, verb):
    change, message = MODELS[fault]
    (here / "other.mercer").write_bytes(change(model.read_bytes()))
    done = run(verb, "other.mercer", *([table] if verb == "predict" else []))
    assert (done.exit_code, done.stdout) == (MODEL, "")
    assert f"other.mercer: {message}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _forged(data, change):
    """Return a file with changed contents and a right checksum."""
    about, tensors = container.read(io.BytesIO(data))
    change(about, about["model"]["state"]["learner_"]["state"], tensors)
    return bytes(container.to_bytes(about, tensors))


def _of_other_width(about, learner, tensors):
    learner["feature_map_"]["state"]["n_features_out"] = 7


def _without_weights(about, learner, tensors):
    tensors[learner["coef_"]["tensor"]] = np.zeros(3)


def _without_end(about, learner, tensors):
    tensors[learner["coef_"]["tensor"]][0] = np.nan


FORGERIES = {
    "width": (_of_other_width, r"it does not hold a sound model: .*n_features_out"),
    "shape": (_without_weights, r"a view of an array reaches beyond its memory"),
    "values": (_without_end, r"it does not hold a sound model: KernelRidgeClassifier: coef_ must hold finite numbers"),
}


@pytest.mark.parametrize("verb", ["predict", "inspect", "transform"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_model_files_end_in_one_line(run, here, model, table, forgery, verb):
    change, message = FORGERIES[forgery]
    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), change))
    done = run(verb, "other.mercer", *([] if verb == "inspect" else [table]))
    assert (done.exit_code, done.stdout) == (MODEL, "")
    assert re.search(f"other.mercer: {message}", done.stderr)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("verb", ["predict", "inspect"])
def test_buckets_outside_a_sketch_end_in_one_line_and_not_by_a_signal(shell, here, table, verb):
    """A sketch whose length has a prime factor beyond 5 is SciPy's work, which follows any index."""
    sketch = mercer.TensorSketch(mercer.Polynomial(2), n_components=101)
    learner = mercer.KernelRidgeClassifier(features=sketch, random_state=0)
    mercer.save(TableModel(learner).fit(open_source(str(table)), "label"), here / "model.mercer")

    def astray(about, learner, tensors):
        index = learner["feature_map_"]["state"]["index_"]["tensor"]
        tensors[index] = np.full_like(tensors[index], 2**30)

    (here / "model.mercer").write_bytes(_forged((here / "model.mercer").read_bytes(), astray))
    done = shell(verb, here / "model.mercer", *([table] if verb == "predict" else []))
    assert (done.returncode, done.stdout) == (MODEL, b"")
    assert b"index_ must hold integers below 101" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_is_not_there_or_of_no_table(run, here, table):
    assert run("predict", "no.mercer", table).exit_code == MODEL
    mercer.save(mercer.Gaussian(), "kernel.mercer")
    done = run("predict", "kernel.mercer", table)
    assert (done.exit_code, "it holds a Gaussian" in done.stderr) == (MODEL, True)
