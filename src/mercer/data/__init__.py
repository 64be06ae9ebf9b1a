"""Data as re-iterable blocks of rows: what every learner and map reads, whatever the rows come from."""

from mercer.data.blocks import Blocks, as_blocks
from mercer.data.readers import Block, Reader, SvmlightReader
from mercer.data.reservoir import reservoir

__all__ = ["Block", "Blocks", "Reader", "SvmlightReader", "as_blocks", "reservoir"]
