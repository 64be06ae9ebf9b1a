"""The one error of data sets."""


class DatasetError(ValueError):
    """A data set is not known, not found, or differs from what the registry says."""
