"""The one error of model files."""


class ModelFileError(ValueError):
    """A file does not hold a sound model in a known format; or a model cannot be stored in a file.

    Errors of the file system (no such file, no permission, no space left) are ``OSError``.
    """
