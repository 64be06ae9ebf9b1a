"""``python -m benchmarks tables [NAME ...]``: mercer's one line against boosted trees, on held-out rows of many tables.

Every learner gets the same splits (a fifth held out, five times) and the same threads, with its defaults; LightGBM also
with 30 trials of random search inside the training rows. A learner that has taken ten minutes of processor time on a
table is not given further splits of it. Scores are R^2 or accuracy of held-out rows; seconds are of the processor, for
the whole fit. For mercer the coverage of 90 % intervals and, for all, the log loss are kept.

Tables are cut to 12,500 rows, or to ``--rows``. Results are written after each fit to
``benchmarks/results/tables.json``, and a run goes on where the last one stopped. ``--splits``, ``--only LEARNER``,
``--again LEARNER`` (measure it again) and ``--report`` (print what is there) choose a part of the work.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import train_test_split

from benchmarks.measure import RESULTS, machine
from benchmarks.tables import sets, verdicts
from benchmarks.tables.contestants import CONTESTANTS, Model

TEST_SHARE = 0.2
PATIENCE = 600.0  # processor seconds of a learner on a table, after which it gets no further splits
PATH = RESULTS / "tables.json"
Measures = dict[str, float]


def main(arguments: list[str]) -> None:
    """Run what is asked for and not yet there; print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tables", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(sets.names())}")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", action="append", choices=list(CONTESTANTS), help="the learners to run")
    parser.add_argument("--again", action="append", default=[], choices=list(CONTESTANTS), help="forget these first")
    parser.add_argument("--rows", type=int, default=sets.ROWS, help="of a table at most, with those held out")
    parser.add_argument("--report", action="store_true", help="print what was measured, and run nothing")
    options = parser.parse_args(arguments)
    results = _read()
    for runs in results.values():
        for key in [key for key in runs if key.rpartition("/")[0] in options.again]:
            del runs[key]
    if not options.report:
        for split in range(options.splits):  # all tables once, then again: a run that is cut short has seen them all
            for name in options.names or sets.names():
                _run(results, sets.table(name, options.rows), split, options.only or list(CONTESTANTS))
    print(verdicts.markdown(_by_learner(results), TEST_SHARE))


def _run(results: dict[str, dict[str, Measures]], table: sets.Table, split: int, learners: list[str]) -> None:
    runs = results.setdefault(table.name, {})
    waiting = [name for name in learners if f"{name}/{split}" not in runs and _has_time(runs, name, split)]
    if not waiting:
        return
    parts = split_parts(table, split)
    for learner in waiting:
        key = f"{learner}/{split}"
        runs[key] = _measured(learner, table.classes, split, *parts)
        _write(table.name, key, runs[key])
        print(f"{table.name:<26}{key:<22}" + "  ".join(f"{k} {v:.4f}" for k, v in runs[key].items()), flush=True)


def split_parts(table: sets.Table, split: int) -> list:
    """Return the rows of training and test part, text as categories, and their targets: X, X_test, y, y_test."""
    rows, strata = _as_categories(table.X), _strata(table)
    return train_test_split(rows, table.y, test_size=TEST_SHARE, random_state=split, stratify=strata, shuffle=True)


def _has_time(runs: dict[str, Measures], learner: str, split: int) -> bool:
    """Tell whether a learner may have one more split of a table: the rule knows times alone, no scores."""
    spent = sum(runs.get(f"{learner}/{earlier}", {}).get("seconds", 0.0) for earlier in range(split))
    return spent < PATIENCE


def _strata(table: sets.Table) -> np.ndarray | None:
    """Keep the shares of classes where each has enough rows to be split."""
    enough = table.classes and np.unique(table.y, return_counts=True)[1].min() >= 2
    return table.y if enough else None


def _as_categories(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return text as categories of pandas, which every contestant takes, with the levels of all rows."""
    text = frame.select_dtypes(exclude="number").columns
    return frame.astype(dict.fromkeys(text, "category"))


def _measured(
    learner: str,
    classes: bool,
    seed: int,
    X: pandas.DataFrame,
    X_test: pandas.DataFrame,
    y: np.ndarray,
    y_test: np.ndarray,
) -> Measures:
    """Fit one learner, and measure it on held-out rows; nothing for a learner that declines the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start, wall = time.process_time(), time.perf_counter()
        model = CONTESTANTS[learner](X, y, classes, seed)
        if model is None:
            return {}
        measures = {"seconds": time.process_time() - start, "wall": time.perf_counter() - wall}
        predicted = np.asarray(model.predict(X_test)).reshape(len(y_test))
        if not classes:
            return measures | {"score": float(r2_score(y_test, predicted))} | _covered(model, X_test, y_test)
        return measures | {"score": float(accuracy_score(y_test, predicted))} | _losses(model, X_test, y_test)


def _covered(model: Model, X: pandas.DataFrame, y: np.ndarray) -> Measures:
    if not hasattr(model, "predict_interval"):
        return {}
    low, high = model.predict_interval(X, coverage=0.9).T
    return {"coverage": float(np.mean((low <= y) & (y <= high))), "width": float(np.mean(high - low) / np.std(y))}


def _losses(model: Model, X: pandas.DataFrame, y: np.ndarray) -> Measures:
    if not hasattr(model, "predict_proba"):
        return {}
    chances = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = np.isin(y, model.classes_)  # a class of two rows may be absent from the training part
    return {
        "log_loss": float(log_loss(y[known], chances[known], labels=model.classes_)),
        "calibration_error": _calibration_error(chances, model.classes_[chances.argmax(axis=1)] == y),
    }


def _calibration_error(chances: np.ndarray, right: np.ndarray, bins: int = 15) -> float:
    """Return the mean gap between confidence and accuracy over bins of equal width."""
    sure = chances.max(axis=1)
    which = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs(np.sum(right[which == b]) - np.sum(sure[which == b])) for b in range(bins)]
    return float(np.sum(gaps) / len(sure))


def _by_learner(results: dict[str, dict[str, Measures]]) -> dict[str, verdicts.Result]:
    """Turn ``{table: {learner/split: measures}}`` into ``{table: {measure: {learner: {split: value}}}}``."""
    turned: dict[str, verdicts.Result] = {}
    for name, runs in results.items():
        found = turned.setdefault(name, {})
        for key, measures in sorted(runs.items()):
            learner, _, split = key.rpartition("/")
            for measure, value in measures.items():
                found.setdefault(measure, {}).setdefault(learner, {})[int(split)] = value
    return turned


def _write(table: str, key: str, measures: Measures) -> None:
    """Add one result to those of the file, which another run may have changed since."""
    RESULTS.mkdir(exist_ok=True)
    results = _read()
    results.setdefault(table, {})[key] = measures
    part = Path(f"{PATH}.part")
    part.write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")
    part.replace(PATH)


def _read() -> dict[str, dict[str, Measures]]:
    return json.loads(PATH.read_text())["results"] if PATH.exists() else {}
