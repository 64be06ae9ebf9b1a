"""Parameters that are numbers: integers, reals, and numbers of threads."""

import numbers
from contextlib import suppress

import numpy as np

from mercer.config import cores, get_config


def check_integer(
    owner: str, name: str, value: object, *, least: int = 1, most: float = np.inf, way_out: str = ""
) -> int:
    """Return ``value`` as an int, or say that it must be an integer >= ``least`` and <= ``most``."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) <= most:
        return int(value)
    rule = f"an integer >= {least}{f' and <= {most}' if np.isfinite(most) else ''}"
    raise ValueError(f"{owner}: {name} must be {rule}, got {value!r}.{_spaced(way_out)}")


def check_real(owner: str, name: str, value: object, *, least: float, strict: bool = False, way_out: str = "") -> float:
    """Return ``value`` as a float, or say that it must be a finite number >= (or >) ``least``."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer too large for a float
            number = float(value)
            if np.isfinite(number) and (number > least if strict else number >= least):
                return number
    rule = f"a finite number {'>' if strict else '>='} {least:g}"
    raise ValueError(f"{owner}: {name} must be {rule}, got {value!r}.{_spaced(way_out)}")


def check_jobs(owner: str, n_jobs: object) -> int | None:
    """Return the number of threads that ``n_jobs`` means, or None for the number of the configuration.

    The result is at most the number of cores, or of the threads that ``config_context`` sets: more threads would take
    memory and save no time.
    """
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"{owner}: n_jobs must be None, an integer >= 1 or a negative integer, got {n_jobs!r}. None means the "
            "threads of config_context, -1 all of them, -2 all but one."
        )
    number, threads = int(n_jobs), get_config().threads
    return min(number, max(threads, cores())) if number > 0 else max(1, threads + 1 + number)


def _spaced(sentence: str) -> str:
    return f" {sentence}" if sentence else ""
