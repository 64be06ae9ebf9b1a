"""Fits with a checkpoint: a fit that ends after any of its records goes on with the same bits, and other fits do not.

``scripts/kill_fits.py`` kills processes; here a fit ends by an error just after a record has been written.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mercer import (
    FOGDClassifier,
    FOGDRegressor,
    Gaussian,
    KernelCCA,
    KernelKMeans,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    KernelSVC,
    KernelSVR,
    NOGDClassifier,
    as_blocks,
    config_context,
)
from mercer.checkpoints import CheckpointError
from mercer.learners import (
    BudgetClassifier,
    BudgetRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    TableModel,
)
from mercer.storage.checkpoints import FitFiles

RNG = np.random.RandomState(0)
X = RNG.randn(1300, 3).astype(np.float32)
Y = np.sin(2 * X[:, 0]) + X[:, 1]
LABELS = np.where(Y > 0, "high", np.where(Y > -1, "middle", "low"))
KERNEL = Gaussian(gamma=0.3)
# Online learners take blocks of 4096 rows.
LONG, LONG_Y, LONG_LABELS = np.tile(X, (8, 1)), np.tile(Y, 8), np.tile(LABELS, 8)
# Names, learners, targets and memory budgets: small ones ask for passes over the rows.
LEARNERS = [
    ("ridge", KernelRidge(KERNEL, n_components=64, random_state=0), Y, None),
    ("ridge, one alpha by products", KernelRidge(KERNEL, n_components=200, alpha=10.0, random_state=0), Y, "1.5MB"),
    (
        "ridge, a path by products",
        KernelRidge(KERNEL, n_components=200, alpha="gcv", alphas=(10.0, 30.0), random_state=0),
        Y,
        "1.5MB",
    ),
    ("logistic", KernelLogisticRegression(KERNEL, n_components=16, C=0.1, random_state=0), LABELS, None),
    ("squared hinge", KernelSVC(KERNEL, n_components=64, random_state=0), LABELS, "500kB"),
    ("hinge", KernelSVC(KERNEL, n_components=64, loss="hinge", tol=0.1, random_state=0), LABELS, "700kB"),
    ("insensitive, averaged", KernelSVR(KERNEL, n_components=16, tol=0.5, max_iter=4, random_state=0), Y, "100kB"),
    ("k-means", KernelKMeans(KERNEL, n_clusters=5, n_components=32, n_init=2, max_iter=6, random_state=0), None, None),
    (
        "k-means by passes",
        KernelKMeans(KERNEL, n_clusters=5, n_components=32, max_iter=6, random_state=0),
        None,
        "250kB",
    ),
    ("mini-batches", KernelKMeans(KERNEL, n_clusters=5, n_components=32, batch_size=500, random_state=0), None, None),
    ("PCA", KernelPCA(KERNEL, n_components=3, map_components=32, random_state=0), None, None),
    ("FOGD", FOGDClassifier(KERNEL, n_components=32, random_state=0), LONG_LABELS, None),
    ("FOGD, Newton steps", FOGDRegressor(KERNEL, n_components=32, update="newton", random_state=0), LONG_Y, None),
    ("NOGD", NOGDClassifier(KERNEL, n_components=16, random_state=0), LONG_LABELS, None),
    ("budget", BudgetClassifier(KERNEL, budget=30, random_state=0), LONG_LABELS, None),
    ("budget, Newton", BudgetRegressor(KERNEL, update="newton", budget=20, random_state=0), LONG_Y, None),
    ("kitchen sinks", KitchenSinksClassifier(n_components=16, random_state=0), LABELS, None),
    ("kitchen sinks, squares", KitchenSinksRegressor(n_components=16, random_state=0), Y, None),
]


WITHOUT_BITS = ("feature_map_", "y_feature_map_", "state_", "solution_")
# Properties that stand for what is left out.
ALSO = ("coef_",)


class Ended(BaseException):
    """The process has ended."""


@pytest.fixture
def ends(monkeypatch):
    """Return a function that lets the next fit end after a number of records."""
    save = FitFiles.save
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # no power fails here, and there are many records

    def after(n_records):
        left = [n_records]

        def saved(self, steps):
            save(self, steps)
            left[0] -= 1
            if left[0] == 0:
                raise Ended

        monkeypatch.setattr(FitFiles, "save", saved)
        return left

    return after


def bits(model):
    names = [name for name in vars(model) if name.endswith("_") and name not in WITHOUT_BITS]
    names += [name for name in ALSO if hasattr(model, name)]
    return {name: np.asarray(getattr(model, name)).tobytes() for name in names}


def fitted(model, y, memory, folder=None):
    model = type(model)(**model.get_params(deep=False))
    settings = {} if folder is None else {"checkpoint": folder, "every": 0.0}
    with config_context(memory=memory, threads=2, block_rows=256, **settings):
        return model.fit(X) if y is None else model.fit(X if len(y) == len(X) else LONG, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "y", "memory"), [row[1:] for row in LEARNERS], ids=[row[0] for row in LEARNERS])
def test_a_fit_goes_on_with_the_same_bits(model, y, memory, ends, tmp_path, capsys):
    expected = bits(fitted(model, y, memory))
    left = ends(10**9)
    assert bits(fitted(model, y, memory, tmp_path)) == expected
    n_records = 10**9 - left[0]
    assert n_records >= 2
    assert list(tmp_path.iterdir()) == []
    for number in sorted({1, n_records // 2, n_records}):
        ends(number)
        with pytest.raises(Ended):
            fitted(model, y, memory, tmp_path)
        left = ends(10**9)
        assert bits(fitted(model, y, memory, tmp_path)) == expected
        assert 10**9 - left[0] <= n_records - number // 2  # it did not begin again
        assert f"{type(model).__name__} goes on" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []


def test_a_fit_that_ends_again_and_again(ends, tmp_path):
    model = KernelLogisticRegression(KERNEL, n_components=16, C=0.1, random_state=0)
    left = ends(10**9)
    expected = bits(fitted(model, LABELS, None, tmp_path))
    n_records, n_ends = 10**9 - left[0], 0
    while True:
        ends(n_records // 5)  # what is repeated after an end is less than that
        try:
            found = fitted(model, LABELS, None, tmp_path)
        except Ended:
            n_ends += 1
            continue
        break
    assert bits(found) == expected
    assert 4 <= n_ends <= 8


def test_both_views_of_cca_go_on(ends, tmp_path):
    def fit(**settings):
        with config_context(**settings):
            return KernelCCA(KERNEL, KERNEL, map_components=16, random_state=0).fit(X, X[:, :2] ** 2)

    expected = bits(fit())
    ends(3)
    with pytest.raises(Ended):
        fit(checkpoint=tmp_path, every=0)
    ends(10**9)
    assert bits(fit(checkpoint=tmp_path, every=0)) == expected


@pytest.mark.parametrize(
    ("model", "y"), [(KernelRidge(KERNEL, n_components=32), Y), (FOGDRegressor(KERNEL, n_components=32), LONG_Y)]
)
def test_a_seed_that_is_not_given_is_drawn_once(model, y, ends, tmp_path):
    ends(10**9)
    np.random.seed(3)  # noqa: NPY002 - what random_state=None draws from
    expected = bits(fitted(model, y, None, tmp_path))
    np.random.seed(3)  # noqa: NPY002
    ends(2)
    with pytest.raises(Ended):
        fitted(model, y, None, tmp_path)
    np.random.seed(4)  # noqa: NPY002
    ends(10**9)
    again = fitted(model, y, None, tmp_path)
    assert bits(again) == expected
    assert again.random_state is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": 2.0}, "alpha was 1.0 and is 2.0 now"),
        ({"n_components": 16}, "n_components was 32 and is 16 now"),
        ({"kernel": Gaussian(gamma=0.5)}, r"kernel was Gaussian\(gamma=0.3\) and is Gaussian\(gamma=0.5\) now"),
        ({"random_state": 1}, "random_state was 0 and is 1 now"),
    ],
)
def test_other_parameters_are_refused(change, words, ends, tmp_path):
    model = KernelRidge(KERNEL, n_components=32, alpha=1.0, random_state=0)
    ends(2)
    with pytest.raises(Ended):
        fitted(model, Y, None, tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(CheckpointError, match=f"is the checkpoint of another fit: {words}"):
        fitted(model.set_params(**change), Y, None, tmp_path)
    assert sorted(tmp_path.iterdir()) == before  # what was kept stays


def test_other_rows_classes_and_versions_are_refused(ends, tmp_path, monkeypatch):
    model = KernelRidge(KERNEL, n_components=32, random_state=0)
    ends(3)
    with pytest.raises(Ended):
        fitted(model, Y, None, tmp_path)
    with pytest.raises(CheckpointError, match="the hash of X, y and the weights was"):
        fitted(model, Y + 1, None, tmp_path)
    with pytest.raises(CheckpointError, match="the class was KernelRidge and is KernelSVR now"):
        fitted(KernelSVR(KERNEL), Y, None, tmp_path)
    from mercer.learners import checkpointed

    versions = {**checkpointed.describe(), "mercer": "9.9"}
    monkeypatch.setattr(checkpointed, "describe", lambda: versions)
    with pytest.raises(CheckpointError, match=r"the version of mercer was .* and is 9\.9 now"):
        fitted(model, Y, None, tmp_path)


def test_other_blocks_are_refused(ends, tmp_path):
    model = KernelRidge(KERNEL, n_components=32, random_state=0)
    ends(5)
    with pytest.raises(Ended):
        fitted(model, Y, None, tmp_path)
    with (
        pytest.raises(CheckpointError, match="block_rows was 256 and is 100 now"),
        config_context(checkpoint=tmp_path, block_rows=100),
    ):
        KernelRidge(KERNEL, n_components=32, random_state=0).fit(X, Y)


def test_n_jobs_and_verbose_may_change(ends, tmp_path, capsys):
    model = KernelRidge(KERNEL, n_components=32, random_state=0)
    expected = bits(fitted(model, Y, None))
    ends(3)
    with pytest.raises(Ended):
        fitted(model, Y, None, tmp_path)
    ends(10**9)
    assert bits(fitted(model.set_params(n_jobs=1), Y, None, tmp_path)) == expected


def test_the_second_fit_of_a_program_goes_on(ends, tmp_path):
    first, second = (
        KernelRidge(KERNEL, n_components=16, random_state=0),
        KernelPCA(KERNEL, n_components=2, map_components=16, random_state=0),
    )

    def program():
        with config_context(checkpoint=tmp_path, every=0):
            return bits(first.fit(X, Y)), bits(second.fit(X))

    left = ends(10**9)
    expected = program()
    n_first = 10**9 - left[0] - 1
    ends(n_first)
    with pytest.raises(Ended):
        program()
    assert {path.name.partition(".")[0] for path in tmp_path.glob("fit-*")} == {"fit-2"}
    ends(10**9)
    assert program() == expected


def test_a_stream_is_counted_although_it_is_not_read_again(ends, tmp_path):
    def fit():
        pieces = [(X[i : i + 700], Y[i : i + 700]) for i in range(0, len(X), 700)]
        with config_context(checkpoint=tmp_path, every=0):
            return KernelRidge(KERNEL, n_components=32, random_state=0).fit(as_blocks(lambda: iter(pieces)))

    ends(10**9)
    expected = bits(fit())
    ends(4)
    with pytest.raises(Ended):
        fit()
    ends(10**9)
    assert bits(fit()) == expected


@pytest.mark.parametrize("learner", ["ridge", "tuned"])
def test_models_of_tables_go_on(learner, ends, tmp_path):
    path = tmp_path / "table.csv"
    np.savetxt(path, np.column_stack([X[:600], Y[:600]]), delimiter=",", header="a,b,c,y", comments="", fmt="%.6f")

    def fit():
        regressor = KernelRidge(KERNEL, n_components=32, random_state=0) if learner == "ridge" else None
        with config_context(checkpoint=tmp_path / "run", every=0, threads=1):
            return TableModel(regressor=regressor, test_fraction=0.25).fit(path, "y").predict(path)

    left = ends(10**9)
    expected = fit()
    n_records = 10**9 - left[0]
    for number in (2, n_records // 2):
        ends(number)
        with pytest.raises(Ended):
            fit()
        ends(10**9)
        assert np.array_equal(fit(), expected)
    assert list((tmp_path / "run").iterdir()) == []


def test_processes_that_are_killed_go_on():
    """A small part of the script, which kills hundreds of times by hand: 2 kills for each of 3 learners."""
    script = Path(__file__).parents[2] / "scripts" / "kill_fits.py"
    chosen = ["ridge", "k-means in passes", "FOGD"]
    done = subprocess.run(
        [sys.executable, str(script), "--kills", "6", "--seed", "1", "--only", *chosen],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 faults" in done.stdout
