"""Tables: named columns of numbers and categories in csv, parquet, Arrow, .npy, .npz and svmlight files.

``open_table`` opens one; ``TablePreparation`` learns in one pass how to turn its rows into numbers for a learner.
"""

from mercer.data.tables.base import Batch, Codes, Table, TableError, TableWarning, Wanted
from mercer.data.tables.formats import FORMATS, open_table
from mercer.data.tables.preparation import TablePreparation
from mercer.data.tables.reader import PreparedReader
from mercer.data.tables.spool import SpooledTable

__all__ = [
    "FORMATS",
    "Batch",
    "Codes",
    "PreparedReader",
    "SpooledTable",
    "Table",
    "TableError",
    "TablePreparation",
    "TableWarning",
    "Wanted",
    "open_table",
]
