"""The parts of the library that sub-commands use, imported when a command runs: ``--help`` needs none of them."""

from mercer.contexts import config_context
from mercer.data import Source, TablePreparation, open_source
from mercer.data.columns import some
from mercer.data.writers import format_of, row_writer
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
from mercer.learners.checkpointed import checkpointed
from mercer.learners.table_model import TableModel
from mercer.storage import dumps, load

__all__ = [
    "Gaussian",
    "Kernel",
    "KernelLogisticRegression",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
    "Source",
    "TableModel",
    "TablePreparation",
    "TunedClassifier",
    "TunedRegressor",
    "checkpointed",
    "config_context",
    "dumps",
    "feature_map",
    "format_of",
    "load",
    "open_source",
    "row_writer",
    "some",
]
