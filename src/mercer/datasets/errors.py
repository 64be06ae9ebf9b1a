"""The one error of data sets."""


class DatasetError(ValueError):
    """A data set that is not known, not at hand, or not what the registry says it is."""
