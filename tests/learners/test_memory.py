"""Memory of fits: flat in the rows of a stream, within limits, streaming where holding fails; and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mercer import (
    FourierFeatures,
    Gaussian,
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelRidge,
    KernelSVC,
    KernelSVR,
    Laplacian,
    RandomBinning,
    as_blocks,
    config_context,
)
from mercer.fitting import feature_rows

MEMORY = """
import sys, threading, time, warnings
import numpy as np
import mercer
from mercer import *
warnings.simplefilter("ignore")
X = np.random.RandomState(0).rand(4096, 8).astype("f")
def source(n):
    return as_blocks(lambda: ((X + np.float32(i % 7), (X[:, 0] > 0.5).astype(float)) for i in range(n)))
def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
peak, done = 0, False
def watch():
    global peak
    while not done:
        peak = max(peak, anonymous()); time.sleep(0.001)
threading.Thread(target=watch, daemon=True).start()
with config_context(memory={memory}):
    model = {model}.fit(source(int(sys.argv[1])))
done = True
assert "coordinate" not in model.solution_.details.get("solver", ""), "the features were held"
print(peak)
"""
GAUSSIAN = "Gaussian(gamma=1.0), n_components=256, random_state=0, n_jobs=2"
MODELS = {
    "ridge": (f"KernelRidge({GAUSSIAN})", None),
    "leave-one-out": (f"KernelRidge({GAUSSIAN}, alpha='loo')", None),
    "logistic": (f"KernelLogisticRegression({GAUSSIAN}, max_iter=1)", "30MiB"),
    "hinge": (f"KernelSVC({GAUSSIAN}, loss='hinge', max_iter=2)", "24MiB"),
    "squared hinge": (f"KernelSVC({GAUSSIAN}, loss='squared_hinge', max_iter=2)", "24MiB"),
}


def _peaks(model, memory, *lengths):
    """Return the peaks of anonymous memory, in KiB, of fits on so many blocks of 4096 rows."""
    code = MEMORY.format(model=model, memory=repr(memory))
    return [
        int(subprocess.run([sys.executable, "-c", code, str(n)], capture_output=True, check=True, timeout=200).stdout)
        for n in lengths
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(("model", "memory"), MODELS.values(), ids=MODELS)
def test_memory_is_flat_in_the_rows(model, memory):
    """Peak anonymous memory at 10 times the rows is within 1.2 times; the features would grow by 144 MiB."""
    few, many = _peaks(model, memory, 4, 40)
    assert many < 1.2 * few, f"{few / 1024:.0f} MiB at 16384 rows, {many / 1024:.0f} MiB at 163840"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_memory_of_clusters_grows_by_what_is_kept_of_a_row():
    """At eight times the rows, 86016 more: weights, labels, margins and heads, where features would take 84 MiB."""
    few, many = _peaks(f"KernelKMeans({GAUSSIAN}, n_clusters=4, max_iter=1, tol=1e9)", "48MiB", 3, 24)
    assert many < few + 32 * 1024, f"{few / 1024:.0f} MiB at 12288 rows, {many / 1024:.0f} MiB at 98304"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", [KernelRidge, KernelLogisticRegression])
def test_ctrl_c_ends_a_fit_at_the_next_blocks(kind, threads):
    X = np.random.RandomState(0).rand(4096, 2)
    read = []

    def factory():
        for i in range(400):
            read.append(i)
            if len(read) == 500:  # in the second pass, on whatever thread reads
                os.kill(os.getpid(), signal.SIGINT)
            if len(read) >= 500:
                time.sleep(0.02)
            yield X, np.arange(4096) % 2

    model = kind(n_components=8, n_jobs=threads)
    with pytest.raises(KeyboardInterrupt):
        model.fit(as_blocks(factory))
    assert len(read) < 700, "the fit went on after Ctrl-C"
    assert set(vars(model)) == set(vars(kind()))


ADDRESS_SPACE = """
import resource, warnings
import numpy as np
from mercer import *
warnings.simplefilter("ignore")
X = np.random.RandomState(0).rand(4000, 8).astype("f")
source = as_blocks(lambda: ((X, X[:, 0] > 0.5) for i in range(25)))
resource.setrlimit(resource.RLIMIT_AS, (1_300_000_000, 1_300_000_000))
map = FourierFeatures(Gaussian(gamma=1.0), n_components=2048, random_state=0)
KernelLogisticRegression(features=map, max_iter=1, n_jobs=2).fit(source)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_features_beyond_the_address_space_are_streamed():
    """100000 x 2048 float32 features take 781 MiB, of 1240 MiB in all: half of what the libraries leave is less."""
    subprocess.run([sys.executable, "-c", ADDRESS_SPACE], check=True, timeout=200)


HOLDING = {
    "logistic": KernelLogisticRegression(),
    "squared hinge": KernelSVC(),
    "hinge": KernelSVC(loss="hinge", tol=1e-2),
    "squared insensitive": KernelSVR(loss="squared_epsilon_insensitive"),
    "clusters": KernelKMeans(n_clusters=3),
    "mini-batches": KernelKMeans(n_clusters=3, batch_size=100),
    "ridge on sparse features": KernelRidge(
        features=RandomBinning(Laplacian(), n_components=64, n_grids=8, sparse_output=True, random_state=0)
    ),
}


def _two_blobs():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(2 * i, 1, (150, 2)) for i in range(2)])
    return X, (np.arange(300) >= 150).astype(float)


def _scores_of(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("model", HOLDING.values(), ids=HOLDING)
@pytest.mark.parametrize("failing", ["the allocation", "a later block"])
def test_where_holding_fails_features_are_made_again(monkeypatch, model, failing):
    """The answer is that of a fit which streams from the start, and no part of the failed pass is in it."""
    X, y = _two_blobs()
    if not hasattr(model, "features") or model.features is None:
        model = model.set_params(features=FourierFeatures(Gaussian(gamma=0.3), n_components=32, random_state=0))
    model = model.set_params(random_state=0)
    monkeypatch.setattr("mercer.fitting.map_plan.BLOCK_ROWS", 64)
    with monkeypatch.context() as never_held:
        never_held.setattr(feature_rows, "_SHARE", 0.0)
        streamed = _scores_of(model.fit(X, y), X)
    failures = []

    def fail(*arguments, **options):
        failures.append(0)
        raise MemoryError("no memory left")

    def fail_of_all_rows(shape, dtype):
        return fail() if shape[0] == len(X) else np.empty(shape, dtype)

    if failing == "the allocation":
        monkeypatch.setattr(feature_rows, "empty", fail_of_all_rows)
        monkeypatch.setattr(feature_rows.sparse, "vstack", fail)
    else:
        monkeypatch.setattr(feature_rows, "_joined", fail)  # after the last block of a pass that holds
    held = model.fit(X, y)
    assert failures
    np.testing.assert_array_equal(_scores_of(held, X), streamed)


def test_a_pass_that_fails_within_begins_again(monkeypatch):
    """The sums of blocks before the failure are not counted twice."""
    X, _ = _two_blobs()
    model = KernelKMeans(
        features=FourierFeatures(Gaussian(gamma=0.3), n_components=32, random_state=0), n_clusters=3, random_state=0
    )
    monkeypatch.setattr("mercer.fitting.map_plan.BLOCK_ROWS", 64)
    expected = model.fit(X).cluster_centers_
    write, calls = FourierFeatures.write_features, []

    def fails_once(self, rows, out):
        if out.base is not None:  # a block of features that are held is a view
            calls.append(0)
        if out.base is not None and len(calls) == 3:
            raise MemoryError("no memory left")
        return write(self, rows, out)

    monkeypatch.setattr(FourierFeatures, "write_features", fails_once)
    np.testing.assert_allclose(model.fit(X).cluster_centers_, expected, rtol=1e-10)
    assert len(calls) >= 3


def test_a_solver_that_must_hold_says_so(monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError("no memory left")

    monkeypatch.setattr(feature_rows, "empty", fail)
    with pytest.raises(MemoryError, match=r"KernelOneClassSVM: the solver holds the features of all 300 rows.*Lower"):
        KernelOneClassSVM().fit(_two_blobs()[0])


def test_an_error_of_memory_without_held_features_stays(monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError("no memory left")

    monkeypatch.setattr("mercer.learners.ridge.cholesky", fail)
    X, y = _two_blobs()
    with config_context(memory="200kB"), pytest.raises(MemoryError, match="no memory left"):
        KernelRidge(n_components=32, alpha=1.0).fit(X, y)
