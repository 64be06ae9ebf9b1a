"""The leave-one-out error of a ridge regression on sampled rows: how well a map suits a task, before the fit."""

import numpy as np

from mercer._typing import Array
from mercer.features import FeatureMap
from mercer.fitting.survey import Sample
from mercer.fitting.targets import Targets
from mercer.solvers import ridge_path
from mercer.stats import Moments

# The penalties tried, for kernels of size 1. The least error of all counts.
_ALPHAS = np.logspace(-5, 2, 15)


def left_out_error(drawn: FeatureMap, sample: Sample, targets: Targets) -> float:
    """Return the mean squared leave-one-out error of ridge regression on the features of a sample that holds y.

    The error is exact for each penalty; the least of 15 penalties counts. It is inf where products of features overflow
    or where no row has a positive weight. Time n D^2 and 9 D^3 multiplications.
    """
    block = sample.block()
    Y, weight = targets.encode(block), targets.weight(block)
    Z = _dense(drawn, sample)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        empty = Moments.of(Z.shape[1], Y.shape[1], Z.mean(axis=0, dtype=np.float64), Y.mean(axis=0))
        moments = empty.update(Z, Y, weight)
        gram, cross, _ = moments.centred()
        if not (moments.weight > 0 and np.isfinite(gram).all() and np.isfinite(cross).all()):
            return float("inf")
        path = ridge_path(gram, cross, len(Z) - 1)
        Z = Z - moments.feature_mean.astype(Z.dtype)
        left_out = None if weight is None else np.minimum(weight, targets.weight_of_one(Y))
        totals = path.leave_one_out(Z, Y - moments.target_mean, _ALPHAS, moments.weight, weight, left_out)
    errors = totals / moments.weight
    return float(errors[np.isfinite(errors)].min(initial=np.inf))


def _dense(drawn: FeatureMap, sample: Sample) -> Array:
    Z = drawn.transform(sample.rows)
    return Z if isinstance(Z, np.ndarray) else np.asarray(Z.toarray())
