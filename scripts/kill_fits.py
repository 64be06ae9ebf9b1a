"""Kill fits with checkpoints at random moments, until they end: the models must have the bits of undisturbed fits.

Each learner is fitted once without a checkpoint. Then it is fitted with one in a child process, which SIGKILL ends
after a random time, uniform over the time of an undisturbed fit. A new process begins the fit again, and is killed
again, until one of them ends. Some kills come inside a write: the child stops before or after ``fsync``, or after the
new file has its name, and waits to be killed. A fault is: a model with other bits, an error, a warning about a damaged
file, or a file that is left over.

    python scripts/kill_fits.py --kills 60 --seed 0
"""

import argparse
import hashlib
import os
import random
import select
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import mercer
from mercer.checkpoints import CheckpointWarning
from mercer.learners import BudgetClassifier, KitchenSinksClassifier

_ATTRIBUTES = ("coef_", "intercept_", "cluster_centers_", "labels_", "alpha_", "scores_", "n_seen_", "n_mistakes_")
_PLACES = ("written", "synced", "renamed")
_PATIENCE = 300.0  # seconds after which a child is taken to hang
_EVERY = 0.02


class Learner(NamedTuple):
    """A learner and its rows; ``memory`` is a budget in which it reads the rows in passes."""

    model: object
    rows: Callable[[], tuple[object, ...]]
    memory: str


def learners(folder: Path) -> dict[str, Learner]:
    """Return the learners to kill, by name."""
    rng = np.random.RandomState(0)
    X = rng.randn(60_000, 6).astype(np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.randn(len(X))
    labels = np.where(y > y.mean(), "high", "low")
    np.save(folder / "rows.npy", X)
    kernel = mercer.Gaussian(gamma=0.2)

    def generated() -> tuple[object, ...]:
        pieces = [(X[i : i + 5000], labels[i : i + 5000]) for i in range(0, len(X), 5000)]
        return (mercer.as_blocks(lambda: iter(pieces)),)

    few = slice(0, 20_000)
    return {
        "ridge": Learner(
            mercer.KernelRidge(kernel, n_components=384, random_state=0), lambda: (str(folder / "rows.npy"), y), "2GB"
        ),
        "ridge by products": Learner(
            mercer.KernelRidge(kernel, n_components=2048, alpha=30.0, random_state=0), lambda: (X[few], y[few]), "30MB"
        ),
        "logistic": Learner(
            mercer.KernelLogisticRegression(kernel, n_components=192, random_state=0), generated, "20MB"
        ),
        "hinge": Learner(
            mercer.KernelSVC(kernel, n_components=128, loss="hinge", tol=1e-2, random_state=0),
            lambda: (X[few], labels[few]),
            "10MB",
        ),
        "k-means": Learner(
            mercer.KernelKMeans(kernel, n_clusters=20, n_components=64, n_init=2, max_iter=40, random_state=0),
            lambda: (X,),
            "2GB",
        ),
        "k-means in passes": Learner(
            mercer.KernelKMeans(kernel, n_clusters=10, n_components=64, max_iter=12, random_state=0),
            lambda: (X,),
            "4MB",
        ),
        "FOGD": Learner(mercer.FOGDClassifier(kernel, n_components=256, random_state=0), lambda: (X, labels), "2GB"),
        "budget": Learner(BudgetClassifier(kernel, budget=300, random_state=0), lambda: (X, labels), "2GB"),
        "kitchen sinks": Learner(
            KitchenSinksClassifier(n_components=128, random_state=0), lambda: (X[few], labels[few]), "2GB"
        ),
    }


def digest(model: object) -> str:
    """Return the hash of the bits that a fit has found."""
    found = hashlib.sha256()
    for name in _ATTRIBUTES:
        if hasattr(model, name):
            found.update(name.encode() + np.ascontiguousarray(getattr(model, name)).tobytes())
    return found.hexdigest()


def fit(learner: Learner, folder: Path | None) -> str:
    """Fit, with a checkpoint if there is a folder, and return the hash."""
    X, *rest = learner.rows()
    if isinstance(X, str):
        X, rest = mercer.as_blocks(X, *rest), []
    settings = {} if folder is None else {"checkpoint": folder, "every": _EVERY}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", CheckpointWarning)
        with mercer.config_context(memory=learner.memory, threads=2, **settings):
            return digest(learner.model.fit(X, *rest))  # type: ignore[attr-defined]


class Attempt(NamedTuple):
    """How a child ended: with a hash, an error, or killed; whether it continued, and its seconds."""

    hash: str | None
    error: str
    resumed: bool
    seconds: float


def attempt(learner: Learner, folder: Path | None, seconds: float | None, place: str | None = None) -> Attempt:
    """Fit in a child process, which is killed after some seconds, or inside a write at a place."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(learner, folder, writes, place)
    os.close(writes)
    start, said = time.monotonic(), b""
    limit = _PATIENCE if seconds is None else seconds
    with os.fdopen(reads, "rb", buffering=0) as pipe:
        while True:
            left = start + limit - time.monotonic()
            if left <= 0 or b"inside\n" in said or not select.select([pipe], [], [], left)[0]:
                os.kill(child, signal.SIGKILL)
                break
            piece = pipe.read(4096)
            if not piece:
                break
            said += piece
    os.waitpid(child, 0)
    lines = said.decode().splitlines()
    hashes = [line.removeprefix("hash ") for line in lines if line.startswith("hash ")]
    error = next((line for line in lines if line.startswith("error ")), "")
    resumed = any("goes on" in line for line in lines)
    return Attempt(hashes[0] if hashes else None, error, resumed, time.monotonic() - start)


def _in_child(learner: Learner, folder: Path | None, writes: int, place: str | None) -> None:
    """Fit and report by a pipe; standard error goes there too, where a fit says that it goes on."""
    os.dup2(writes, 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    try:
        if place is not None:
            _pause_at(place, writes)
        line = f"hash {fit(learner, folder)}\n"
    except BaseException as error:
        line = f"error {type(error).__name__}: {' '.join(str(error).split())}\n"
    os.write(writes, line.encode())
    os._exit(0)


def _pause_at(place: str, writes: int) -> None:
    """Let the third write stop at a place, and wait to be killed there."""
    sync, replace, n_writes = os.fsync, Path.replace, 0

    def pause() -> None:
        if n_writes == 3:
            os.write(writes, b"inside\n")
            time.sleep(_PATIENCE)

    def fsync(descriptor: int) -> None:
        nonlocal n_writes
        n_writes += 1
        if place == "written":
            pause()
        sync(descriptor)

    def rename(path: Path, target: Path) -> Path:
        if place == "synced":
            pause()
        renamed = replace(path, target)
        if place == "renamed":
            pause()
        return renamed

    os.fsync, Path.replace = fsync, rename  # type: ignore[assignment, method-assign]


class Series:
    """The kills of one learner."""

    def __init__(self, name: str, learner: Learner, rng: random.Random):
        self._name, self._learner, self._rng = name, learner, rng
        self.n_kills = self.n_inside = self.n_ends = self.n_resumed = 0
        self.faults: list[str] = []
        undisturbed = attempt(learner, None, None)
        self._hash, self._seconds = undisturbed.hash, undisturbed.seconds
        if undisturbed.hash is None:
            self.faults.append(f"{name}: the undisturbed fit failed: {undisturbed.error}")

    def run(self, n_kills: int, n_inside: int) -> None:
        """Kill until there are so many kills, and so many of them inside a write; begin new fits as needed."""
        while not self.faults and (self.n_kills < n_kills or self.n_inside < n_inside):
            with tempfile.TemporaryDirectory() as folder:
                self._one_fit(Path(folder) / "run", n_kills, n_inside)

    def _one_fit(self, folder: Path, n_kills: int, n_inside: int) -> None:
        resumed = False
        while True:
            place = _PLACES[self.n_inside % len(_PLACES)] if self.n_inside < n_inside else None
            enough = self.n_kills >= n_kills and place is None
            seconds = None if enough or place is not None else self._rng.uniform(0, self._seconds)
            ended = attempt(self._learner, folder, seconds, place)
            resumed |= ended.resumed
            self.n_resumed += ended.resumed
            if ended.error:
                self.faults.append(f"{self._name}: {ended.error}")
                return
            if ended.hash is None:
                self.n_kills += 1
                self.n_inside += place is not None
                continue
            break
        if ended.hash == self._hash:
            self.n_ends += 1
        else:
            self.faults.append(f"{self._name}: other bits")
        if left := sorted(path.name for path in folder.iterdir()):
            self.faults.append(f"{self._name}: left over: {left}")


def main() -> int:
    """Kill, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60, help="in all, shared by the learners")
    parser.add_argument("--inside", type=int, default=1, help="of them inside a write, for each learner")
    parser.add_argument("--only", nargs="*", help="names of learners")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, faults, total = random.Random(options.seed), list[str](), 0  # noqa: S311 - of moments
    with tempfile.TemporaryDirectory() as folder:
        chosen = {
            name: learner
            for name, learner in learners(Path(folder)).items()
            if options.only is None or name in options.only
        }
        for name, learner in chosen.items():
            series = Series(name, learner, rng)
            series.run(-(-options.kills // len(chosen)), options.inside)
            total += series.n_kills
            faults += series.faults
            sys.stdout.write(
                f"{name:>18}: {series.n_kills:3} kills, {series.n_inside} inside a write, {series.n_resumed} processes "
                f"continued, {series.n_ends} fits ended with the same bits\n"
            )
            sys.stdout.flush()
    sys.stdout.write("\n".join([*faults, f"{total} kills, {len(faults)} faults"]) + "\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
