"""The parts of the library that sub-commands use, imported when a command runs: ``--help`` needs none of them."""

from mercer.contexts import config_context
from mercer.data import Source, TablePreparation, open_source
from mercer.data.columns import some
from mercer.data.row_pieces import KEPT_AS_PIECES, PiecesWriter, assemble
from mercer.data.traits import traits_of_source
from mercer.data.writers import RowWriter, format_of, row_writer, writer_of
from mercer.features import feature_map
from mercer.kernels import Gaussian, Kernel
from mercer.learners import (
    KernelLogisticRegression,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    TunedClassifier,
    TunedRegressor,
)
from mercer.learners.checkpointed import checkpointed, settings
from mercer.learners.table_model import TableModel
from mercer.storage import atomic_file, dumps, load
from mercer.storage.unfinished import UnfinishedFile, remove_lost_record

__all__ = [
    "KEPT_AS_PIECES",
    "Gaussian",
    "Kernel",
    "KernelLogisticRegression",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
    "PiecesWriter",
    "RowWriter",
    "Source",
    "TableModel",
    "TablePreparation",
    "TunedClassifier",
    "TunedRegressor",
    "UnfinishedFile",
    "assemble",
    "atomic_file",
    "checkpointed",
    "config_context",
    "dumps",
    "feature_map",
    "format_of",
    "load",
    "open_source",
    "remove_lost_record",
    "row_writer",
    "settings",
    "some",
    "traits_of_source",
    "writer_of",
]
