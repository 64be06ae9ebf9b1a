"""Engines: work on blocks of rows, here on threads, elsewhere on a cluster."""

from mercer.engines.base import Engine, rows_of
from mercer.engines.chosen import engine_for
from mercer.engines.dask import Dask
from mercer.engines.local import Local

__all__ = ["Dask", "Engine", "Local", "engine_for", "rows_of"]
