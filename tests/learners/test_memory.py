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
    {model}.fit(source(int(sys.argv[1])))
done = True
print(peak)
"""
MODELS = [
    ("KernelRidge(Gaussian(gamma=1.0), n_components=256, random_state=0, n_jobs=2)", None),
    ("KernelRidge(Gaussian(gamma=1.0), n_components=256, alpha='loo', random_state=0, n_jobs=2)", None),
    ("KernelLogisticRegression(Gaussian(gamma=1.0), n_components=256, max_iter=1, random_state=0)", "30MiB"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(("model", "memory"), MODELS, ids=["ridge", "leave-one-out", "logistic"])
def test_memory_is_flat_in_the_rows(model, memory):
    """Peak anonymous memory at 10 times the rows is within 1.2 times; the features would grow by 144 MiB."""
    code = MEMORY.format(model=model, memory=repr(memory))
    few, many = (
        int(subprocess.run([sys.executable, "-c", code, n], capture_output=True, check=True, timeout=100).stdout)
        for n in ("4", "40")
    )
    assert many < 1.2 * few, f"{few / 1024:.0f} MiB at 16384 rows, {many / 1024:.0f} MiB at 163840"


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
