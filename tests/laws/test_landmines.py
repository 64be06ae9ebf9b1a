"""Whatever a parameter or an input holds, a call ends soon: with finite results, or with one error that names it."""

import inspect
import os
import signal
import threading
import warnings
from contextlib import contextmanager
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from public import ESTIMATORS, KERNELS, LEARNERS, MAPS, PUBLIC, TUNED, make, results, rows, target

import mercer
from mercer import KernelRidge, as_blocks, config_context, get_config

X = rows(40)
SECONDS = 60  # of wall time, on a busy machine; each case takes some hundredths of a second
DATES = (1e6 * X).astype("datetime64[s]")
# Parameters that are no numbers, and counts of repetitions: who asks for 10^30 of these gets what was asked.
NOT_NUMBERS = {"kernel", "y_kernel", "features", "y_features", "random_state", "verbose", "warm_start", "class_weight"}
REPEATED = {"n_init", "max_iter"}


@contextmanager
def in_time():
    """Fail what does not end."""

    def stop(*args):
        raise AssertionError("no end in sight")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ends_well(work, *, errors=(ValueError, MemoryError)):
    """Run: finite results or a typed error, which is returned, and at most one warning, of our own."""
    with in_time(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found, message = work(), ""
        except errors as error:
            found, message = {}, f"{type(error).__name__}: {error}"
    for what, values in found.items():
        assert values.dtype.kind != "f" or np.isfinite(values).all(), f"{what} is not finite"
    assert len(said) <= 1, [str(warning.message) for warning in said]
    assert not any(issubclass(warning.category, RuntimeWarning) for warning in said), said[0].message
    return message


def fitted(estimator, X=X, y=None, *weight):
    y = target(estimator, rows(len(X))) if y is None else y
    return results(estimator.fit(X, y, *weight), X)


def numeric(name):
    known = inspect.signature(PUBLIC[name]).parameters
    return [p for p in known if p not in NOT_NUMBERS]


CASES = [(name, p) for name in ESTIMATORS for p in numeric(name)]
ODD = [1e300, -1e300, 10**30, 1e-300, 1e308, 5e-324, np.inf, np.nan, "2", True, 0, -1, 2.5, None, 2 + 1j, [1, 2]]


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_parameters_of_estimators(name, parameter):
    for value in ODD:
        if not (parameter in REPEATED and value == 10**30):
            ends_well(lambda value=value: fitted(make(name).set_params(**{parameter: value})))


@pytest.mark.parametrize("name", KERNELS)
def test_parameters_of_kernels(name):
    kernel = KERNELS[name]

    def values(**change):
        other = kernel.with_params(**change).resolve(X)
        return {"values": other(X), "diagonal": other.diag(X)}

    def features(**change):
        other = kernel.with_params(**change)
        return {"features": mercer.feature_map(other, 24, random_state=0).fit_transform(X)}

    for field in fields(kernel):
        for value in ODD:
            for work in (values, features):
                ends_well(lambda work=work, field=field, value=value: work(**{field.name: value}))


BAD_JOBS = [0, 2.5, 1e300, np.inf, np.nan, "2", True, [2]]


@pytest.mark.parametrize("name", LEARNERS)
def test_n_jobs(name):
    for value in BAD_JOBS:
        message = ends_well(lambda value=value: fitted(make(name, n_jobs=value)))
        assert f"{name}: n_jobs must be None, an integer >= 1 or a negative integer, got {value!r}" in message
    before = threading.active_count()
    expected = fitted(make(name, n_jobs=1))
    for value in (3000, 10**30, np.int64(2), np.int8(-1), -1, -(10**30)):
        for what, values in fitted(make(name, n_jobs=value)).items():
            np.testing.assert_array_equal(values, expected[what])
    most = max(get_config().threads, len(os.sched_getaffinity(0)))
    assert threading.active_count() <= max(before, 1) + most


def test_threads_of_the_configuration_are_bounded_too():
    for value in (0, -1, 2.5, np.inf, np.nan, "many", True):
        with pytest.raises(ValueError, match="threads must be an integer >= 1"), config_context(threads=value):
            pass
    with config_context(threads=10**30) as config:
        assert config.threads <= 4096
        assert fitted(make("KernelRidge"))


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - set(TUNED)))  # which turn dates into numbers
def test_dates_are_no_numbers(name):
    frame = pd.DataFrame({"a": X[:, 0], "when": DATES[:, 1]})
    for given, where in [
        (DATES, r" \(datetime64\[s\]\)"),
        ((1e6 * X).astype("timedelta64[ms]"), r" \(timedelta64\[ms\]\)"),
        (frame, r" in column 'when' \(datetime64\[s\]\)"),
        (frame[["when"]], r" in column 'when'"),
        (pl.from_pandas(frame), r" in column 'when'"),
    ]:
        estimator = make(name)
        with pytest.raises(ValueError, match=rf"{name}: X holds dates or times{where}.*np.timedelta64\(1, 'D'\)"):
            estimator.fit(given, target(estimator, X))
    estimator = make(name)
    estimator.fit(X, target(estimator, X))
    with pytest.raises(ValueError, match=rf"{name}: X holds dates or times"):
        results(estimator, DATES)


@pytest.mark.parametrize("name", KERNELS)
def test_dates_are_no_numbers_for_kernels(name):
    with pytest.raises(ValueError, match="X holds dates or times"):
        KERNELS[name](DATES)


def test_dates_in_streams_and_targets():
    frame = pd.DataFrame({"a": X[:, 0], "when": DATES[:, 1]})
    for source in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"as_blocks: column 'when' holds dates .*TableModel .* take dates"):
            as_blocks(source)
    with pytest.raises(ValueError, match=r"as_blocks: X holds dates or times"):
        next(iter(as_blocks(DATES)))
    with pytest.raises(ValueError, match=r"KernelRidge: y holds dates or times"):
        KernelRidge(n_components=8).fit(X, DATES[:, 0])


WEIGHTED = [name for name in LEARNERS if "sample_weight" in inspect.signature(PUBLIC[name].fit).parameters]


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_that_are_no_numbers(name):
    n = len(X)
    for weight in (
        np.full(n, 1 + 0j),
        np.full(n, "1"),
        DATES[:, 0],
        np.array([object()] * n),
        np.full(n, 1j, dtype=object),
    ):
        message = ends_well(lambda weight=weight: fitted(make(name), X, None, weight))
        assert f"{name}: sample_weight must hold finite numbers >= 0" in message
    ends_well(lambda: fitted(make(name), X, None, np.full(n, 1, dtype=object)))
    assert make(name).fit(X, target(make(name), X), np.full(n, 2, dtype=object))


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_whose_sums_would_overflow_are_refused_by_name(name):
    for weight in (np.full(len(X), 1e308), np.where(np.arange(len(X)) == 3, 1e101, 1.0)):
        message = ends_well(lambda weight=weight: fitted(make(name), X, None, weight))
        assert f"{name}: sample_weight must hold numbers up to 1e+100" in message


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("size", [1e300, 1e99, 1e-300])
def test_weights_at_the_ends_of_the_range(name, size):
    ends_well(lambda: fitted(make(name), X, None, np.full(len(X), size)))
    ends_well(lambda: fitted(make(name), X, None, np.where(np.arange(len(X)) == 3, size, 1.0)))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_targets_at_the_ends_of_the_range(name, size):
    y = target(make(name), X)
    if y.dtype.kind == "f":
        ends_well(lambda: fitted(make(name), X, size * y))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("size", [1e200, 1e-200, 1e150, np.float32(1e30), np.float32(1e-30)])
def test_rows_at_the_ends_of_the_range(name, size):
    large = X.astype(np.asarray(size).dtype) * size
    message = ends_well(lambda: fitted(make(name), large))
    assert "gamma must be" not in message
    if "cannot be taken from these rows" in message:
        assert f"up to {large.max():.3g}, are too {'large' if size > 1 else 'small'} for their squares" in message


def test_every_map_and_learner_is_here():
    assert set(MAPS) | set(LEARNERS) | set(TUNED) == set(ESTIMATORS)
