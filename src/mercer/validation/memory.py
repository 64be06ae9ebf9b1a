"""Refuse what cannot fit the memory budget before any work is done."""

from mercer.config import get_config, memory_budget

# Up to this many bytes the system is not asked how much memory is free: asking takes as long as a small transform.
_NOT_MEASURED = 2**24


def check_memory(owner: str, name: str, value: object, n_bytes: int, what: str, *, way_out: str = "") -> None:
    """Refuse work that cannot fit the memory budget, before it starts."""
    if n_bytes <= _NOT_MEASURED and get_config().memory is None:
        return
    budget = memory_budget()
    if n_bytes > budget.n_bytes:
        raise MemoryError(
            f"{owner}: {name}={value} needs {_gib(n_bytes)} for {what}, and {budget.source} is "
            f"{_gib(budget.n_bytes)}. {way_out or f'Lower {name}, or work on fewer rows at a time.'}"
        )


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**30 // 10 else f"{n_bytes / 2**30:.2g} GiB"
