"""The machine a result was measured on, stored beside every result."""

import os
import platform
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
