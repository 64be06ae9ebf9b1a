"""The memory that a process may use: machine, cgroups of both versions, resource limits; read from fake trees."""

import subprocess
import sys

import pytest

from mercer import config_context, limits
from mercer.config import lasting_limit, memory_budget
from mercer.versions import describe

GIB = 2**30
UNLIMITED = "9223372036854771712"  # what version 1 calls no limit
MEMINFO = f"MemTotal: {16 * GIB // 1024} kB\nMemFree: 1 kB\nMemAvailable: {12 * GIB // 1024} kB\n"
V2_MOUNT = "30 23 0:26 {root} /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
V1_MOUNT = "35 31 0:32 {root} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Return the function that writes files below a root; the tests' own resource limits are taken off."""
    monkeypatch.setattr(limits, "_resource_limits", lambda root: [])

    def write(files):
        for name, content in {"proc/meminfo": MEMINFO, **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        return tmp_path

    return write


def _v2(path, files, root="/"):
    proc = {"proc/self/cgroup": f"0::{path}\n", "proc/self/mountinfo": V2_MOUNT.format(root=root) + "\n"}
    return proc | {f"sys/fs/cgroup/{name}": content for name, content in files.items()}


def _v1(path, files, root="/"):
    proc = {
        "proc/self/cgroup": f"11:cpu,cpuacct:/\n4:memory:{path}\n",
        "proc/self/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n" + V1_MOUNT.format(root=root) + "\n",
    }
    return proc | {f"sys/fs/cgroup/memory/{name}": content for name, content in files.items()}


def test_without_limits_it_is_the_machine_and_what_it_has_available(tree):
    root = tree({})
    assert limits.capacity(root) == limits.Bound(16 * GIB, "the memory of this machine")
    assert limits.available(root) == limits.Bound(12 * GIB, "the memory available on this machine")
    assert limits.process_limit(root) is None


CACHE = f"anon {2 * GIB}\ninactive_file {GIB // 2}\nactive_file {GIB // 4}\nslab_reclaimable {GIB // 4}\n"
GROUPS = {
    "version 2, a container's namespace": (
        _v2("/", {"memory.max": str(8 * GIB), "memory.high": "max", "memory.current": str(3 * GIB)}),
        (8 * GIB, "memory.max of the cgroup /"),
        5 * GIB,
    ),
    "version 2, the cache is not counted as used": (
        _v2("/", {"memory.max": str(8 * GIB), "memory.current": str(3 * GIB), "memory.stat": CACHE}),
        (8 * GIB, "memory.max of the cgroup /"),
        6 * GIB,
    ),
    "version 2, memory.high throttles first": (
        _v2("/a", {"a/memory.max": str(8 * GIB), "a/memory.high": str(4 * GIB), "a/memory.current": str(GIB)}),
        (4 * GIB, "memory.high of the cgroup /a"),
        3 * GIB,
    ),
    "version 2, a parent's limit": (
        _v2(
            "/jobs/7/step",
            {
                "jobs/7/step/memory.max": "max",
                "jobs/7/memory.max": str(2 * GIB),
                "jobs/7/memory.current": str(GIB),
                "jobs/memory.max": str(9 * GIB),
            },
        ),
        (2 * GIB, "memory.max of the cgroup /jobs/7"),
        GIB,
    ),
    "version 2, a sibling takes what the parent has": (
        _v2(
            "/jobs/7",
            {
                "jobs/7/memory.max": str(2 * GIB),
                "jobs/7/memory.current": "0",
                "jobs/memory.max": str(4 * GIB),
                "jobs/memory.current": str(3 * GIB),
            },
        ),
        (2 * GIB, "memory.max of the cgroup /jobs/7"),
        GIB,
    ),
    "version 1": (
        _v1(
            "/user",
            {
                "memory.limit_in_bytes": UNLIMITED,
                "user/memory.limit_in_bytes": str(6 * GIB),
                "user/memory.usage_in_bytes": str(3 * GIB),
                "user/memory.stat": f"inactive_file 0\ntotal_inactive_file {GIB}\ntotal_active_file 0\n",
            },
        ),
        (6 * GIB, "memory.limit_in_bytes of the cgroup /user"),
        4 * GIB,
    ),
    "version 1, a container whose own group is mounted as the root": (
        _v1(
            "/docker/abc",
            {"memory.limit_in_bytes": str(GIB), "memory.usage_in_bytes": str(GIB // 4)},
            root="/docker/abc",
        ),
        (GIB, "memory.limit_in_bytes of the cgroup /"),
        3 * GIB // 4,
    ),
    "a path outside the mount": (
        _v2("/../other", {"memory.max": str(GIB), "memory.current": "0"}),
        (GIB, "memory.max of the cgroup /"),
        GIB,
    ),
    "more is used than the limit": (
        _v2("/", {"memory.max": str(GIB), "memory.current": str(2 * GIB)}),
        (GIB, "memory.max of the cgroup /"),
        0,
    ),
}


@pytest.mark.parametrize(("files", "capacity", "left"), GROUPS.values(), ids=GROUPS)
def test_cgroups(tree, files, capacity, left):
    root = tree(files)
    assert limits.capacity(root) == limits.process_limit(root) == limits.Bound(*capacity)
    assert limits.available(root).n_bytes == left
    assert limits.available(root).source.startswith("what is left of memory.")


def test_both_versions_mounted_at_once(tree):
    files = _v1("/a", {"a/memory.limit_in_bytes": str(3 * GIB), "a/memory.usage_in_bytes": "0"})
    files["proc/self/cgroup"] += "0::/\n"
    files["proc/self/mountinfo"] += V2_MOUNT.format(root="/").replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
    assert limits.available(tree(files)).n_bytes == 3 * GIB


def test_a_limit_above_the_machine_bounds_nothing(tree):
    root = tree(_v2("/", {"memory.max": str(64 * GIB), "memory.current": str(60 * GIB)}))
    assert limits.process_limit(root) is None
    assert limits.available(root) == limits.Bound(12 * GIB, "the memory available on this machine")


def test_a_system_without_proc(tmp_path, monkeypatch):
    """As macOS: the memory of the machine; as Windows: none that is known."""
    monkeypatch.setattr(limits, "_resource_limits", lambda root: [])
    monkeypatch.setattr(limits.os, "sysconf", lambda name: {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}[name])
    assert limits.available(tmp_path / "mac").n_bytes == limits.capacity(tmp_path / "mac").n_bytes == 4_096_000
    monkeypatch.delattr(limits.os, "sysconf")
    assert limits.available(tmp_path / "windows").n_bytes == limits.UNKNOWN
    monkeypatch.undo()
    monkeypatch.setattr(limits, "resource", None)
    assert limits._resource_limits(tmp_path) == []


def test_malformed_files_are_no_limits(tree):
    files = {"proc/self/cgroup": "nonsense\n0:\n", "proc/self/mountinfo": "1 2 3\n - \n"}
    assert limits.available(tree(files)).n_bytes == 12 * GIB
    root = tree(_v2("/", {"memory.max": "?", "memory.current": "-1", "memory.stat": "a\nb c\n"}))
    assert limits.capacity(root).n_bytes == 16 * GIB


LIMITED = """
import resource
import mercer
from mercer import limits
limit = {limit}
resource.setrlimit(resource.{name}, (limit, limit))
bound = limits.available()
assert bound.source == "what is left of {name} ({command})", bound
assert limits.process_limit() == limits.Bound(limit, "{name} ({command})")
assert 0 < bound.n_bytes < limit, bound  # what the interpreter has mapped is taken off
taken = bytearray(300 * 2**20)
assert abs(limits.available().n_bytes - (bound.n_bytes - len(taken))) < 16 * 2**20
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")
@pytest.mark.parametrize(("name", "command"), [("RLIMIT_AS", "ulimit -v"), ("RLIMIT_DATA", "ulimit -d")])
def test_a_resource_limit_less_what_is_mapped(name, command):
    code = LIMITED.format(limit=10**9, name=name, command=command)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_a_budget_is_bounded_by_the_capacity_not_by_the_moment(monkeypatch):
    monkeypatch.setattr(limits, "capacity", lambda: limits.Bound(1000, "a limit"))
    monkeypatch.setattr(limits, "process_limit", lambda: limits.Bound(1000, "a limit"))
    monkeypatch.setattr(limits, "available", lambda: limits.Bound(10, "the moment"))
    assert memory_budget() == limits.Bound(10, "the moment")
    assert lasting_limit() == 1000
    with config_context(memory=500):
        assert memory_budget() == limits.Bound(500, "the budget set by config_context(memory=...)")
        assert lasting_limit() == 500
    with config_context(memory=5000):
        assert memory_budget() == limits.Bound(1000, "a limit")
        assert lasting_limit() == 1000


def test_versions_tell_the_budget_and_what_bounds_it(monkeypatch):
    monkeypatch.setattr(limits, "available", lambda: limits.Bound(3 * GIB, "what is left of RLIMIT_AS (ulimit -v)"))
    assert describe()["memory"] == "3 GiB, bounded by what is left of RLIMIT_AS (ulimit -v)"
