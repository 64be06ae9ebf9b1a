"""Wins, ties and losses by a paired test, and the table in Markdown."""

import numpy as np
from scipy.stats import t as student

from benchmarks.tables.contestants import CONTESTANTS, DEFAULT_TREES

Scores = dict[str, list[float]]
LEVEL = 0.05


def standard_error(ours: list[float], others: list[float], test_share: float) -> float:
    """Return the standard error of the mean paired difference over splits of the same rows.

    Splits share training rows, so their differences are correlated: Nadeau and Bengio (2003) add n_test/n_train to 1/J.
    """
    differences = np.subtract(ours, others)
    return float(np.sqrt((1 / len(differences) + test_share / (1 - test_share)) * differences.var(ddof=1)))


def verdict(ours: list[float], others: list[float], test_share: float) -> str:
    """Return "win", "tie" or "loss" by the corrected t-test at 5 %, two-sided."""
    mean, error = float(np.mean(np.subtract(ours, others))), standard_error(ours, others, test_share)
    bound = float(student.ppf(1 - LEVEL / 2, len(ours) - 1)) * error
    return "tie" if abs(mean) <= bound else ("win" if mean > 0 else "loss")


def standing(scores: Scores, test_share: float) -> dict[str, bool]:
    """Return whether mercer is level with the best default tree (within one standard error), and above all of them."""
    trees = [name for name in DEFAULT_TREES if name in scores]
    best = max(trees, key=lambda name: float(np.mean(scores[name])))
    lead = float(np.mean(np.subtract(scores["mercer"], scores[best])))
    return {"level": lead >= -standard_error(scores["mercer"], scores[best], test_share), "above": lead > 0}


def markdown(results: dict[str, dict[str, Scores]], test_share: float) -> str:
    """Return mean score, its deviation over splits and mean processor seconds of every learner on every table."""
    lines = ["| table | " + " | ".join(CONTESTANTS) + " |", "|---" * (len(CONTESTANTS) + 1) + "|"]
    for name, result in results.items():
        lines.append(f"| {name} | " + " | ".join(_cell(result, learner) for learner in CONTESTANTS) + " |")
    return "\n".join([*lines, "", *_counts(results, test_share)])


def _cell(result: dict[str, Scores], learner: str) -> str:
    scores = result["score"].get(learner)
    if not scores:
        return "-"
    seconds = np.mean(result["seconds"][learner])
    return f"{np.mean(scores):.4f} ± {np.std(scores, ddof=min(1, len(scores) - 1)):.4f} / {seconds:.1f}"


def _counts(results: dict[str, dict[str, Scores]], test_share: float) -> list[str]:
    complete = {
        name: result["score"]
        for name, result in results.items()
        if len(result["score"].get("mercer", ())) > 1 and any(tree in result["score"] for tree in DEFAULT_TREES)
    }
    standings = [standing(scores, test_share) for scores in complete.values()]
    level, above = (sum(found[key] for found in standings) for key in ("level", "above"))
    lines = [f"Level with the best default tree on {level}, above all of them on {above} of {len(complete)} tables."]
    for other in list(CONTESTANTS)[1:]:
        shared = [(s["mercer"], s[other]) for s in complete.values() if len(s.get(other, ())) == len(s["mercer"])]
        found = [verdict(ours, others, test_share) for ours, others in shared]
        lines.append(f"- {other}: {', '.join(f'{found.count(kind)} {kind}' for kind in ('win', 'tie', 'loss'))}.")
    return lines
