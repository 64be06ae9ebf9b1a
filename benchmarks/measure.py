"""Timing that is reliable on a noisy machine, and rows that hold a description of the machine."""

import gc
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from mercer.versions import describe

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    """One comparison: our seconds, the peer's, and the ratio we hold ourselves to."""

    work: str
    peer: str
    seconds: float
    peer_seconds: float
    at_least: float

    @property
    def ratio(self) -> float:
        """How many times faster than the peer."""
        return self.peer_seconds / self.seconds

    @property
    def held(self) -> bool:
        """Whether the ratio is at least what we hold ourselves to."""
        return self.ratio >= self.at_least


def best_of_both(ours: Callable[[], object], peer: Callable[[], object], repeats: int = 5) -> tuple[float, float]:
    """Return the least seconds of each after a warm-up, timed in turns: a slow minute of the machine falls on both.

    Both get the same time in a turn, the quicker one more runs: a best of few short runs would measure the machine's
    interruptions.
    """
    ours(), peer()
    mine, others = [_seconds(ours)], [_seconds(peer)]
    turn = max(mine[0], others[0])
    for _ in range(repeats):
        for work, times in ((ours, mine), (peer, others)):
            runs = min(20, max(1, int(turn / times[0])))
            times += [_seconds(work) for _ in range(runs)]
    return min(mine), min(others)


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def machine() -> dict[str, str]:
    """Describe the machine and the software, for every file of results."""
    cpu = platform.processor() or platform.machine()
    try:
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip()
    except (OSError, IndexError):
        pass
    return {"cpu": cpu, "cores": str(os.cpu_count()), **describe()}


def show(row: Row) -> None:
    """Print one row as it is known."""
    verdict = "" if row.held else "  BELOW"
    print(
        f"{row.work:<58}{1e3 * row.seconds:>10.1f} ms{1e3 * row.peer_seconds:>11.1f} ms"
        f"{row.ratio:>8.1f}x  (>= {row.at_least:g}x){verdict}",
        flush=True,
    )


def write(name: str, rows: list[Row]) -> Path:
    """Write the rows and the machine as JSON, and return the path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    table = [asdict(row) | {"ratio": row.ratio, "held": row.held} for row in rows]
    path.write_text(json.dumps({"machine": machine(), "rows": table}, indent=2) + "\n")
    return path
