"""Which engine works on some blocks: that of the configuration, of their data, or the threads of this process."""

import sys

from mercer.config import get_config
from mercer.data import Blocks
from mercer.data.sources.collections import DaskSource
from mercer.engines.base import Engine
from mercer.engines.dask import Client, Dask
from mercer.engines.local import Local
from mercer.engines.tasks import parts_of


def engine_for(blocks: Blocks) -> Engine:
    """Return the engine of ``config_context``; for Dask collections that of the current client; else ``Local``.

    Rows that the engine cannot read are refused here, before any work. Without a client, the partitions of a collection
    are computed one after the other in this process.

    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> type(engine_for(as_blocks(np.eye(2)))).__name__
    'Local'
    """
    engine: Engine | None = get_config().engine
    if engine is None and isinstance(blocks.reader, DaskSource) and (client := _current_client()) is not None:
        engine = Dask(client)
    if engine is None:
        return Local()
    if not engine.shares_memory:
        parts_of(blocks.owner, blocks)
    return engine


def _current_client() -> Client | None:
    if "distributed" not in sys.modules:  # nobody has made a client
        return None
    from distributed import default_client  # noqa: PLC0415 - optional

    try:
        found: Client = default_client()
    except ValueError:
        return None
    return found
