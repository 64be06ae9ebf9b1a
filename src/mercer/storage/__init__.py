"""Model files: safetensors with a JSON header, a fixed registry of classes, a checksum, and no code.

``save`` writes a whole file or none; ``load`` returns a model with the same bits, or raises ``ModelFileError``;
``describe`` returns the description of a file.
"""

from mercer.storage.checkpoints import CheckpointFolder
from mercer.storage.errors import ModelFileError
from mercer.storage.files import atomic_file
from mercer.storage.models import Description, describe, dumps, load, loads, save

__all__ = [
    "CheckpointFolder",
    "Description",
    "ModelFileError",
    "atomic_file",
    "describe",
    "dumps",
    "load",
    "loads",
    "save",
]
