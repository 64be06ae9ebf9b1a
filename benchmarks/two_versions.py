"""Two versions of mercer, run in turns: ``python -m benchmarks.two_versions OLD NEW --tables maps ridge``.

OLD and NEW are folders of two checkouts, each with its own installation in ``.venv``. A process per version runs the
tables of its own checkout. Before each timed run a process waits for its turn, so that a slow minute of the machine
falls on both. Processor seconds are compared, of our side alone: the peers are not run where a table times them by
``best_of_both``. A line shows the least seconds of both, their ratio, and the quartiles of the ratios of single turns,
which tell its noise.
"""

import argparse
import gc
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import quantiles
from typing import TextIO

TABLES = ["maps", "shift_invariant", "wide_sparse", "nystroem", "unsupervised", "ridge", "online", "svm"]
# Turns per line: at least so many, then more until the time is up.
_LEAST, _MOST, _SECONDS = 4, 40, 12.0


class Version:
    """One version at work: the process that runs its tables."""

    def __init__(self, folder: Path, tables: list[str]) -> None:
        # The worker is this file by its path: ``-m`` would run the benchmarks of this checkout in both processes.
        command = [str(folder / ".venv/bin/python"), "-W", "ignore", __file__, "--worker", *tables]
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment()
        )

    def hear(self) -> dict[str, object]:
        """Return the next message of the process."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} ended before its tables did.")
        return dict(json.loads(line))

    def say(self, word: str) -> None:
        """Let the process go on."""
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def lines(versions: list[Version]) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the name of each line of the tables, and the seconds of all turns of both versions."""
    times: list[list[float]] = [[], []]
    start = time.monotonic()
    while True:
        messages = [version.hear() for version in versions]
        kind = messages[0]["kind"]
        if kind != messages[1]["kind"]:
            raise SystemExit(f"The versions run different tables: {messages}.")
        if kind == "end":
            return
        if kind == "line":
            if times[0]:  # a table may report on one timed run in two lines
                yield str(messages[0]["work"]), times
            times, start = [[], []], time.monotonic()
            for version in versions:
                version.say("next")
            continue
        for which in (0, 1) if len(times[0]) % 2 == 0 else (1, 0):
            versions[which].say("run")
            times[which].append(float(str(versions[which].hear()["seconds"])))
        again = kind == "turn" and _wants_more(len(times[0]), time.monotonic() - start)
        for version in versions:
            version.say("again" if again else "stop")


def _wants_more(n_turns: int, seconds: float) -> bool:
    return n_turns < _LEAST or (seconds < _SECONDS and n_turns < _MOST)


def work(tables: list[str], out: TextIO) -> None:
    """Run tables in this process, and wait for a word before each timed run."""
    sys.path.insert(0, os.getcwd())
    measure = importlib.import_module("benchmarks.measure")

    def say(**message: object) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    def timed(run: Callable[[], object], kind: str) -> tuple[float, bool]:
        gc.collect()
        say(kind=kind)
        sys.stdin.readline()
        start = time.process_time()
        run()
        seconds = time.process_time() - start
        say(kind="time", seconds=seconds)
        return seconds, sys.stdin.readline().strip() == "again"

    def best_of_ours(ours: Callable[[], object], peer: Callable[[], object], repeats: int = 5) -> tuple[float, float]:
        ours()
        found, again = list[float](), True
        while again:
            seconds, again = timed(ours, "turn")
            found.append(seconds)
        return min(found), float("nan")

    measure.best_of_both, measure._seconds = best_of_ours, lambda run: timed(run, "once")[0]
    for name in tables:
        for row in importlib.import_module(f"benchmarks.{name}").rows():
            say(kind="line", work=f"{name}: {row.work}")
            sys.stdin.readline()
    say(kind="end")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two_versions", description=__doc__)
    parser.add_argument("old", type=Path, help="folder of a checkout, with its installation in .venv")
    parser.add_argument("new", type=Path)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    options = parser.parse_args()
    versions = [Version(folder.resolve(), options.tables) for folder in (options.old, options.new)]
    for name, (old, new) in lines(versions):
        ratios = [after / before for before, after in zip(old, new, strict=True)]
        low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        print(
            f"{name:<75}{1e3 * min(old):>10.1f} ms{1e3 * min(new):>10.1f} ms{min(new) / min(old):>7.2f}"
            f"   [{low:.2f}, {high:.2f}] in {len(ratios)} turns",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        channel = os.fdopen(os.dup(1), "w")
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
        work(sys.argv[2:], channel)
    else:
        main()
