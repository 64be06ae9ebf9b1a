"""``python -m benchmarks table_times [NAME ...]``: elapsed seconds of mercer's one line and of CatBoost's defaults.

Both learners fit the same training rows (four fifths of a table, split 0) in one process, in turns, each with all
threads; the least of some turns counts. Held-out scores are printed with the seconds: time that costs accuracy is no
gain. A table that CatBoost declines (``benchmarks.tables.contestants``) is left out.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from benchmarks.tables import sets, split_parts
from benchmarks.tables.contestants import catboost, mercer

SMALLEST = 10_000  # rows of a table, with those held out: below, both take a second or two


def main(arguments: list[str]) -> None:
    """Print one line per table, and the median of the ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks table_times", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(sets.names())}")
    parser.add_argument("--rows", type=int, default=sets.ROWS, help="of a table at most, with those held out")
    parser.add_argument("--turns", type=int, default=2)
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in sets.names()]
    if unknown:
        parser.error(f"unknown tables: {', '.join(unknown)}. There are {', '.join(sets.names())}.")
    print("| table | training rows | mercer | seconds | CatBoost | seconds | ratio |")
    print("|---|---|---|---|---|---|---|")
    ratios = []
    for name in options.names or sets.names():
        table = sets.table(name, options.rows)
        if len(table.y) >= SMALLEST or options.names:
            ratios += _compared(table, options.turns)
    print(
        f"\nMedian ratio {np.median(ratios):.2f}, at most 1 on {sum(r <= 1 for r in ratios)} of {len(ratios)} tables."
    )


def _compared(table: sets.Table, turns: int) -> list[float]:
    """Print the line of a table, and return the ratio of seconds; nothing where CatBoost declines the table."""
    X, X_test, y, y_test = split_parts(table, 0)
    least, scores = {mercer: np.inf, catboost: np.inf}, {}
    for _ in range(turns):
        for learner, before in least.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = learner(X, y, table.classes, 0)
            if model is None:
                return []
            least[learner] = min(before, time.perf_counter() - start)
            score = accuracy_score if table.classes else r2_score
            scores[learner] = float(score(y_test, np.asarray(model.predict(X_test)).reshape(len(y_test))))
    ratio = least[mercer] / least[catboost]
    cells = " | ".join(f"{scores[learner]:.4f} | {seconds:.2f}" for learner, seconds in least.items())
    print(f"| {table.name} | {len(y)} | {cells} | {ratio:.2f} |", flush=True)
    return [ratio]
