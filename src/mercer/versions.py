"""What is installed and which core is at work, for bug reports."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from mercer import core
from mercer.config import get_config, memory_budget

_PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn", "threadpoolctl", "safetensors")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def describe() -> dict[str, str]:
    """Return the facts that ``show_versions`` prints."""
    config, memory = get_config(), memory_budget()
    return {
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        **{package: _version(package) for package in _PACKAGES},
        "core": "compiled" if core.COMPILED else "NumPy reference",
        "simd": core.simd_level(),
        "threads": str(config.threads),
        "memory": f"{memory.n_bytes / 2**30:.3g} GiB, bounded by {memory.source}",
    }


def show_versions() -> None:
    """Print versions, the core in use (compiled or NumPy reference), its SIMD level, threads and memory budget."""
    for name, value in describe().items():
        sys.stdout.write(f"{name:>14}: {value}\n")
