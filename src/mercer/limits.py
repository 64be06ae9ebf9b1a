"""How much memory this process may use, and what bounds it: the machine, its cgroups, or its resource limits.

``capacity`` is the smallest limit; it stays the same while the process runs. ``available`` is the smallest amount that
the limits leave now, after the memory used by this process and by others.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path, PurePosixPath

try:
    import resource
except ModuleNotFoundError:  # Windows has no resource limits
    resource = None  # type: ignore[assignment]

# More than any machine has: if no limit is known, NumPy's allocation decides.
UNKNOWN = 2**62
_ROOT = Path("/")
# The file cache: a cgroup counts it as used, and frees it when memory is needed.
_RECLAIMABLE = ("inactive_file", "active_file", "slab_reclaimable")


@dataclass(frozen=True)
class Bound:
    """A number of bytes, and what sets it."""

    n_bytes: int
    source: str


@dataclass(frozen=True)
class _Cgroup:
    """A directory of a memory controller, its name, and whether it is of version 2."""

    folder: Path
    name: str
    unified: bool

    def limits(self) -> Iterator[Bound]:
        """Yield the limits of this group."""
        for file in ("memory.max", "memory.high") if self.unified else ("memory.limit_in_bytes",):
            limit = _integer(self.folder / file)
            if limit is not None:
                yield Bound(limit, f"{file} of the cgroup {self.name}")

    def used(self) -> int:
        """Return the bytes that the group uses and cannot reclaim."""
        usage = _integer(self.folder / ("memory.current" if self.unified else "memory.usage_in_bytes")) or 0
        prefix = "" if self.unified else "total_"  # of the group and its children
        stat = _table(self.folder / "memory.stat")
        return max(0, usage - sum(stat.get(prefix + name, 0) for name in _RECLAIMABLE))


def capacity(root: Path = _ROOT) -> Bound:
    """Return the memory of the machine, or the smallest limit of this process if that is less."""
    set_here = [Bound(limit, name) for limit, name, _ in _resource_limits(root)]
    return _least([_machine(root), *_cgroup_limits(root, os.getpid()), *set_here])


def available(root: Path = _ROOT) -> Bound:
    """Return the memory that this process may still use: the smallest amount that the machine and the limits leave."""
    machine = _machine(root)
    free = _table(root / "proc/meminfo").get("MemAvailable")
    left = [machine if free is None else Bound(1024 * free, "the memory available on this machine")]
    for group in _cgroups(root, os.getpid()):
        bounds = [bound for bound in group.limits() if bound.n_bytes < machine.n_bytes]
        used = group.used() if bounds else 0
        left += [Bound(max(0, bound.n_bytes - used), f"what is left of {bound.source}") for bound in bounds]
    for limit, name, used in _resource_limits(root):
        left.append(Bound(max(0, limit - used), f"what is left of {name}"))
    return _least(left)


def process_limit(root: Path = _ROOT) -> Bound | None:
    """Return the smallest limit set for this process; None if no limit is below the memory of the machine."""
    bound = capacity(root)
    return None if bound.n_bytes >= _machine(root).n_bytes else bound


def _least(bounds: list[Bound]) -> Bound:
    return min(bounds, key=attrgetter("n_bytes"))


@lru_cache(maxsize=8)
def _machine(root: Path) -> Bound:
    total = _table(root / "proc/meminfo").get("MemTotal")
    return Bound(_physical() if total is None else 1024 * total, "the memory of this machine")


def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return UNKNOWN


def _resource_limits(root: Path) -> list[tuple[int, str, int]]:
    """Return the limits on address space and data, if set, with their names and how much of each is used."""
    if resource is None:
        return []
    set_limits = []
    for name, command, column in (("RLIMIT_AS", "ulimit -v", 0), ("RLIMIT_DATA", "ulimit -d", 5)):
        limit = resource.getrlimit(getattr(resource, name))[0] if hasattr(resource, name) else resource.RLIM_INFINITY
        if limit != resource.RLIM_INFINITY and limit >= 0:
            set_limits.append((limit, f"{name} ({command})", _mapped(root, column)))
    return set_limits


def _mapped(root: Path, column: int) -> int:
    """Return the bytes of address space (column 0) or of data (column 5) that this process has; 0 without /proc."""
    pages = _text(root / "proc/self/statm").split()
    return int(pages[column]) * os.sysconf("SC_PAGE_SIZE") if len(pages) > column else 0


@lru_cache(maxsize=8)
def _cgroup_limits(root: Path, pid: int) -> tuple[Bound, ...]:
    return tuple(bound for group in _cgroups(root, pid) for bound in group.limits())


@lru_cache(maxsize=8)
def _cgroups(root: Path, pid: int) -> tuple[_Cgroup, ...]:
    """Return the memory cgroup of this process and its mounted parents, of versions 1 and 2."""
    groups: list[_Cgroup] = []
    mounts = list(_mounts(root))
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        unified = controllers == ""
        if unified or "memory" in controllers.split(","):
            for mount_root, mount_point in (mount[:2] for mount in mounts if mount[2] == unified):
                groups += _ancestors(root, mount_root, mount_point, path, unified)
    return tuple(groups)


def _mounts(root: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield root, mount point and version 2 or not of each mounted hierarchy that controls memory."""
    for line in _text(root / "proc/self/mountinfo").splitlines():
        fields, _, kind = line.partition(" - ")
        where, what = fields.split(), kind.split()
        if len(where) < 5 or len(what) < 3:
            continue
        if what[0] == "cgroup2" or (what[0] == "cgroup" and "memory" in what[2].split(",")):
            yield where[3], where[4], what[0] == "cgroup2"


def _ancestors(root: Path, mount_root: str, mount_point: str, path: str, unified: bool) -> list[_Cgroup]:
    """Return a cgroup and its parents up to the mount; for a path outside the mount, only the mount."""
    group = PurePosixPath(path)
    inside = group.relative_to(mount_root) if group.is_relative_to(mount_root) else PurePosixPath()
    parts = () if ".." in inside.parts else inside.parts
    top = root / mount_point.lstrip("/")
    names = [PurePosixPath("/", *parts[:depth]) for depth in range(len(parts), -1, -1)]
    return [_Cgroup(top.joinpath(*name.parts[1:]), str(name), unified) for name in names]


def _integer(file: Path) -> int | None:
    """Return the number that a file holds, or None for "max", for -1 and for a file that is not there."""
    text = _text(file).strip()
    return int(text) if text.isdigit() else None


def _table(file: Path) -> dict[str, int]:
    """Return a file of lines "name value" or "name: value kB" as a dictionary."""
    pairs = [line.split() for line in _text(file).replace(":", " ").splitlines()]
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) > 1 and pair[1].isdigit()}


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
