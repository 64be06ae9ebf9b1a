"""Mergeable statistics: the results of a pass over the rows.

Each statistic has an identity (``zero``), takes rows (``update``) and merges (``merge``), so that blocks of rows can be
processed on any thread or machine. Products of float32 rows span at most 4096 rows, and are summed in float64.
"""

from mercer.stats.base import Statistic
from mercer.stats.clusters import ClusterSums, Farthest
from mercer.stats.columns import ColumnMoments
from mercer.stats.correlations import Correlations
from mercer.stats.cross_moments import CrossMoments
from mercer.stats.curvature import Curvature
from mercer.stats.gradient import Gradient
from mercer.stats.moments import Moments
from mercer.stats.ranges import ColumnRanges
from mercer.stats.row_sample import RowSample
from mercer.stats.scores import Accuracy, Determination
from mercer.stats.stacked import Stacked
from mercer.stats.targets import ClassTotals, TargetMeans
from mercer.stats.totals import Totals

__all__ = [
    "Accuracy",
    "ClassTotals",
    "ClusterSums",
    "ColumnMoments",
    "ColumnRanges",
    "Correlations",
    "CrossMoments",
    "Curvature",
    "Determination",
    "Farthest",
    "Gradient",
    "Moments",
    "RowSample",
    "Stacked",
    "Statistic",
    "TargetMeans",
    "Totals",
]
