"""What happens between rows and a solver, in which no estimator appears.

A fit surveys the rows (``Survey``), draws a map (``MapPlan``), and gives the solver rows of features (``FeatureRows``),
whose targets (``Targets``) say what y means. ``Passes`` run over the blocks, with progress and row numbers in errors.
Models that keep their training rows read them with ``held_rows`` and ``HeldTargets``.
"""

from mercer.fitting.feature_rows import FeatureRows, WarmStart
from mercer.fitting.held_rows import HeldTargets, held_rows
from mercer.fitting.lloyd import Assignment, lloyd, mini_batches
from mercer.fitting.map_plan import MapPlan
from mercer.fitting.passes import Passes
from mercer.fitting.row_pick import RowPick
from mercer.fitting.sampled_rows import SampledRows, curved_gram
from mercer.fitting.survey import Sample, Survey
from mercer.fitting.targets import Classes, Numbers, Targets, Unweighted

__all__ = [
    "Assignment",
    "Classes",
    "FeatureRows",
    "HeldTargets",
    "MapPlan",
    "Numbers",
    "Passes",
    "RowPick",
    "Sample",
    "SampledRows",
    "Survey",
    "Targets",
    "Unweighted",
    "WarmStart",
    "curved_gram",
    "held_rows",
    "lloyd",
    "mini_batches",
]
