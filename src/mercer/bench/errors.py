"""Errors of reproductions; each message is one sentence with the way out."""


class BenchError(ValueError):
    """A paper, table, specification or result file cannot be used; the message names it and the way out."""


class MissingDataError(BenchError):
    """A data set is missing: the cells that need it are skipped, and their claims are "not run"."""


class NotWrittenError(BenchError):
    """A file could not be written: the disk is full, or there is no permission."""
