"""What the tasks of an engine with other processes do: work on a part of the rows, and merge parts."""

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Generic

import numpy as np

from mercer.config import Config, changed_config, get_config
from mercer.data import Block, Blocks
from mercer.data.sources.arrays import ArraySource
from mercer.data.sources.collections import Bundle, DaskPart
from mercer.data.sources.npy import NpySource
from mercer.engines.base import S, T
from mercer.engines.local import Local
from mercer.engines.tree import ARITY

# Blocks per part: few where there are few blocks, so that all workers have work.
_FEW_PARTS = 64
# Most bytes of an array of this process that may travel to workers.
_MOST_SENT = 2**26


def parts_of(owner: str, blocks: Blocks) -> list[Blocks]:
    """Return the parts that tasks work on: partitions of a collection, else 16 or 256 blocks each.

    Merging such parts by ``fold_parts`` gives the bits of ``Local``. A source that cannot be divided is refused.
    """
    if not blocks.reader.divides or blocks.n_rows is None:
        raise ValueError(
            f"{owner}: this engine reads parts of the rows, and {type(blocks.reader).__name__} can be read from its "
            "beginning only. Give parquet or .npy files that every worker can open, or a Dask array or data frame."
        )
    reader = blocks.reader
    if isinstance(reader, ArraySource) and not isinstance(reader, NpySource):
        size = blocks.n_rows * blocks.width * blocks.dtype.itemsize if not blocks.is_sparse else 0
        if size > _MOST_SENT:
            raise ValueError(
                f"{owner}: X is an array of {size / 2**20:.0f} MiB in this process, and at most {_MOST_SENT >> 20} MiB "
                "are sent to workers. Give files that every worker can open, or a Dask array."
            )
    block_rows = blocks.block_rows or get_config().block_rows
    few = blocks.n_rows <= _FEW_PARTS * ARITY * block_rows
    return blocks.parts(block_rows * (ARITY if few else ARITY**2))


def total_of_part(work: Callable[[Block], S], part: Blocks, config: Config, bundle: Bundle | None = None) -> S | None:
    """Return the merged ``work(block)`` of the blocks of a part, on one thread."""
    return _of_part(lambda rows: Local().total(work, rows), part, config, bundle)


def results_of_part(work: Callable[[Block], T], part: Blocks, config: Config, bundle: Bundle | None = None) -> list[T]:
    """Return ``work(block)`` of each block of a part, in order, on one thread."""
    return _of_part(lambda rows: list(Local().map(work, rows)), part, config, bundle)


def state_after_part(work: Callable[[T, Block], T], part: Blocks, config: Config, bundle: Bundle | None, state: T) -> T:
    """Return a state after ``state = work(state, block)`` for each block of a part, in order."""

    def run(rows: Blocks) -> T:
        *_, last = Local().chain(work, rows, state)
        return last

    return _of_part(run, part, config, bundle)


class Errand(Generic[T]):
    """A task, its work and the settings of this process, as a function of a part that ``pickle`` takes.

    An engine whose workers are other processes sends it to them. Work may be any function, also one within a function,
    which plain ``pickle`` refuses.

    Examples
    --------
    >>> import pickle
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> from mercer.engines.tasks import Errand, results_of_part
    >>> errand = pickle.loads(pickle.dumps(Errand(results_of_part, lambda block: float(block.X.sum()))))
    >>> errand(as_blocks(np.eye(5), block_rows=2))
    [2.0, 2.0, 1.0]
    """

    def __init__(self, task: Callable[..., T], work: Callable[..., object]):
        import cloudpickle  # noqa: PLC0415 - optional, it comes with dask

        self._sent = cloudpickle.dumps((task, work, replace(get_config(), engine=None)))  # the engine stays here

    def __call__(self, part: Blocks, *more: object) -> T:
        """Do the task on a part."""
        task, work, config = pickle.loads(self._sent)  # noqa: S301 - made in __init__
        result: T = task(work, part, config, *more)
        return result


def n_bytes(statistic: object) -> int:
    """Return the bytes of the arrays of a statistic.

    >>> from mercer.stats import Totals
    >>> n_bytes(Totals.of(3))
    24
    """
    values = [statistic] if isinstance(statistic, np.ndarray) else vars(statistic).values()
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def _of_part(run: Callable[[Blocks], T], part: Blocks, config: Config, bundle: Bundle | None) -> T:
    """Run work on a part as in the process that sent it: memory and block size are its, threads are 1."""
    if bundle is not None and isinstance(part.reader, DaskPart):
        part = part.with_reader(part.reader.loaded(bundle))
    with (
        changed_config(threads=1, memory=config.memory, block_rows=config.block_rows),
        np.errstate(over="ignore", invalid="ignore", divide="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # a warning of a worker reaches nobody
        try:
            return run(part)
        except ValueError as error:
            if not part.place:
                raise
            raise ValueError(f"{error} (In {part.place} of X.)") from None
