"""Fits with a checkpoint: what identifies a fit, and how it begins and ends."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Protocol

import numpy as np
from sklearn.utils import check_random_state

from mercer.checkpoints import Recorder, kept, recorded, recording
from mercer.config import get_config
from mercer.data import Blocks
from mercer.data.traits import traits_of
from mercer.stop_signals import stopped_by_signals
from mercer.versions import describe
from mercer.watching import State, told, watching

# Parameters on which the bits of a model do not depend.
_WITHOUT_EFFECT = ("n_jobs", "verbose")
# Versions on which the bits of a model may depend.
_VERSIONS = ("mercer", "numpy", "scipy", "scikit-learn", "core", "simd")
# Longest text of a parameter in a message; of longer ones, the hash is compared.
_LONGEST = 200


class _Estimator(Protocol):
    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name."""


@contextmanager
def checkpointed(estimator: _Estimator) -> Iterator[None]:
    """Record the fit of an unfitted estimator inside the ``with`` block, where ``config_context`` has a checkpoint.

    A fit that another process has begun continues. Inside another fit, the steps belong to the record of that fit. If
    ``random_state`` is None, a seed is drawn once and recorded. When the block ends without an error, the record is
    deleted; else it stays.
    """
    checkpoints, outer = get_config().checkpoint, recording()
    if outer is not None:
        with _seeded(estimator):
            yield
        return
    if checkpoints is None:
        yield
        return
    owner = type(estimator).__name__
    slot = checkpoints.slot(owner)
    try:
        recorder = Recorder(owner, slot, checkpoints.every)
        with recorded(recorder), stopped_by_signals(recorder), watching(_watcher(recorder)):
            recorder.same("the fit", _identity(owner, estimator))
            with _seeded(estimator):
                _announce(recorder, owner, slot.place)
                yield
            recorder.stop_here()
        slot.clear()
    finally:
        slot.release()


def same_rows(blocks: Blocks) -> None:
    """Refuse to continue a fit on other rows than those it began with."""
    same_data(lambda: traits_of(blocks))


def same_data(facts: Callable[[], Mapping[str, str]]) -> None:
    """Refuse to continue a fit on data of other facts; a fit inside another fit, whose data are known, asks nothing."""
    recorder = recording()
    if recorder is not None and not recorder.knows_data:
        recorder.knows_data = True
        recorder.same("the data", facts())


@contextmanager
def _seeded(estimator: object) -> Iterator[None]:
    """Let an estimator whose ``random_state`` is None have a recorded seed inside the ``with`` block."""
    if getattr(estimator, "random_state", 0) is not None:
        yield
        return
    vars(estimator)["random_state"] = kept("random_state", lambda: int(check_random_state(None).randint(2**31 - 1)))
    try:
        yield
    finally:
        vars(estimator)["random_state"] = None


def _identity(owner: str, estimator: _Estimator) -> dict[str, str]:
    params = estimator.get_params(deep=False)
    facts = {"the class": owner}
    facts |= {name: _said(value) for name, value in params.items() if name not in _WITHOUT_EFFECT}
    return facts | settings()


def settings() -> dict[str, str]:
    """Return the settings and versions on which bits may depend."""
    config, known = get_config(), describe()
    facts = {"the setting memory": str(config.memory), "the setting block_rows": str(config.block_rows)}
    return facts | {f"the version of {name}": known[name] for name in _VERSIONS}


def _said(value: object) -> str:
    """Return a value as text that another process repeats: functions by name, large values by their hash."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {_hash(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, np.random.RandomState):
        key = value.get_state(legacy=False)
        return f"RandomState {_hash(repr(key).encode())}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... {_hash(text.encode())}"


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _watcher(recorder: Recorder) -> Callable[[State], None]:
    """Return a watcher that ends the iterations of a solver in memory where a signal has asked for it."""

    def watch(state: State) -> None:
        if recorder.is_mine and not recorder.n_in_place:
            recorder.stop_here()

    return watch


def _announce(recorder: Recorder, owner: str, place: str) -> None:
    """Say where a fit continues."""
    if recorder.resumed_at:
        sys.stderr.write(f"mercer: {owner} goes on {recorder.resumed_at}, from the checkpoint {place}\n")
        told(State(f"{owner}: goes on", note=recorder.resumed_at))
