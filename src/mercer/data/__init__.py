"""Data as re-iterable blocks of rows: what every learner and map reads, whatever the rows come from.

``as_blocks`` makes blocks of arrays, frames, files and functions. ``open_source`` opens a file with columns of numbers
and of text; ``TablePreparation`` learns in one pass how to turn both into numbers for a learner, and
``prepared_blocks`` does it.
"""

from mercer.data.blocks import Blocks
from mercer.data.columns import Choice, Columns, TableError, TableWarning
from mercer.data.opening import as_blocks
from mercer.data.preparation import TablePreparation
from mercer.data.prepared import prepared_blocks
from mercer.data.reservoir import reservoir
from mercer.data.sources import Block, Reader, Source, open_source
from mercer.data.sources.svmlight import SvmlightReader

__all__ = [
    "Block",
    "Blocks",
    "Choice",
    "Columns",
    "Reader",
    "Source",
    "SvmlightReader",
    "TableError",
    "TablePreparation",
    "TableWarning",
    "as_blocks",
    "open_source",
    "prepared_blocks",
    "reservoir",
]
