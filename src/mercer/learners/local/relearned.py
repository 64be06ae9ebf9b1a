"""Leave-one-out residuals of rows whose targets have not taught the metric: it is learned again without each fold.

A metric of many columns that has seen the target of a row predicts it, though the row itself is left out: with 201 rows
and 751 columns, leave-one-out errors were three quarters of those of new rows.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mercer._typing import Array
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.choice import Choice
from mercer.learners.local.metrics import MetricFit, MetricRows, first_fit, learned_metrics
from mercer.learners.local.walk import error_of
from mercer.parallel import on_threads
from mercer.solvers.local.leaf_ridge import LeafSystem

_FOLDS = 5
# Folds of fewer rows say little. A metric that more rows have taught does not bend to the noise of single rows.
LEAST_ROWS, MOST_ROWS = 100, 2048


def relearned_residuals(
    choices: Sequence[Choice],
    rows: Array,
    held: HeldTargets[Targets],
    sample_of: Callable[[Array], MetricRows],
    n_rounds: int,
    seed: int,
) -> list[Array]:
    """Return the residuals (n, k) of each of some choices, on one leaf of all rows.

    The metrics of a fold are learned from the rows of the others, at most ``n_rounds`` times. All rows but the one that
    is left out then predict it, as in the final model.

    Parameters
    ----------
    choices : sequence of Choice
        One of each metric at most.
    rows : ndarray of shape (n, d)
        Scaled rows.
    held : HeldTargets
        Their targets and weights.
    sample_of : callable
        Returns some rows, given their numbers, to learn a metric on.
    n_rounds, seed : int
    """
    fold = np.random.RandomState(seed).permutation(len(rows)) % _FOLDS
    names = [choice.metric for choice in choices]
    metrics = on_threads(lambda f: _metrics(sample_of(np.flatnonzero(fold != f)), names, n_rounds), range(_FOLDS))

    def residuals(choice: Choice, f: int) -> Array:
        fit = metrics[f][choice.metric]
        moved = rows @ (fit.transform / fit.unit).astype(rows.dtype)
        system = LeafSystem(choice.inner, moved, [np.arange(len(rows))])
        found = system.solve(held.Y, choice.alpha, held.weight, left_out=held.left_out).loo_residuals
        assert found is not None  # noqa: S101, for the type checker
        return np.asarray(found[fold == f])

    tasks = [(choice, f) for choice in choices for f in range(_FOLDS)]
    parts = iter(on_threads(lambda task: residuals(*task), tasks))
    joined = [np.empty(held.Y.shape) for _ in choices]
    for out in joined:
        for f in range(_FOLDS):
            out[fold == f] = next(parts)
    return joined


def _metrics(sample: MetricRows, names: Sequence[str], n_rounds: int) -> Mapping[str, MetricFit]:
    """Return the fit of the least error of each metric."""
    first = first_fit(sample)
    best = dict.fromkeys(names, first)
    learned = [name for name in names if name != "no"]
    for fits in learned_metrics(first, sample, full=[name == "full" for name in learned], n_rounds=n_rounds):
        for name, fit in zip(learned, fits, strict=True):
            best[name] = best[name] if fit is None else min(best[name], fit, key=error_of)
    return best
