"""The learners of ``mercer train``, by name, with their kernels and maps."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.cli.learners import LearnerOptions

from .conftest import people


def test_a_kernel_expression_and_a_map_by_name(table, run, here):
    kernel = "Gaussian(gamma=0.5) + 0.1*Linear()"
    done = run("train", table, "-t", "label", "-o", "m.mercer", "-D", 32, "--kernel", kernel, "--json")
    assert done.exit_code == 0, done.stderr
    assert repr(mercer.load("m.mercer").learner_.kernel) == "Gaussian(gamma=0.5) + 0.1 * Linear()"
    done = run("train", table, "-t", "label", "-o", "n.mercer", "-D", 32, "--method", "nystroem", "--json")
    assert json.loads(run("inspect", "n.mercer", "--json").stdout)["feature_map"] == "Nystroem"


def _labels(lines):
    return [line.rpartition(",")[2] for line in lines[1:]]


@pytest.mark.parametrize(
    ("learner", "name"),
    [("svm", "KernelSVC"), ("logistic", "KernelLogisticRegression"), ("ridge", "KernelRidgeClassifier")],
)
def test_every_learner_classifies(table, run, here, learner, name):
    penalty = ("--alpha", 0.1) if learner == "ridge" else ()
    done = run("train", table, "-t", "label", "-o", "m.mercer", "-D", 64, "--model", learner, *penalty)
    assert done.exit_code == 0, done.stderr
    assert json.loads(run("inspect", "m.mercer", "--json").stdout)["class_name"] == name
    predicted = run("predict", "m.mercer", table, "--scores").stdout
    frame = pd.read_csv(io.StringIO(predicted))
    assert np.mean(frame["prediction"] == _labels(people(300))) > 0.85
    if learner == "logistic":
        np.testing.assert_allclose(frame["score_no"] + frame["score_yes"], 1, rtol=1e-5)


def test_a_learner_that_does_not_do_the_task(run, here):
    (here / "rows.csv").write_text("a,y\n" + "".join(f"{i},{i / 7}\n" for i in range(40)))
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "--learner", "logistic")
    assert (done.exit_code, "the task is regression, and no learner is given for it" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "tuned"),
        ({"n_components": 8}, "ridge"),
        ({"method": "nystroem"}, "ridge"),
        ({"alpha": "gcv"}, "ridge"),
        ({"C": 2.0}, "svm"),
        ({"learner": "logistic", "n_components": 8}, "logistic"),
    ],
)
def test_the_options_choose_the_learner(options, name):
    assert LearnerOptions(**options).name == name


def test_options_of_another_learner_are_refused(table, run, here):
    done = run("train", table, "-t", "label", "-o", "m.mercer", "--model", "tuned", "-D", 8)
    assert done.exit_code == 2
    assert "--n-components is an option of --model ridge and svm and logistic, not of tuned" in done.stderr
