"""The machine a result was measured on, stored with every result."""

import os
import platform
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from mercer.versions import describe


@cache
def machine() -> dict[str, str]:
    """Describe the processor, memory, system and software; no host name, user or path."""
    try:
        blas = version("threadpoolctl") and _blas()
    except PackageNotFoundError:
        blas = "unknown"
    return {
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "blas": blas,
        **describe(),
    }


class Busy:
    """How many cores other programs keep busy: the load of the system minus that of this process and its children."""

    def __init__(self) -> None:
        self._start = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        try:
            counts = [int(count) for count in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
            ticks = os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, AttributeError):
            return None
        user, nice, system, _, _, irq, softirq, steal = counts[:8]
        own = os.times()
        ours = own.user + own.system + own.children_user + own.children_system
        return (user + nice + system + irq + softirq + steal) / ticks, ours, time.perf_counter()

    def others(self) -> float | None:
        """Return the mean number of cores since the start; None if not known, or if too little time has passed."""
        now = self._now()
        if now is None or self._start is None or now[2] - self._start[2] < 0.1:
            return None
        busy, ours, passed = (b - a for a, b in zip(self._start, now, strict=True))
        return round(max(0.0, (busy - ours) / passed), 2)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{size / 2**30:.0f} GiB"


def _blas() -> str:
    from threadpoolctl import threadpool_info  # noqa: PLC0415  (only full descriptions need it)

    found = {
        f"{lib['internal_api']} {lib.get('version') or '?'}" for lib in threadpool_info() if lib["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "unknown"
