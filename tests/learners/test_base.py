"""What learners share: one survey, changing sources, row numbers in errors, flat memory, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse

from mercer import (
    FOGDClassifier,
    FourierFeatures,
    Gaussian,
    KernelLogisticRegression,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    KitchenSinksClassifier,
    Laplacian,
    RandomBinning,
    as_blocks,
    load,
    save,
)
from mercer.data import Block, Reader
from mercer.fitting import targets
from mercer.learners import training_rows
from mercer.structures import domains

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


class Passes(Reader):
    """A source whose passes differ: one list of blocks per pass."""

    width, dtype, labelled = 2, np.dtype(float), True

    def __init__(self, *passes):
        self.passes = list(passes)

    def pieces(self, block_rows):
        return (Block(X, np.arange(X.shape[0]) % 2) for X in self.passes.pop(0))


def test_each_pass_reads_the_rows_once_and_there_are_two():
    X = np.random.RandomState(0).rand(9000, 2)
    read = []

    def factory():
        read.append(0)
        yield X, X[:, 0]

    source = as_blocks(factory)
    read.clear()
    for alpha in (1.0, "gcv"):
        KernelRidge(random_state=0, alpha=alpha).fit(source)
        assert len(read) == 2
        read.clear()
    KernelRidge(random_state=0).fit(source)
    assert len(read) == 3


A, B = np.random.RandomState(0).rand(2, 10, 2)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([A], "the source of X gave 20 rows before and 10 now"),
        ([A, B, B], "the source of X gave 20 rows before and at least 30 now"),
        ([A, B[:, :1]], "the block of X at row 10 has columns 1, and the source began with 2"),
        ([A, B.astype(np.float32)], "the block of X at row 10 has type float32, and the source began with float64"),
        ([A, sparse.csr_array(B)], "the block of X at row 10 has layout CSR, and the source began with dense"),
    ],
)
@pytest.mark.parametrize("kind", [KernelRidge, KernelRidgeClassifier])
def test_a_source_that_changes_is_named(kind, second, message):
    model = kind(random_state=0)
    with pytest.raises(ValueError, match=f"{kind.__name__}: {message}"):
        model.fit(as_blocks(Passes([A, B], second)))
    assert not hasattr(model, "feature_map_")


def test_rows_are_called_by_their_numbers_in_all_blocks():
    X = np.random.RandomState(0).rand(9000, 2)
    weight = np.where(np.arange(9000) == 8000, -1.0, 1.0)
    with pytest.raises(ValueError, match=r"got -1.0 at row 8000"):
        KernelRidge().fit(as_blocks(X, X[:, 0], sample_weight=weight))
    broken = X.copy()
    broken[8500, 1] = np.nan
    with pytest.raises(ValueError, match="KernelRidge: X contains NaN at row 8500, column 1"):
        KernelRidge().fit(broken, X[:, 0])
    binning = RandomBinning(Laplacian(gamma=1e6), n_components=64)
    model = KernelRidge(features=binning).fit(X, X[:, 0])
    broken[8500, 1] = 1e9
    with pytest.raises(ValueError, match=r"row 8500, column 1 of X is more than 2.31 grid cells away"):
        model.predict(broken)


def test_n_components_is_not_looked_at_where_features_are_given():
    features = FourierFeatures(Gaussian(), n_components=8, random_state=0)
    X = np.random.RandomState(0).rand(20, 2)
    assert KernelRidge(n_components=None, features=features).fit(X, X[:, 0]).coef_.shape == (8,)


SCORED = [FOGDClassifier, KernelRidge, KernelRidgeClassifier, KernelSVC, KernelSVR, KitchenSinksClassifier]


@pytest.mark.parametrize("kind", [KernelRidge, KernelSVR])
def test_a_saved_model_with_a_map_of_your_own_needs_no_n_components(kind, tmp_path):
    X = np.random.RandomState(0).rand(20, 2)
    features = FourierFeatures(Gaussian(), n_components=8, random_state=0)
    model = kind(n_components=None, features=features).fit(X, X[:, 0])
    save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(load(tmp_path / "model.mercer").predict(X), model.predict(X))


@pytest.mark.parametrize("wrong", [{"C": -1}, {"tol": 0}, {"kernel": "rbf"}, {"loss": "none"}, {"features": 3}])
def test_parameters_are_refused_before_a_row_is_read(wrong):
    def rows():
        read.append(0)
        yield np.ones((3, 2)), np.ones(3)

    read = []
    source = as_blocks(rows)
    read.clear()
    with pytest.raises(ValueError, match=f"KernelSVR: {next(iter(wrong))} must be"):
        KernelSVR(**wrong).fit(source)
    assert not read


class Changes(Reader):
    """Rows whose y or weights are no longer valid in the second pass."""

    width, dtype, labelled, keeps_pieces = 2, np.dtype(float), True, True

    def __init__(self, y, weight):
        self.later, self.n_passes = (y, weight), 0

    def pieces(self, block_rows):
        self.n_passes += 1
        good = np.arange(10.0), np.ones(10)
        yield Block(A, *(good if self.n_passes == 1 else self.later))


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (np.full(10, np.nan), np.ones(10), "KernelRidge: Input y contains NaN. The first is in row 0"),
        (np.arange(10.0), np.full(10, -1.0), "KernelRidge: sample_weight must hold finite numbers >= 0, got -1.0"),
    ],
)
def test_a_stream_is_checked_in_every_pass(y, weight, message):
    with pytest.raises(ValueError, match=message):
        KernelRidge(random_state=0).fit(as_blocks(Changes(y, weight)))


def test_an_array_is_checked_once(monkeypatch):
    """Counted: whole arrays of X and y are checked when fit begins, and no block of them later."""
    calls = []

    def counted(name, check):
        def call(*args, **options):
            calls.extend(name for value in args if np.shape(value)[:1] == (9000,))
            return check(*args, **options)

        return call

    checks = [(domains, "check_rows"), (training_rows, "check_weights")]
    checks += [(targets, "check_weights"), (targets, "check_finite_y")]
    for module, name in checks:
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    X = np.random.RandomState(0).rand(9000, 2)
    KernelSVR(random_state=0, tol=0.1).fit(X, X[:, 0], np.ones(9000))
    assert sorted(calls) == ["check_finite_y", "check_rows", "check_weights"]


def test_progress_is_shown_when_asked_for(capfd):
    X = np.random.RandomState(0).rand(300, 2)
    KernelRidge(random_state=0).fit(X, X[:, 0])
    assert capfd.readouterr() == ("", "")
    KernelRidge(random_state=0, verbose=1).fit(X, X[:, 0])
    shown = "".join(capfd.readouterr())
    assert "KernelRidge: leave-one-out" in shown  # outside a terminal, the last state alone
    assert "300 of 300 rows" in shown


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
    """Peak anonymous memory at 5 times the rows is within 1.2 times; the features would grow by 320 MiB.

    Of both numbers of rows some are sampled, at most 32 per feature: fewer rows in all would be solved in another way.
    """
    few, many = _peaks(model, memory, 20, 100)
    assert many < 1.2 * few, f"{few / 1024:.0f} MiB at 81920 rows, {many / 1024:.0f} MiB at 409600"


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
