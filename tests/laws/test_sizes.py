"""Sizes beyond memory: counted before any work, for every map and every learner, copies and all."""

import time
import tracemalloc
import warnings

import numpy as np
import pytest
from public import LEARNERS, MAPS, make, rows, target

import mercer
from mercer import config_context
from mercer.learners.local.base import LocalLearner
from mercer.testing.estimators import public_classes

HUGE = 10**9
# Features of these follow from the rows, whatever is asked for.
BY_ROWS = {"LinearFeatures", "CategoryFeatures", "Nystroem", "SplitSketch", "MEKA"}
# Compositions that have no n_components of their own.
COMPOSED = {"Concatenate", "Normalize", "Rescale", "ScaleColumns", "SelectColumns", "Widened"}

# Learners whose landmarks and leaves are rows: there are never more of them.
IN_LEAVES = set(public_classes(LocalLearner))


@pytest.mark.parametrize("name", sorted(set(MAPS) - BY_ROWS - COMPOSED))
@pytest.mark.parametrize("n_columns", [3, 100])
def test_a_billion_features_are_refused_by_every_map(name, n_columns):
    X = rows(20, n_columns)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(MemoryError, match=r"n_components=1000000000 needs [\d,.]+ GiB .*[Ll]ower n_components"):
            make(name, n_components=HUGE).fit(X).transform(X)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - IN_LEAVES))
def test_a_billion_features_are_refused_by_every_learner_before_a_row_is_read(name):
    X, argument = rows(20, 3), "map_components" if name in ("KernelPCA", "KernelCCA") else "n_components"
    model = make(name, **{argument: HUGE})
    start = time.process_time()
    with pytest.raises(MemoryError, match=rf"{argument}=\d+ needs [\d,.]+ GiB .*Lower {argument}"):
        model.fit(X, target(model, X))
    assert time.process_time() - start < 5
    assert not [attribute for attribute in vars(model) if attribute.endswith("_")]


def test_a_stream_is_not_read_for_a_size_that_is_refused():
    read = []

    def factory():
        read.append(0)
        yield rows(20, 3), np.arange(20) % 2

    source = mercer.as_blocks(factory)
    read.clear()
    with pytest.raises(MemoryError, match="KernelLogisticRegression: n_components=1000000000 needs"):
        mercer.KernelLogisticRegression(n_components=HUGE).fit(source)
    assert not read


@pytest.mark.parametrize(
    "kernel", [mercer.Linear(), mercer.Hellinger(), mercer.SameCategory(), mercer.Linear() + mercer.Hellinger()]
)
def test_maps_that_need_few_features_are_not_refused(kernel):
    X = rows(20, 3)
    assert mercer.KernelRidge(kernel, n_components=HUGE).fit(X, X[:, 0]).predict(X).shape == (20,)


# Bytes beside what grows with the features: a few rows, their kernel values, the objects themselves.
SLACK = 2**19


def _peak(work):
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", sorted(set(MAPS) - BY_ROWS - COMPOSED - {"AdditiveFeatures"}))
@pytest.mark.parametrize("n_columns", [3, 100])
def test_a_fit_and_a_row_take_no_more_than_was_counted(name, n_columns):
    """With a budget of 0.9 of what they take, the map is refused: what is counted is not less."""
    X = rows(20, n_columns)

    def work():
        drawn = make(name, n_components=20_000)
        with config_context(threads=1):
            drawn.fit(X).transform(X[:1])

    _peak(work)  # tables of SciPy, and results that are recycled
    peak = _peak(work)
    if peak < 2 * SLACK:  # nothing that grows with the features but the features
        return
    with config_context(memory=int(0.9 * (peak - SLACK))), pytest.raises(MemoryError):
        work()


def test_a_preconditioner_beyond_memory_is_a_diagonal():
    """6 matrices of 48 x 48 in float64 take 110592 bytes; the answer is the same."""
    X = np.random.RandomState(0).rand(300, 4)
    model = mercer.KernelLogisticRegression(mercer.Gaussian(gamma=1.0), n_components=48, tol=1e-9, random_state=0)
    y = X[:, 0] + X[:, 1] > 1
    expected = model.fit(X, y).decision_function(X)
    with config_context(memory=110_000):
        found = model.fit(X, y).decision_function(X)
    assert model.solution_.details["passes"] > 0
    np.testing.assert_allclose(found, expected, atol=1e-5)
