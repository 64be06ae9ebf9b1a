"""Data as re-iterable blocks of rows: what every learner and map reads, whatever the rows come from."""

from mercer.data.blocks import Blocks, as_blocks

__all__ = ["Blocks", "as_blocks"]
