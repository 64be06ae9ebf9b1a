"""The bytes of a model file: a safetensors file whose metadata is a checksum and one JSON text.

The value of ``"mercer"`` in the metadata begins with 64 hexadecimal digits: the SHA-256 of the whole file with these
digits set to 0. The JSON follows. Any safetensors reader can list the arrays.
"""

import hashlib
import json
from typing import BinaryIO, NamedTuple, NoReturn

import safetensors
from safetensors.numpy import save as serialise

from mercer._typing import Array
from mercer.storage.decoder import tensor
from mercer.storage.encoder import Node
from mercer.storage.errors import ModelFileError

FORMAT = 2
_KEY = b'"mercer":"'
_DIGITS = 64
_BLANK = "0" * _DIGITS
_LENGTH = 8  # bytes that say how long the header is
_LONGEST_HEADER = 100_000_000  # the limit of safetensors itself


class Contents(NamedTuple):
    """What a file holds: the JSON about the model, and the arrays that it refers to."""

    about: dict[str, Node]
    tensors: dict[str, Array]


def to_bytes(about: dict[str, Node], tensors: dict[str, Array]) -> bytearray:
    """Return the bytes of a file."""
    text = json.dumps(about, allow_nan=False, separators=(",", ":"))
    data = bytearray(serialise(tensors, metadata={"mercer": _BLANK + text}))
    if int.from_bytes(data[:_LENGTH], "little") > _LONGEST_HEADER:
        raise ModelFileError(
            "mercer.save: the names, labels and parameters of the model take more than 100 MB of text."
        )
    start = data.index(_KEY) + len(_KEY)
    data[start : start + _DIGITS] = hashlib.sha256(data).hexdigest().encode()
    return data


def read(file: BinaryIO) -> Contents:
    """Return the contents of a file, or raise an error that says what is wrong with the file."""
    header = _header(file)
    about = _about(header)
    data = bytearray(header + file.read())
    _check_sum(data)
    try:
        stored = safetensors.deserialize(bytes(data))  # type: ignore[no-untyped-call]
    except safetensors.SafetensorError as error:
        raise ModelFileError(f"it is damaged: {error}") from error
    return Contents(about, {name: tensor(**part) for name, part in stored})


def _header(file: BinaryIO) -> bytes:
    """Return the length and the header, and read no further: a foreign file may be of any size."""
    start = file.read(_LENGTH)
    if not start:
        raise ModelFileError("it is empty")
    length = int.from_bytes(start, "little")
    if len(start) < _LENGTH or not 2 <= length <= _LONGEST_HEADER:
        raise ModelFileError("it is not a mercer model file")
    header = file.read(length)
    if header[:1] != b"{":
        raise ModelFileError("it is not a mercer model file")
    if len(header) < length:
        raise ModelFileError("it is cut short")
    return start + header


def _about(header: bytes) -> dict[str, Node]:
    try:
        metadata = json.loads(header[_LENGTH:]).get("__metadata__") or {}
        text = metadata.get("mercer")
    except (ValueError, RecursionError, AttributeError) as error:
        raise ModelFileError("it is damaged: its header cannot be read") from error
    if not isinstance(text, str):
        raise ModelFileError("it is a safetensors file, but not one of mercer's models")
    try:
        about: dict[str, Node] = json.loads(text[_DIGITS:], parse_constant=_refuse_constant)
        version = about["format"]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise ModelFileError("it is damaged: its description cannot be read") from error
    if type(version) is not int or version < 1:
        raise ModelFileError("it is damaged: its format has no number")
    if version != FORMAT:
        raise ModelFileError(_of_another_format(about, version))
    return about


def _of_another_format(about: dict[str, Node], version: int) -> str:
    versions = about.get("versions")
    writer = versions.get("mercer") if isinstance(versions, dict) else None
    said = f"it has format {version}, written by mercer {writer or 'of an unknown version'}, and this mercer reads "
    if version > FORMAT:
        return said + f"format {FORMAT}. Upgrade mercer"
    return said + f"format {FORMAT} only. Fit the model again and save it, or load it with the mercer that wrote it"


def _check_sum(data: bytearray) -> None:
    start = data.find(_KEY) + len(_KEY)
    found = bytes(data[start : start + _DIGITS])
    data[start : start + _DIGITS] = _BLANK.encode()
    if hashlib.sha256(data).hexdigest().encode() != found:
        raise ModelFileError("it is damaged: its bytes are not those that were written (the checksum differs)")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
