"""Streams that drift: mistakes made before each row is learned, and rows per second of processor, against river.

The streams are ``abrupt_drift``, ``gradual_drift`` and ``rotating_drift`` of ``mercer.datasets``, and, with
``MERCER_DATA``, every 60th flight of 2001 in the order of time: whether it arrives late. Learners of mercer read blocks
of 1000 rows, river's models one row at a time. No setting was tuned: every kernel has gamma = 1, 100 features or
landmarks, and the decays are listed; ``TrackingClassifier`` mixes four of them. River's models have their defaults; the
forest has 3 trees instead of 10.
"""

import os
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.measure import Row
from mercer import FOGDClassifier, Gaussian, NOGDClassifier
from mercer.datasets import abrupt_drift, gradual_drift, load, rotating_drift
from mercer.learners import BudgetClassifier, TrackingClassifier
from mercer.learners.online.tracking import Expert

N_ROWS, BLOCK, EVERY = 20_000, 1000, 60
# Fixed beforehand, since a stream has no end to take means from: months, days, weekdays, minutes, miles, degrees.
FLIGHT_SCALES = np.array([12, 31, 7, 1440, 1000, 20, 40, 20, 40], dtype=np.float32)


class Stream(NamedTuple):
    """Rows and labels 0 and 1 in the order of time, and the least possible error where it is known."""

    name: str
    X: np.ndarray
    y: np.ndarray
    least_error: float | None = None


class Done(NamedTuple):
    """What a model did: its mistakes per row, and its seconds of processor."""

    model: str
    error: float
    seconds: float


class OnlineClassifier(Protocol):
    """A learner of mercer."""

    n_mistakes_: int

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: list[int]) -> object:
        """Learn a block of rows."""


class OneRow(Protocol):
    """A classifier of river."""

    def predict_one(self, x: dict[int, float]) -> object:
        """Return the label of a row."""

    def learn_one(self, x: dict[int, float], y: int) -> None:
        """Learn a row."""


def streams() -> Iterator[Stream]:
    for name, drawn in (
        ("abrupt", abrupt_drift(N_ROWS, n_changes=3, random_state=0)),
        ("gradual", gradual_drift(N_ROWS, width=0.4, random_state=0)),
        ("rotating", rotating_drift(N_ROWS, random_state=0)),
    ):
        yield Stream(name, drawn.X, drawn.y, float(drawn.bayes_error.mean()))
    if os.environ.get("MERCER_DATA"):
        yield flights("flights", EVERY)


def flights(name: str, every: int) -> Stream:
    """Return each ``every``-th flight, and whether it arrives late."""
    data = load("flights3m", verify=False)
    return Stream(name, data.X[::every] / FLIGHT_SCALES, (data.y[::every] > 0).astype(int))


def learners() -> dict[str, Callable[[], OnlineClassifier]]:
    """Return mercer's learners by name."""
    shared = {"kernel": Gaussian(gamma=1.0), "n_components": 100, "random_state": 0}
    made: dict[str, Callable[[], OnlineClassifier]] = {
        f"{kind.__name__} decay={decay:g}": lambda kind=kind, decay=decay: kind(decay=decay, **shared)
        for kind in (FOGDClassifier, NOGDClassifier)
        for decay in (1.0, 0.9999, 0.999, 0.99)
    }
    for decay in (1.0, 0.999, 0.99):
        name = f"FOGDClassifier gradient decay={decay:g}"
        made[name] = lambda decay=decay: FOGDClassifier(update="gradient", decay=decay, **shared)
    for decay in (1.0, 0.999, 0.99):
        name = f"BudgetClassifier decay={decay:g}"
        made[name] = lambda decay=decay: BudgetClassifier(Gaussian(gamma=1.0), decay=decay, random_state=0)
    experts: tuple[Expert, ...] = (
        FOGDClassifier(**shared),
        NOGDClassifier(**shared),
        FOGDClassifier(update="gradient", **shared),
        BudgetClassifier(Gaussian(gamma=1.0), random_state=0),
    )
    for expert in experts:
        gradient = " gradient" if expert.update == "gradient" and isinstance(expert, FOGDClassifier) else ""
        made[f"Tracking {type(expert).__name__}{gradient}"] = lambda expert=expert: TrackingClassifier(expert)
    return made


def peers() -> dict[str, Callable[[], OneRow]]:
    """Return river's models by name; none where river is not installed."""
    if find_spec("river") is None:
        return {}
    from river import forest, linear_model, preprocessing, tree  # noqa: PLC0415, a peer that may not be there

    return {
        "logistic regression": lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        "Hoeffding adaptive tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0),
        "adaptive random forest of 3": lambda: forest.ARFClassifier(n_models=3, seed=0),
    }


def by_blocks(name: str, model: OnlineClassifier, stream: Stream) -> Done:
    start = time.process_time()
    for first in range(0, len(stream.y), BLOCK):
        rows = slice(first, first + BLOCK)
        model.partial_fit(stream.X[rows], stream.y[rows], classes=[0, 1])
    return Done(name, model.n_mistakes_ / len(stream.y), time.process_time() - start)


def by_rows(name: str, model: OneRow, stream: Stream) -> Done:
    rows = [dict(enumerate(row)) for row in stream.X.tolist()]
    labels, mistakes = stream.y.tolist(), 0
    start = time.process_time()
    for x, y in zip(rows, labels, strict=True):
        mistakes += model.predict_one(x) != y
        model.learn_one(x, y)
    return Done(f"river: {name}", mistakes / len(labels), time.process_time() - start)


def rows() -> Iterator[Row]:
    """Yield seconds against a peer's, with the errors in the names: river's best model, or FOGD without decay.

    Three million flights would take river's models up to half an hour each: there, and without river, the peer is FOGD.
    """
    yield from of_all_models()
    if os.environ.get("MERCER_DATA"):
        yield from of_all_flights()


def of_all_flights() -> Iterator[Row]:
    stream, made = flights("all flights", 1), learners()
    first, *others = (name for name in made if name.startswith("FOGDClassifier decay"))
    plain = by_blocks(first, made[first](), stream)
    for name in others[:2]:
        done = by_blocks(name, made[name](), stream)
        work = f"{stream.name} {name}: {done.error:.4f}, {len(stream.y) / done.seconds:,.0f} rows/s"
        yield Row(work, f"{plain.model}: {plain.error:.4f}", done.seconds, plain.seconds, 0.5)


def of_all_models() -> Iterator[Row]:
    for stream in streams():
        ours = [by_blocks(name, make(), stream) for name, make in learners().items()]
        others = [by_rows(name, make(), stream) for name, make in peers().items()]
        least = "" if stream.least_error is None else f", no model below {stream.least_error:.4f}"
        print(f"\n{stream.name}: {len(stream.y)} rows{least}", flush=True)
        for done in (*ours, *others):
            print(f"  {done.model:<44}{done.error:>8.4f}{len(stream.y) / done.seconds:>12,.0f} rows/s", flush=True)
        peer = min(others or ours[:1], key=lambda done: done.error)
        for done in ours:
            work = f"{stream.name} {done.model}: {done.error:.4f}"
            yield Row(work, f"{peer.model}: {peer.error:.4f}", done.seconds, peer.seconds, 1.0)
