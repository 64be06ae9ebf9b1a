"""The one error of model files."""


class ModelFileError(ValueError):
    """A file that is not a whole, sound model of a format known here; or a model that no file can hold.

    Errors of the file system (no such file, no permission, no space left) stay what they are: ``OSError``.
    """
