"""The public ``config_context``: settings by value, among them a folder of checkpoints.

This module lies above ``mercer.storage``, which writes checkpoints; ``mercer.config`` lies below everything that reads
settings.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mercer.checkpoints import Checkpoints
from mercer.config import Config, changed_config
from mercer.validation import check_real
from mercer.watching import Watcher

# Seconds between two checkpoints, unless a user gives another number.
EVERY = 60.0


@contextmanager
def config_context(
    *,
    threads: int | None = None,
    memory: int | str | None = None,
    block_rows: int | None = None,
    callback: Watcher | None = None,
    engine: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float | None = None,
) -> Iterator[Config]:
    """Change the settings inside a ``with`` block; settings that are not given stay as they are.

    Parameters
    ----------
    threads : int, optional
        Threads of mercer's pool, at most 4 per core (and 16 on few cores): further threads are not started.
        Outside any context: ``MERCER_NUM_THREADS``, else ``OMP_NUM_THREADS``, else the cores this process may use.
    memory : int or str, optional
        Budget for the memory that mercer allocates, in bytes or as ``"2GiB"``; a result that cannot fit is refused
        before it is computed. The X of the caller is not counted. By default, the budget is the smallest of the
        available memory and what cgroups (containers) and ``ulimit`` leave; ``show_versions`` prints the budget.
    block_rows : int, optional
        Rows per block. Transforms with any two values agree up to rounding.
    callback : callable, optional
        Called with a ``mercer.watching.State`` (stage, iteration, limit, gap, tol, fraction) after each iteration of a
        fit, perhaps from another thread. If it returns True, support vector machines, logistic regression and k-means
        stop, and keep the best point so far.
    engine : engine, optional
        Where ``fit`` works on files that every worker can open, such as ``mercer.engines.Dask(client)``. By default the
        threads of this process.
    checkpoint : path, optional
        A folder that keeps the state of each fit inside the block until the fit is complete. If the process is killed,
        run the same program again: the fit continues where its last checkpoint was, and returns the same bits as a fit
        that was not interrupted. Other rows, parameters or versions are refused. Use one folder per program: its first
        fit continues the first fit of the program that was killed, its second fit the second.
    every : float, default=60
        Seconds between two checkpoints: at most so much work is lost.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config_context(threads=1, memory="2GiB") as config:
    ...     config.threads, config.memory
    (1, 2147483648)

    A fit that survives the end of its process:

    >>> import tempfile
    >>> import numpy as np
    >>> X = np.random.RandomState(0).rand(1000, 3)
    >>> with tempfile.TemporaryDirectory() as folder, mercer.config_context(checkpoint=folder):
    ...     model = mercer.KernelRidge(random_state=0).fit(X, X.sum(axis=1))
    """
    own = {"threads": threads, "memory": memory, "block_rows": block_rows, "callback": callback, "engine": engine}
    with changed_config(**own, checkpoint=_folder(checkpoint, every)) as settings:
        yield settings


def _folder(checkpoint: str | os.PathLike[str] | None, every: float | None) -> Checkpoints | None:
    """Return what writes checkpoints into a folder; None without a folder."""
    if checkpoint is None:
        if every is not None:
            raise ValueError(
                f"config_context: every={every!r} is the time between checkpoints, and there is no checkpoint. Give "
                "checkpoint='folder' too."
            )
        return None
    if not isinstance(checkpoint, str | os.PathLike):
        raise ValueError(f"config_context: checkpoint must be the path of a folder, got {checkpoint!r}.")
    from mercer.storage.checkpoints import CheckpointFolder  # noqa: PLC0415 - imports all classes of model files

    seconds = EVERY if every is None else check_real("config_context", "every", every, least=0)
    return CheckpointFolder(checkpoint, seconds)
