"""``python -m benchmarks coverage [NAME ...]``: how often intervals of the tuned regressor hold held-out targets.

Every table is split 20 times, a fifth held out. The mean coverage over the splits must be within 2 points of the
nominal one. Splits share rows: the standard error from the spread over splits is a lower bound.
"""

import argparse
import time

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.tables import sets
from mercer import TunedRegressor

SMALL = ("diabetes", "smooth", "heavy tails", "missing values")
TEST_SHARE, ALLOWED = 0.2, 0.02


def main(arguments: list[str]) -> None:
    """Print one line per table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks coverage", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"by default {', '.join(SMALL)}")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1000, help="of a table at most, with those held out")
    parser.add_argument("--coverage", type=float, default=0.9)
    options = parser.parse_args(arguments)
    head = (
        "table",
        "training rows",
        "splits",
        "coverage",
        "standard error",
        "width / sd of y",
        "seconds per fit",
        "holds",
    )
    print(f"| {' | '.join(head)} |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.names or SMALL:
        print(line(sets.table(name, options.rows), options.splits, options.coverage), flush=True)


def line(table: sets.Table, n_splits: int, nominal: float) -> str:
    """Return a row of the table of results."""
    if table.classes:
        raise SystemExit(f"{table.name} has classes: intervals are of numbers. Choose from {', '.join(SMALL)}.")
    start, covered, widths = time.process_time(), [], []
    for split in range(n_splits):
        X, X_test, y, y_test = train_test_split(table.X, table.y, test_size=TEST_SHARE, random_state=split)
        model = TunedRegressor(random_state=split).fit(X, y)
        low, high = model.predict_interval(X_test, coverage=nominal).T
        covered.append(np.mean((low <= y_test) & (y_test <= high)))
        widths.append(np.mean(high - low) / np.std(y_test))
    seconds, mean = (time.process_time() - start) / n_splits, float(np.mean(covered))
    error = float(np.std(covered, ddof=1) / n_splits**0.5)
    holds = "yes" if abs(mean - nominal) <= ALLOWED else "no"
    of = f"| {table.name} | {len(X)} | {n_splits} | {mean:.3f} | {error:.3f} |"
    return f"{of} {np.mean(widths):.2f} | {seconds:.1f} | {holds} |"
