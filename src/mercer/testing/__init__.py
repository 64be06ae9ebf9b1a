"""The public test kit: one call tests a new kernel, map, source, statistic, solver, engine or learner.

Random claims are tested with a stated rate of false alarms, and thresholds are computed from the sample, never tuned
to a seed.
"""

from mercer.testing.engines import check_engine
from mercer.testing.feature_maps import check_feature_map
from mercer.testing.fitted import check_fitted
from mercer.testing.kernels import check_kernel
from mercer.testing.learners import check_learner
from mercer.testing.readers import check_reader
from mercer.testing.refits import check_refits
from mercer.testing.sameness import assert_same
from mercer.testing.samples import assert_mean_close, rounding, sample_rows
from mercer.testing.solvers import check_solver
from mercer.testing.statistics import check_statistic

__all__ = [
    "assert_mean_close",
    "assert_same",
    "check_engine",
    "check_feature_map",
    "check_fitted",
    "check_kernel",
    "check_learner",
    "check_reader",
    "check_refits",
    "check_solver",
    "check_statistic",
    "rounding",
    "sample_rows",
]
