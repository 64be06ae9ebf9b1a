"""What can go wrong in a reproduction, each as one sentence with the way out."""


class BenchError(ValueError):
    """A paper, table, specification or result file that cannot be used; the message names it and the way out."""


class MissingDataError(BenchError):
    """A data set that is not here: the cells that need it are skipped, and their claims are "not run"."""


class NotWrittenError(BenchError):
    """A file that could not be written: a full disk, or a folder that is not ours."""
