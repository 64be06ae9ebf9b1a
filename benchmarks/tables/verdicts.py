"""Wins, ties and losses by a paired test, and the table in Markdown."""

import numpy as np
from scipy.stats import t as student

from benchmarks.tables.contestants import CONTESTANTS, DEFAULT_TREES

Scores = dict[str, dict[int, float]]  # of a learner, by split
Result = dict[str, Scores]  # by measure: "score", "seconds", ...
LEVEL = 0.05


def differences(scores: Scores, other: str) -> np.ndarray:
    """Return mercer's score less that of another learner on the splits that both have."""
    shared = sorted(scores["mercer"].keys() & scores.get(other, {}).keys())
    return np.array([scores["mercer"][split] - scores[other][split] for split in shared])


def standard_error(leads: np.ndarray, test_share: float) -> float:
    """Return the standard error of the mean of paired differences over splits of the same rows.

    Splits share training rows, so their differences are correlated: Nadeau and Bengio (2003) add n_test/n_train to 1/J.
    """
    return float(np.sqrt((1 / len(leads) + test_share / (1 - test_share)) * leads.var(ddof=1)))


def verdict(leads: np.ndarray, test_share: float) -> str:
    """Return "win", "tie" or "loss" by the corrected t-test at 5 %, two-sided."""
    bound = float(student.ppf(1 - LEVEL / 2, len(leads) - 1)) * standard_error(leads, test_share)
    return "tie" if abs(leads.mean()) <= bound else ("win" if leads.mean() > 0 else "loss")


def standing(scores: Scores, test_share: float) -> str:
    """Return mercer's standing against the default trees.

    "above": its mean is above the means of all of them. "level": not more than a standard error below the one that is
    farthest ahead. Else "below". Means are over the splits that both learners have, two at least.
    """
    found = [leads for leads in (differences(scores, name) for name in DEFAULT_TREES) if len(leads) > 1]
    worst = min(found, key=lambda leads: float(leads.mean()))
    if worst.mean() > 0:
        return "above"
    return "level" if worst.mean() >= -standard_error(worst, test_share) else "below"


def markdown(results: dict[str, Result], test_share: float) -> str:
    """Return mean score, its deviation over splits and mean processor seconds of every learner on every table."""
    lines = ["| table | " + " | ".join(CONTESTANTS) + " | standing |", "|---" * (len(CONTESTANTS) + 2) + "|"]
    for name, result in results.items():
        cells = [_cell(result, learner) for learner in CONTESTANTS]
        shown = standing(result["score"], test_share) if _complete(result) else "-"
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {shown} |")
    return "\n".join([*lines, "", *_counts(results, test_share), "", *_uncertainty(results)])


def _complete(result: Result) -> bool:
    """Tell whether mercer and a default tree were measured on two splits at least."""
    scores = result.get("score", {})
    return "mercer" in scores and any(len(differences(scores, tree)) > 1 for tree in DEFAULT_TREES)


def _cell(result: Result, learner: str) -> str:
    scores = list(result.get("score", {}).get(learner, {}).values())
    if not scores:
        return "-"
    seconds = np.mean(list(result["seconds"][learner].values()))
    spread = f" ± {np.std(scores, ddof=1):.4f}" if len(scores) > 1 else ""
    return f"{np.mean(scores):.4f}{spread} / {seconds:.1f}"


def _counts(results: dict[str, Result], test_share: float) -> list[str]:
    complete = [result["score"] for result in results.values() if _complete(result)]
    standings = [standing(scores, test_share) for scores in complete]
    above, below = standings.count("above"), standings.count("below")
    lines = [
        f"Above all default trees on {above} of {len(complete)} tables, level with the best of them (within one "
        f"standard error) or above on {len(complete) - below}."
    ]
    for other in list(CONTESTANTS)[1:]:
        leads = [some for some in (differences(scores, other) for scores in complete) if len(some) > 1]
        found = [verdict(some, test_share) for some in leads]
        lines.append(f"- {other}: {', '.join(f'{found.count(kind)} {kind}' for kind in ('win', 'tie', 'loss'))}.")
    return lines


def _uncertainty(results: dict[str, Result]) -> list[str]:
    """Return mercer's coverage of 90 % intervals, log loss and calibration error, and the log loss of each tree."""
    trees = [*DEFAULT_TREES, "LightGBM searched"]
    lines = [
        "| table | coverage of 90 % | width / sd(y) | calibration error | log loss | "
        + " | ".join(f"{tree}'s" for tree in trees)
        + " |",
        "|---" * (5 + len(trees)) + "|",
    ]
    for name, result in results.items():
        own = [_mean(result, key, "mercer") for key in ("coverage", "width", "calibration_error", "log_loss")]
        others = [_mean(result, "log_loss", tree) for tree in trees]
        lines.append(f"| {name} | " + " | ".join([*own, *others]) + " |")
    return lines


def _mean(result: Result, measure: str, learner: str) -> str:
    values = list(result.get(measure, {}).get(learner, {}).values())
    return f"{np.mean(values):.3f}" if values else "-"
