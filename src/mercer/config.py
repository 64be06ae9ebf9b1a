"""Threads, memory budget and block size, for the process or for a ``with`` block."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from mercer import limits
from mercer.checkpoints import Checkpoints
from mercer.watching import Watcher, watching

# Rows per block: the features of a block of 512 rows with 1024 float32 columns take 2 MiB, which fits in the caches of
# a core, and a task is long enough (about a millisecond) to hide the cost of handing the task to a thread.
DEFAULT_BLOCK_ROWS = 512

# Largest number of threads: further threads would take memory for a block each, and have no core to run on.
_MOST_THREADS, _MOST_THREADS_A_CORE = 16, 4

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_UNITS |= {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


@dataclass(frozen=True)
class Config:
    """The settings in force: ``threads``, ``memory`` in bytes (None: what the system leaves), ``block_rows``.

    ``engine`` is the engine of ``fit``, None for the threads of this process. ``checkpoint`` keeps the state of fits.
    """

    threads: int
    memory: int | None
    block_rows: int
    engine: Any = None
    checkpoint: Checkpoints | None = None


def parse_bytes(size: int | str) -> int:
    """Turn ``"2GiB"``, ``"500 MB"`` or a number of bytes into a number of bytes.

    >>> parse_bytes("2GiB")
    2147483648
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(size).lower())
    if match is None or match[2] not in _UNITS:
        raise ValueError(f"memory must be a number of bytes or a text such as '2GiB' or '500MB', got {size!r}.")
    n_bytes = int(float(match[1]) * _UNITS[match[2]])
    if n_bytes < 1:
        raise ValueError(f"memory must be positive, got {size!r}. Leave it out for no limit.")
    return n_bytes


def _positive(name: str, value: int | str) -> int:
    try:
        number = 0 if isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        number = 0
    if number < 1 or (isinstance(value, float) and value != number):
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}.")
    return number


def cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _threads(name: str, value: int | str) -> int:
    return min(_positive(name, value), max(_MOST_THREADS, _MOST_THREADS_A_CORE * cores()))


def _threads_of_environment() -> int:
    """Return MERCER_NUM_THREADS, else OMP_NUM_THREADS (which joblib sets in its workers), else the cores we may use."""
    if chosen := os.environ.get("MERCER_NUM_THREADS"):
        return _threads("MERCER_NUM_THREADS", chosen)
    omp = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores(), int(omp)) if omp.isdigit() and int(omp) > 0 else cores()


_config: ContextVar[Config | None] = ContextVar("mercer_config", default=None)


def get_config() -> Config:
    """Return the settings in force here."""
    return _config.get() or Config(threads=_threads_of_environment(), memory=None, block_rows=DEFAULT_BLOCK_ROWS)


def memory_budget() -> limits.Bound:
    """Return the bytes that mercer may allocate now, and what bounds them.

    The budget of ``config_context``, but no more than the machine and the limits of the process allow. If no budget is
    set: the memory that the machine, its cgroups and the limits of the process leave at this moment. A call takes about
    0.2 ms: make one per fit, not one per block.
    """
    budget = get_config().memory
    if budget is None:
        return limits.available()
    bound = limits.capacity()
    return bound if bound.n_bytes < budget else limits.Bound(budget, "the budget set by config_context(memory=...)")


def lasting_limit() -> int | None:
    """Return the memory budget or limit set for this process; None if only the memory of the machine bounds it.

    Unlike ``memory_budget``, the result does not change over time, so that choices based on it are the same in every
    run.
    """
    process, budget = limits.process_limit(), get_config().memory
    if process is None:
        return budget
    return process.n_bytes if budget is None else min(budget, process.n_bytes)


def _engine(engine: Any) -> Any:
    if not all(hasattr(engine, verb) for verb in ("map", "reduce", "chain", "shares_memory")):
        raise ValueError(f"engine must be an engine, such as mercer.engines.Dask(client), got {engine!r}.")
    return engine


def _store(checkpoint: Any) -> Any:
    if not hasattr(checkpoint, "slot"):
        raise ValueError(
            f"checkpoint must be a CheckpointFolder here, got {checkpoint!r}. mercer.config_context takes a folder."
        )
    return checkpoint


# From the name of a setting to the function that checks its value.
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "threads": lambda value: _threads("threads", value),
    "memory": parse_bytes,
    "block_rows": lambda value: _positive("block_rows", value),
    "engine": _engine,
    "checkpoint": _store,
}


@contextmanager
def changed_config(*, callback: Watcher | None = None, **settings: Any) -> Iterator[Config]:
    """Change settings inside a ``with`` block; those that are None stay as they are.

    ``mercer.config_context`` documents them. It lies above ``mercer.storage`` and turns the folder of ``checkpoint``
    into an object that writes there; this function takes the object.
    """
    changes = {name: _CHECKS[name](value) for name, value in settings.items() if value is not None}
    token = _config.set(replace(get_config(), **changes))
    try:
        with nullcontext() if callback is None else watching(callback):
            yield get_config()
    finally:
        _config.reset(token)
