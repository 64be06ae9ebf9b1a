"""The registry of data sets: the rows of ``catalogue.toml``."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, TypedDict


class OpenML(TypedDict):
    """A data set at OpenML: its number, and the name that OpenML must give for the number."""

    id: int
    name: str


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set before it is loaded.

    Attributes
    ----------
    name, title, task : str
    n_train, n_test, n_features : int
        ``n_test`` is 0 if there is no standard split; ``n_features`` is 0 if the rows are texts or graphs.
    licence, source : str
    recipe : str
        What was done to the source, and what the columns and labels are.
    counts : dict
        Rows of each class, in the order of the sorted labels, by part.
    sha256 : str or None
        The checksum of the file in the folder named by ``MERCER_DATA``.
    openml : dict or None
        Number and name at OpenML, for sets that can be downloaded.
    aliases : tuple of str
    file : str
        Name of its file, without ``.npz``.
    """

    name: str
    title: str
    task: str
    n_train: int
    n_test: int
    n_features: int
    licence: str
    source: str
    recipe: str
    counts: dict[str, list[int]] = field(default_factory=dict)
    sha256: str | None = None
    openml: OpenML | None = None
    aliases: tuple[str, ...] = ()
    file: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of all rows, and of columns."""
        return (self.n_train + self.n_test, self.n_features)


class Catalogue(Mapping[str, DatasetInfo]):
    """The data sets by name, in the order of the registry; aliases and any case of letters are found too."""

    def __init__(self, rows: dict[str, dict[str, Any]]):
        self._infos = {
            name: DatasetInfo(**{"name": name, "file": name, **row, "aliases": tuple(row.get("aliases", ()))})
            for name, row in rows.items()
        }
        self._names = {alias: info.name for info in self._infos.values() for alias in (info.name, *info.aliases)}

    def __getitem__(self, name: str) -> DatasetInfo:
        known = self._names.get(name.lower().replace(" ", "_")) if isinstance(name, str) else None
        if known is None:
            nearest = get_close_matches(str(name).lower(), self._names, 1)
            hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
            raise KeyError(f"there is no data set {name!r}. {hint}There are {', '.join(self._infos)}.")
        return self._infos[known]

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)


@cache
def catalogue() -> Catalogue:
    """Return the registry.

    >>> from mercer.datasets import catalogue
    >>> catalogue()["adult"].shape
    (48842, 123)
    """
    return Catalogue(tomllib.loads((files("mercer.datasets") / "catalogue.toml").read_text(encoding="utf-8")))
