"""Data as re-iterable blocks of rows: what every learner and map reads, whatever the rows come from."""

from mercer.data.blocks import Blocks, as_blocks
from mercer.data.reservoir import reservoir

__all__ = ["Blocks", "as_blocks", "reservoir"]
