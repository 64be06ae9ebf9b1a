"""Ridge regression on features in slabs: no D x D matrix, and no features of all rows."""

import numpy as np

from mercer._typing import Array
from mercer.fitting import FeatureRows
from mercer.solvers import DualPath

# Sampled rows whose leave-one-out errors choose alpha.
_CHOOSING_ROWS = 2048
# Stop once four products together lower the objective by less than this part of what all products have.
GAIN_TOL = 1e-3
# How ``solution_`` names the rule.
CRITERION = "leave-one-out of sampled rows"


def sample_scores(rows: FeatureRows, alphas: Array) -> Array:
    """Return the mean squared leave-one-out error of each alpha, on at most 2048 sampled rows.

    The errors are exact for a ridge regression on these rows with the kernel itself, which so many features are close
    to. Alpha is the variance of the noise in units of the kernel's: it does not grow with the number of rows, so what
    suits a sample suits all rows.
    """
    block = rows.sample.first(_CHOOSING_ROWS).block()
    K = np.asarray(rows.feature_map.kernel_(block.X), dtype=np.float64)
    Y = rows.targets.encode(block)
    given = rows.targets.weight(block)
    weight = np.ones(len(Y)) if given is None else given
    if not weight.any():
        return np.full(len(alphas), np.inf)
    share, root = weight / weight.sum(), np.sqrt(weight)
    mean = K @ share
    K = root[:, None] * (K - mean[:, None] - mean + float(share @ mean)) * root
    path = DualPath.of(K, root[:, None] * (Y - share @ Y), root)
    left_out = None if given is None else np.minimum(weight, rows.targets.weight_of_one(Y))
    errors = [path.leave_one_out(alpha, given, left_out) / weight.sum() for alpha in alphas]
    return np.array(errors)
