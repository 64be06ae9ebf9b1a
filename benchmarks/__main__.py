"""``python -m benchmarks NAME``: print a table of ratios and write it as JSON."""

import argparse
import importlib

from benchmarks.measure import machine, show, write

TABLES = [
    "budget",
    "command_line",
    "drift",
    "maps",
    "nystroem",
    "online",
    "regression",
    "ridge",
    "shift_invariant",
    "structured",
    "svm",
    "unsupervised",
    "wide_sparse",
]
# Studies have arguments and results of their own.
STUDIES = ["coverage", "stream", "structured_accuracy", "table_times", "tables", "tolerance", "wide"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("table", choices=[*TABLES, *STUDIES])
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="what a study takes: see its --help")
    options = parser.parse_args()
    name = options.table
    if name in STUDIES:
        importlib.import_module(f"benchmarks.{name}").main(options.rest)
        return
    print(", ".join(f"{key} {value}" for key, value in machine().items()), flush=True)
    rows = []
    for row in importlib.import_module(f"benchmarks.{name}").rows():
        rows.append(row)
        show(row)
    print(f"\n{sum(row.held for row in rows)} of {len(rows)} held; written to {write(name, rows)}")


if __name__ == "__main__":
    main()
