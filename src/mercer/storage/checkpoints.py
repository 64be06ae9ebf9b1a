"""Checkpoints as files: one record per file, with the encoding, the checksum and the atomic writes of model files."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from warnings import warn

from mercer import stats
from mercer._typing import Array
from mercer.checkpoints import CheckpointError, CheckpointWarning, Step
from mercer.fitting.empirical_risk import Largest
from mercer.fitting.survey import Look
from mercer.stats.row_sample import SampledRows
from mercer.storage import container
from mercer.storage.decoder import Decoder
from mercer.storage.encoder import Encoder, Node
from mercer.storage.errors import ModelFileError
from mercer.storage.files import Lock, atomic_file, remove_unfinished

SUFFIX = ".checkpoint"
# Records that are kept of a fit: the newest, and the one before it.
_KEPT = 2
_DIGITS = 6

# The statistics that records may hold, by name. No other class of a record is ever built, and none runs code.
_STATISTICS: dict[str, type] = {
    cls.__name__: cls
    for cls in (*(getattr(stats, name) for name in stats.__all__ if name != "Statistic"), Largest, Look, SampledRows)
}


class CheckpointFolder:
    """The setting ``checkpoint`` of ``config_context``: a folder with the records of the fits that are not complete.

    Fits are numbered in their order: the second fit of a script continues the second fit of the script that was killed.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    every : float
        Seconds between two records.
    """

    def __init__(self, folder: str | os.PathLike[str], every: float = 60.0):
        self.folder, self.every = Path(folder), every
        self._n_fits = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"checkpoint: the folder {folder} cannot be made: {_reason(error)}.") from error
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise CheckpointError(f"checkpoint: there is no permission to write to the folder {folder}.")

    def slot(self, owner: str) -> "FitFiles":
        """Return the files of the next fit; the unfinished files of killed processes are removed."""
        self._n_fits += 1
        return FitFiles(self.folder, self._n_fits, owner)


class _Found(NamedTuple):
    number: int
    path: Path


class FitFiles:
    """The files of one fit: ``fit-1.000007.checkpoint`` is the seventh record of the first fit."""

    def __init__(self, folder: Path, number: int, owner: str):
        self._folder, self._owner, self._name = folder, owner, f"fit-{number}"
        self._is_warned = False
        self._own = self._taken()
        remove_unfinished(folder, f"{self._name}.")
        found = list(self._found())
        self._last = found[0].number if found else 0

    @property
    def place(self) -> str:
        """Where the records are, for messages."""
        return str(self._folder / f"{self._name}.*{SUFFIX}")

    def load(self) -> list[Step]:
        """Return the newest record that is sound; a damaged one is renamed, with a warning."""
        for _, path in self._found():
            try:
                return _read(path)
            except ModelFileError as error:
                aside = path.with_name(path.name + ".damaged")
                path.replace(aside)
                warn(
                    f"{self._owner}: the checkpoint {path} cannot be used: {error}. It is now {aside}, and the one "
                    "before it takes its place, if there is one.",
                    CheckpointWarning,
                    stacklevel=2,
                )
        return []

    def save(self, steps: list[Step]) -> None:
        """Write a record and remove all but the two newest. A full disk gives a warning, and the fit goes on."""
        self._last += 1
        path = self._folder / f"{self._name}.{self._last:0{_DIGITS}}{SUFFIX}"
        try:
            with atomic_file(path) as file:
                file.write(_encoded(steps))
            for old in list(self._found())[_KEPT:]:
                old.path.unlink(missing_ok=True)
        except OSError as error:
            if not self._is_warned:
                self._is_warned = True
                warn(
                    f"{self._owner}: the checkpoint {path} could not be written: {_reason(error)}. The fit goes on, "
                    "and older checkpoints stay.",
                    CheckpointWarning,
                    stacklevel=2,
                )

    def clear(self) -> None:
        """Remove all records of this fit, and let others use its name."""
        for found in self._found():
            found.path.unlink(missing_ok=True)
        self._own.release(remove=True)

    def release(self) -> None:
        """Let others use the name of this fit; its records stay."""
        self._own.release(remove=not list(self._found()))

    def holds(self, value: object) -> bool:
        """Return whether a record may hold this statistic."""
        return _STATISTICS.get(type(value).__name__) is type(value)

    def _taken(self) -> Lock:
        path = self._folder / f".{self._name}.lock"
        try:
            lock = Lock.of(path)
        except OSError as error:
            raise CheckpointError(f"checkpoint: {path} cannot be written: {_reason(error)}.") from error
        if lock is None:
            raise CheckpointError(
                f"{self._owner}: another process is fitting with the checkpoint {self.place}. Give another folder, or "
                "wait until it has ended."
            )
        return lock

    def _found(self) -> Iterator[_Found]:
        """Yield the records of this fit, the newest first."""
        numbers = {}
        for path in self._folder.glob(f"{self._name}.*{SUFFIX}"):
            digits = path.name[len(self._name) + 1 : -len(SUFFIX)]
            if digits.isdigit():
                numbers[int(digits)] = path
        yield from (_Found(number, numbers[number]) for number in sorted(numbers, reverse=True))


class StepEncoder(Encoder):
    """An encoder of models that takes statistics too."""

    def _part(self, value: object, where: str, depth: int) -> Node:
        name = type(value).__name__
        if _STATISTICS.get(name) is not type(value):
            return super()._part(value, where, depth)
        return {"kind": "statistic", "class": name, "fields": self._fields(_fields_of(value), where, depth)}


class StepDecoder(Decoder):
    """A decoder of records: it builds no estimator that a model file could not hold, and statistics."""

    def __init__(self, tensors: dict[str, Array]):
        super().__init__(tensors)
        self._readers["statistic"] = self._statistic

    def steps(self, node: Node) -> list[Step]:
        """Return the steps of a record."""
        items = self._decode(node, 0)
        if not isinstance(items, list) or not all(isinstance(item, tuple) and len(item) == 4 for item in items):
            raise ModelFileError("it holds no steps")
        return [Step(*item) for item in items]

    def _statistic(self, node: dict[str, Node], depth: int) -> object:
        cls = _STATISTICS.get(str(node["class"]))
        if cls is None:
            raise ModelFileError(f"it names the statistic {node['class']!r}, which this mercer does not have")
        fields = self._fields(node["fields"], depth)
        if issubclass(cls, tuple):
            return cls(**fields)
        value = object.__new__(cls)
        vars(value).update(fields)
        return value


def _fields_of(value: object) -> dict[str, object]:
    return value._asdict() if isinstance(value, SampledRows) else dict(vars(value))


def _encoded(steps: list[Step]) -> bytearray:
    encoder = StepEncoder()
    items = [(step.title, step.progress, step.value, step.at) for step in steps]
    about: dict[str, Node] = {"format": container.FORMAT, "steps": encoder.encode(items, "checkpoint")}
    return container.to_bytes(about, encoder.tensors)


def _read(path: Path) -> list[Step]:
    try:
        with path.open("rb") as file:
            about, tensors = container.read(file)
        return StepDecoder(tensors).steps(about["steps"])
    except (ModelFileError, OSError, MemoryError):
        raise
    except Exception as error:  # the error of a constructor about a value that no fit sets
        raise ModelFileError(f"it is not sound: {error}") from error


def _reason(error: OSError) -> str:
    with suppress(AttributeError):
        return f"{error.strerror or error}"
    return str(error)
