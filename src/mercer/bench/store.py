"""Raw results as small JSON files, one per cell: written whole or not at all, and checked when read."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from mercer.bench.errors import BenchError, NotWrittenError
from mercer.bench.spec import Cell

Status = Literal["done", "skipped", "failed", "missing"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell: its raw values, or the reason why there are none.

    ``others`` is the mean number of processor cores that other programs used meanwhile; None if not known.
    """

    cell: Cell
    status: Status
    values: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0
    machine: dict[str, str] = field(default_factory=dict)
    others: float | None = None


@dataclass(frozen=True)
class Store:
    """A folder of results; ``warn`` is called with a message about each damaged file."""

    folder: Path
    warn: Callable[[str], None] = lambda _: None

    def path(self, cell: Cell) -> Path:
        """Return the path of the result of a cell."""
        return self.folder / cell.experiment / f"{cell.key}.json"

    def write(self, outcome: Outcome) -> None:
        """Write a result atomically: after a crash, a full disk or Ctrl-C, the old file or no file remains."""
        content = {
            "experiment": outcome.cell.experiment,
            "params": dict(outcome.cell.params),
            "settings": dict(outcome.cell.settings),
            "version": outcome.cell.version,
            "status": outcome.status,
            "reason": outcome.reason,
            "values": outcome.values,
            "seconds": round(outcome.seconds, 3),
            "machine": outcome.machine,
            "others": outcome.others,
        }
        content["sha256"] = _checksum(content)
        write_text(self.path(outcome.cell), json.dumps(content, indent=1, allow_nan=True) + "\n")

    def read(self, cell: Cell) -> Outcome:
        """Return the outcome of a cell; a damaged file is renamed, and the cell counts as missing."""
        path = self.path(cell)
        try:
            text = path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return Outcome(cell, "missing", reason="it has not been run yet")
        except UnicodeDecodeError:
            return self._set_aside(cell, path, "it is not text")
        try:
            content = json.loads(text)
            intact = content.pop("sha256") == _checksum(content) and content["experiment"] == cell.experiment
        except (ValueError, KeyError, TypeError, AttributeError):
            return self._set_aside(cell, path, "it is not a result")
        if not intact:
            return self._set_aside(cell, path, "its checksum differs: it was changed after it was written")
        names = ("status", "values", "reason", "seconds", "machine", "others")
        return Outcome(cell, *(content.get(name) for name in names))

    def _set_aside(self, cell: Cell, path: Path, fault: str) -> Outcome:
        aside = path.with_suffix(".corrupt")
        try:
            path.replace(aside)
        except OSError as error:
            raise BenchError(f"{path}: {fault}, and it cannot be set aside ({error}). Remove it.") from None
        self.warn(f"{path}: {fault}. Set aside as {aside.name}; the cell will be run again.")
        return Outcome(cell, "missing", reason="its result file was corrupted")


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all; the error says in one sentence why it could not be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    except OSError as fault:
        raise NotWrittenError(_cannot_write(path, fault)) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException as fault:
        with suppress(OSError):
            Path(temporary).unlink()
        if isinstance(fault, OSError):
            raise NotWrittenError(_cannot_write(path, fault)) from None
        raise


def _cannot_write(path: Path, fault: OSError) -> str:
    way_out = "free some space, or name another folder, and run again"
    return f"{path}: cannot be written ({fault.strerror}). What was finished is kept: {way_out}."


def _checksum(content: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def plain(value: object) -> object:
    """Return a value with the numbers and arrays of NumPy converted to types of JSON."""
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value


def not_finite(values: Mapping[str, object]) -> list[str]:
    """Return the names of values that hold NaN or infinity."""
    return [name for name, value in values.items() if any(not isfinite(number) for number in numbers(value))]


def numbers(value: object) -> list[float]:
    """Return all numbers in a value, however nested."""
    if isinstance(value, dict):
        return [number for entry in value.values() for number in numbers(entry)]
    if isinstance(value, list):
        return [number for entry in value for number in numbers(entry)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []
