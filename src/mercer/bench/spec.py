"""A reproduced paper as a folder: ``experiment.toml`` says what is run, ``claims.toml`` what was published."""

import hashlib
import importlib.util
import itertools
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from mercer.bench.errors import BenchError

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Skip:
    """Cells that are left out on purpose: those whose parameters include ``when``, for the reason ``because``."""

    when: Params
    because: str
    quick_only: bool = False


@dataclass(frozen=True)
class Cell:
    """One point of an experiment's grid: the unit that is run, stored and resumed."""

    experiment: str
    params: Params
    settings: Params
    version: int = 1

    @cached_property
    def key(self) -> str:
        """A file name: readable parameters, and a hash of everything the result depends on."""
        content = json.dumps([self.experiment, self.params, self.settings, self.version], sort_keys=True)
        words = "-".join(str(value) for value in self.params.values())
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-.")[:60]
        return f"{readable or 'cell'}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"

    def __str__(self) -> str:
        return f"{self.experiment}: " + ", ".join(f"{name} {value}" for name, value in self.params.items())


@dataclass(frozen=True)
class Experiment:
    """A table or figure: a function of the paper's ``experiments.py`` over the product of a grid.

    ``takes`` says how long the full run takes, for claims that are not run yet.
    """

    name: str
    title: str
    function: str
    grid: Params
    settings: Params = field(default_factory=dict)
    quick: Params = field(default_factory=dict)
    quick_settings: Params = field(default_factory=dict)
    skip: tuple[Skip, ...] = ()
    about: str = ""
    takes: str = ""
    version: int = 1
    figures: tuple[Params, ...] = ()
    tables: tuple[Params, ...] = ()

    def cells(self, *, quick: bool) -> list[Cell]:
        """Return the grid's cells in order, those that are skipped included."""
        grid = {**self.grid, **self.quick} if quick else self.grid
        settings = {**self.settings, **self.quick_settings} if quick else self.settings
        values = [value if isinstance(value, list) else [value] for value in grid.values()]
        return [
            Cell(self.name, dict(zip(grid, point, strict=True)), settings, self.version)
            for point in itertools.product(*values)
        ]

    def why_skipped(self, cell: Cell, *, quick: bool) -> str | None:
        """Return why a cell is left out on purpose, or None."""
        for skip in self.skip:
            if (quick or not skip.quick_only) and includes(cell.params, skip.when):
                return skip.because
        return None


@dataclass(frozen=True)
class Choice:
    """A setting that the paper leaves open: our choice, and why; ``exploratory`` if made after seeing results."""

    what: str
    ours: str
    because: str
    exploratory: bool = False


@dataclass(frozen=True)
class Paper:
    """A reproduced paper: its folder, its title and other facts, its experiments, and our choices."""

    name: str
    folder: Path
    about: Params
    experiments: tuple[Experiment, ...]
    choices: tuple[Choice, ...] = ()

    @property
    def title(self) -> str:
        """The paper's title."""
        return str(self.about["title"])

    def experiment(self, name: str) -> Experiment:
        """Return an experiment by its name; the error lists all names."""
        by_name = {experiment.name: experiment for experiment in self.experiments}
        if name not in by_name:
            raise BenchError(_unknown(f"{self.name}: table or figure", name, by_name))
        return by_name[name]

    def results(self, *, quick: bool) -> Path:
        """Return the folder where results are kept unless the caller names another."""
        return self.folder / "results" / ("quick" if quick else "full")

    def function(self, name: str) -> Callable[[Params], Mapping[str, object]]:
        """Return a function of the paper's ``experiments.py``."""
        found = getattr(self._module, name, None)
        if not callable(found):
            raise BenchError(f"{self.folder / 'experiments.py'}: there is no function {name!r}, named by {self.name}.")
        return found  # type: ignore[no-any-return]

    @cached_property
    def _module(self) -> ModuleType:
        path = self.folder / "experiments.py"
        module_spec = importlib.util.spec_from_file_location(f"mercer_papers_{self.name}", path)
        if module_spec is None or module_spec.loader is None or not path.is_file():
            raise BenchError(f"{path}: not found. A paper's folder needs experiments.py.")
        module = importlib.util.module_from_spec(module_spec)
        module_spec.loader.exec_module(module)
        return module


def includes(params: Params, wanted: Params) -> bool:
    """Return whether the parameters have every wanted value; a list of values accepts each of them."""
    return all(
        name in params and (params[name] in value if isinstance(value, list) else params[name] == value)
        for name, value in wanted.items()
    )


def in_words(name: str, value: object) -> str:
    """Return a parameter as text: a name as it is, a number with the name of its parameter."""
    return f"{name} = {value}" if isinstance(value, int | float) else str(value)


def papers_folder() -> Path:
    """Return the folder of the papers: ``MERCER_PAPERS``, or ``papers/`` of the checkout.

    The papers are not in the wheel: reproductions need the repository.
    """
    named = os.environ.get("MERCER_PAPERS")
    if named:
        if not Path(named).is_dir():
            raise BenchError(f"MERCER_PAPERS={named}: there is no such folder. Name the papers/ folder of a checkout.")
        return Path(named)
    for start in (Path.cwd(), Path(__file__).resolve()):
        for parent in (start, *start.parents):
            if any(parent.glob("papers/*/experiment.toml")):
                return parent / "papers"
    raise BenchError(
        "no papers found: they are not part of the installed package. Work in a checkout of mercer's repository, or "
        "set MERCER_PAPERS to its papers/ folder."
    )


def papers() -> list[Paper]:
    """Return all papers, in order of their names."""
    return [load_paper(path.parent) for path in sorted(papers_folder().glob("*/experiment.toml"))]


def find_paper(name: str) -> Paper:
    """Return a paper by the name of its folder; the error lists all names."""
    folders = {path.parent.name: path.parent for path in sorted(papers_folder().glob("*/experiment.toml"))}
    if name not in folders:
        raise BenchError(_unknown("paper", name, folders))
    return load_paper(folders[name])


def load_paper(folder: Path) -> Paper:
    """Read ``experiment.toml`` of a folder."""
    path = folder / "experiment.toml"
    content = read_toml(path)
    about = content.get("paper", {})
    for needed in ("title", "authors", "year", "summary"):
        if needed not in about:
            raise BenchError(f"{path}: [paper] must have {needed!r}.")
    experiments = tuple(_experiment(path, entry) for entry in content.get("experiment", []))
    names = [experiment.name for experiment in experiments]
    if len(set(names)) < len(names):
        raise BenchError(f"{path}: two experiments have one name among {', '.join(names)}.")
    return Paper(
        folder.name, folder, about, experiments, tuple(_choice(path, entry) for entry in content.get("choice", []))
    )


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; a fault names the file and the line."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise BenchError(f"{path}: not found.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise BenchError(f"{path}: not valid TOML: {fault}.") from None


def _choice(path: Path, entry: dict[str, Any]) -> Choice:
    try:
        return Choice(**entry)
    except TypeError as fault:
        raise BenchError(f"{path}: a [[choice]] needs 'what', 'ours' and 'because': {fault}.") from None


def _experiment(path: Path, entry: dict[str, Any]) -> Experiment:
    known = set(Experiment.__dataclass_fields__)
    renamed = {"figure": "figures", "table": "tables"}
    fields = {renamed.get(name, name): value for name, value in entry.items()}
    for needed in ("name", "title", "function", "grid"):
        if needed not in fields:
            raise BenchError(f"{path}: an [[experiment]] must have {needed!r}, got {sorted(entry)}.")
    for name in fields:
        if name not in known:
            raise BenchError(f"{path}: {_unknown('key', name, known)}")
    for name in ("figures", "tables"):
        fields[name] = tuple(fields.get(name, ()))
    try:
        fields["skip"] = tuple(Skip(**skip) for skip in fields.get("skip", ()))
    except TypeError as fault:
        raise BenchError(f"{path}: {fields['name']}: a skip needs 'when' and 'because': {fault}.") from None
    return Experiment(**fields)


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{kind} {name!r} is not known.{hint} There are: {', '.join(names)}."
