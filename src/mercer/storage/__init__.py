"""Model files: safetensors with a JSON header, a fixed registry of classes, a checksum, and never any code.

``save`` writes a file whole or not at all; ``load`` gives back the same bits or raises ``ModelFileError``; ``describe``
says what a file holds.
"""

from mercer.storage.errors import ModelFileError
from mercer.storage.files import atomic_file
from mercer.storage.models import Description, describe, dumps, load, loads, save

__all__ = ["Description", "ModelFileError", "atomic_file", "describe", "dumps", "load", "loads", "save"]
