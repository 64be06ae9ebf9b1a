"""Very many features: error, memory and time per product as D grows, on frames of speech or on Covertype.

``python -m benchmarks wide --frames 100000 --features 5000 25000 --products 10`` fits a ridge classifier on synthetic
frames (``mercer.datasets.speech_frames``: 440 columns, 40 classes) at each D, with so many products of conjugate
gradients, and prints a row per D. ``--test`` frames, which begin 1000 frames after the training frames, are the test.
``--data covtype`` takes 20,000 rows of Covertype for training and 20,000 others for the test, and compares with the
exact ridge regression on the same features. Each D runs in a process of its own, so that peaks of memory are its own.
A row also has the parts of the gain of the objective that each product brought: small last ones mean that more products
would change little.

A product with n rows, D features and k columns of scores makes every feature twice and multiplies it 2 k times. The
formula is n D (2 m + g k) processor seconds: m is the time to make a feature, g that of its products with one column.
Both are measured in the same process, on one block of 4096 rows and one slab, before the fit.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mercer import Gaussian, KernelRidgeClassifier, config_context
from mercer.datasets import load, speech_frames
from mercer.features import SeededBlocks
from mercer.stats.base import add_product

MEMORY, GAP = "3GB", 1000
ROWS, SLAB = 4096, 4096


class Task(NamedTuple):
    """Training rows, test rows, a kernel and a penalty."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    kernel: Gaussian
    alpha: float


class Products:
    """A callback that ends conjugate gradients after some products, and notes the time of each."""

    def __init__(self, most: int):
        self.most, self.times = most, list[float]()

    def __call__(self, state: object) -> bool:
        """Return whether there were enough products."""
        if getattr(state, "stage", "") != "conjugate gradients":
            return False
        self.times.append(time.process_time())
        return len(self.times) >= self.most


def speech(n_frames: int, n_test: int) -> Task:
    data = speech_frames(n_frames + GAP + n_test, random_state=0)
    X = data.X.astype(np.float32)
    gamma = 1.0 / (2.0 * float(X.var(axis=0).sum()))  # one over the mean squared distance of two frames
    return Task(X[:n_frames], data.y[:n_frames], X[-n_test:], data.y[-n_test:], Gaussian(gamma=gamma), 0.1)


def covtype() -> Task:
    """Return rows as the design of this solver measured them: columns of unit variance, gamma = 1 / 10, alpha = .01."""
    data = load("covtype", verify=False)
    chosen = np.random.RandomState(0).permutation(len(data.y))[:40_000]
    X = np.asarray(data.X[chosen].toarray() if hasattr(data.X, "toarray") else data.X[chosen], dtype=np.float32)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-6)
    y = data.y[chosen]
    return Task(X[:20_000], y[:20_000], X[20_000:], y[20_000:], Gaussian(gamma=0.1), 0.01)


def measured_costs(task: Task, n_features: int) -> tuple[float, float]:
    """Return processor seconds to make a feature, and to multiply it both ways with one column of scores."""
    X, k = task.X[:ROWS], len(np.unique(task.y))
    wide = SeededBlocks(task.kernel, n_components=min(n_features, SLAB), slab=SLAB, random_state=0).fit(X)
    Z, R = np.empty((len(X), wide.n_features_out_), dtype=np.float32), np.ones((len(X), k), dtype=np.float32)
    W, total = np.ones((Z.shape[1], k), dtype=np.float32), np.zeros((Z.shape[1], k))
    with config_context(threads=1):
        wide.write_slab(0, X, Z)
        start = time.process_time()
        for _ in range(3):
            wide.write_slab(0, X, Z)
        made = time.process_time()
        for _ in range(3):
            Z @ W
            add_product(total, Z, R)
        done = time.process_time()
    return (made - start) / (3 * Z.size), (done - made) / (3 * Z.size * k)


def fitted(task: Task, n_features: int, n_products: int, threads: int) -> dict[str, float | list[float]]:
    """Fit on so many features in slabs, and return what it took."""
    make, multiply = measured_costs(task, n_features)
    watch = Products(n_products)
    features = SeededBlocks(task.kernel, n_components=n_features, slab=SLAB, random_state=0)
    start = time.process_time()
    begun = time.perf_counter()
    with config_context(memory=MEMORY, threads=threads, callback=watch):
        model = KernelRidgeClassifier(features=features, alpha=task.alpha).fit(task.X, task.y)
        end, elapsed = time.process_time(), time.perf_counter() - begun
        error = 1 - model.score(task.X_test, task.y_test)
    k, between = len(model.classes_), np.diff(watch.times)
    gains = np.array(model.solution_.details["gains"])
    return {
        "rows": len(task.y),
        "features": n_features,
        "products": len(watch.times),
        "error": error,
        "gains": [float(f"{gain:.2g}") for gain in gains / gains.sum()],
        "seconds": end - start,
        "elapsed": elapsed,
        "seconds per product": float(np.median(between)) if len(between) else float("nan"),
        "formula": len(task.y) * n_features * (2 * make + multiply * k),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def exact(task: Task, n_features: int) -> dict[str, float]:
    """Fit the same features by a D x D matrix: the solution that products approach."""
    wide = SeededBlocks(task.kernel, n_components=n_features, slab=SLAB, random_state=0).fit(task.X)
    mean, gram, cross = np.zeros(n_features), np.zeros((n_features, n_features)), 0.0
    Y = 2.0 * (task.y[:, None] == np.unique(task.y)) - 1
    blocks = [slice(first, first + ROWS) for first in range(0, len(task.y), ROWS)]
    mean = sum(wide.transform(task.X[rows]).sum(axis=0, dtype=np.float64) for rows in blocks) / len(task.y)
    for rows in blocks:
        Z = wide.transform(task.X[rows]) - mean.astype(np.float32)
        gram += Z.T @ Z
        cross = cross + Z.T @ (Y[rows] - Y.mean(axis=0)).astype(np.float32)
    gram[np.diag_indices_from(gram)] += task.alpha
    coef = np.linalg.solve(gram, cross).astype(np.float32)
    scores = (wide.transform(task.X_test) - mean.astype(np.float32)) @ coef + Y.mean(axis=0)
    return {"features": n_features, "error": float(np.mean(np.unique(task.y)[scores.argmax(axis=1)] != task.y_test))}


def main(rest: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks wide", description=__doc__)
    parser.add_argument("--data", choices=["speech", "covtype"], default="speech")
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--test", type=int, default=10_000)
    parser.add_argument("--features", type=int, nargs="+", default=[5_000, 25_000])
    parser.add_argument("--products", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--exact", action="store_true", help="also solve with a D x D matrix")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(rest)
    if options.one is None:
        for row in in_processes(rest, options.features):
            print(json.dumps(row), flush=True)
        return
    task = covtype() if options.data == "covtype" else speech(options.frames, options.test)
    row = fitted(task, options.one, options.products, options.threads)
    if options.exact:
        row["exact error"] = exact(task, options.one)["error"]
    print(
        json.dumps({name: value if isinstance(value, list) else float(f"{value:.4g}") for name, value in row.items()})
    )


def in_processes(rest: list[str], widths: list[int]) -> Iterator[dict[str, float | list[float]]]:
    for width in widths:
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "wide", *rest, "--one", str(width)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
        if done.returncode:
            raise RuntimeError(done.stderr)
        yield json.loads(done.stdout)
