"""Engines: work on blocks of rows, here on threads, elsewhere on a cluster."""

from mercer.engines.base import Engine, rows_of
from mercer.engines.local import Local

__all__ = ["Engine", "Local", "rows_of"]
