"""Rows that no memory and no disk holds: passes, processor time and peak memory of fits on generated rows.

``python -m benchmarks stream --rows 100000000`` fits ridge regression on 1024 features and logistic regression on 512
features to rows that a function makes again in each pass: 28 columns of float32, a target that is a quadratic function
of them plus noise. No file is needed. Each fit runs in a process of its own, so that peaks of memory are its own.

A row of the result has the rows, the features, the passes over the rows, processor seconds in all, the microseconds per
row and pass, the peak of memory, and the score on 100,000 further rows. ``--threads`` and ``--memory`` are those of
``config_context``. With ``--checkpoint FOLDER`` a fit that is killed is continued by the same command.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mercer import Gaussian, KernelLogisticRegression, KernelRidge, as_blocks, config_context

COLUMNS, PIECE = 28, 2**16
GAMMA = 1 / (2 * COLUMNS)  # one over the mean squared distance of two rows
N_TEST = 100_000
WIDTHS = {"ridge": 1024, "logistic": 512}


class Rows:
    """A function of no arguments that yields the rows in pieces, the same in every pass; it counts whole passes."""

    def __init__(self, n_rows: int, *, labels: bool, seed: int = 0):
        self.n_rows, self.n_passes, self._labels, self._seed = n_rows, 0, labels, seed
        draw = np.random.RandomState(0)
        self._weights = draw.standard_normal((COLUMNS, 8)).astype(np.float32) / COLUMNS**0.5
        self._signs = np.array([1, -1] * 4, dtype=np.float32) / 8**0.5

    def __call__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of a pass."""
        for number, first in enumerate(range(0, self.n_rows, PIECE)):
            yield self._piece(number, min(PIECE, self.n_rows - first))
        self.n_passes += 1  # not for a look at the first piece

    def _piece(self, number: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        draw = np.random.Generator(np.random.SFC64([self._seed, number]))
        X = draw.standard_normal((n_rows, COLUMNS), dtype=np.float32)
        y = (X @ self._weights) ** 2 @ self._signs + X[:, 0] + 0.5 * draw.standard_normal(n_rows, dtype=np.float32)
        return X, (y > 0).astype(np.int64) if self._labels else y


def fitted(name: str, options: argparse.Namespace) -> dict[str, float | str]:
    """Fit a learner to generated rows, and return what it took."""
    width = options.features or WIDTHS[name]
    learners = {
        "ridge": KernelRidge(Gaussian(gamma=GAMMA), n_components=width, alpha="gcv", random_state=0),
        "logistic": KernelLogisticRegression(Gaussian(gamma=GAMMA), n_components=width, tol=1e-4, random_state=0),
    }
    rows = Rows(options.rows, labels=name == "logistic")
    test = Rows(N_TEST, labels=name == "logistic", seed=1)
    checkpoint = None if options.checkpoint is None else str(Path(options.checkpoint) / name)
    begun, processor = time.perf_counter(), time.process_time()
    with config_context(threads=options.threads, memory=options.memory, checkpoint=checkpoint):
        model = learners[name].fit(as_blocks(rows))
        processor, elapsed = time.process_time() - processor, time.perf_counter() - begun
        peak = peak_mib()
        score = model.score(as_blocks(test))
    return {
        "learner": name,
        "rows": options.rows,
        "features": width,
        "passes": rows.n_passes,
        "processor seconds": processor,
        "elapsed seconds": elapsed,
        "microseconds per row and pass": 1e6 * processor / (options.rows * rows.n_passes),
        "peak MiB": peak,
        "score": score,
        "status": str(model.solution_.status),
    }


def peak_mib() -> float:
    """Return the peak of the memory of this process, from the system that counts it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def main(rest: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks stream", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--learners", nargs="+", choices=[*WIDTHS], default=[*WIDTHS])
    parser.add_argument("--features", type=int, help="1024 for ridge and 512 for logistic regression by default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--checkpoint")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(rest)
    if options.one is not None:
        row = fitted(options.one, options)
        print(
            json.dumps(
                {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in row.items()}
            )
        )
        return
    for name in options.learners:
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "stream", *rest, "--one", name]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)  # noqa: S603
        if done.returncode:
            raise SystemExit(done.returncode)
        print(done.stdout.strip(), flush=True)
