"""Fits on streams: memory that does not grow with the rows, and Ctrl-C that ends them at the next block."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mercer import KernelLogisticRegression, KernelRidge, as_blocks

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
