"""How categories become numbers: columns of 0 and 1, mean targets of their levels, or both."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.data.raw_table import RawTable
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.encoding import TableEncoding
from mercer.learners.local.metrics import MetricRows, first_fit, learned_metrics
from mercer.learners.local.report import Trial
from mercer.learners.local.scaling import ColumnScaling
from mercer.learners.local.target_statistics import coded_columns
from mercer.learners.local.trial_log import timed

# Rows that judge, and features of their fits. The statistics come from the other rows, at least half of all.
_ROWS, _FEATURES, _ROWS_PER_FEATURE, _LEAST_FEATURES = 2048, 256, 4, 64
# Targets that have a column of statistics each, at most.
_MOST_TARGETS = 16


@dataclass(frozen=True)
class CategoryChoice:
    """The encodings of a table that are compared, by leave-one-out errors without leakage.

    Some rows judge, and the statistics come from all others: no target of a judging row is in any statistic, so that
    leave-one-out errors on these rows are exact.
    """

    table: RawTable
    held: HeldTargets[Targets]
    names: list[str]
    seed: int

    def best(self, plain: TableEncoding, tell: Callable[[Trial], None]) -> TableEncoding:
        """Return the encoding of the least error: plain, with statistics, or with statistics in place of 0 and 1."""
        columns = coded_columns(self.table.values, self.table.kinds)
        if not columns or self.held.Y.shape[1] > _MOST_TARGETS:
            return plain
        order = np.random.RandomState(self.seed).permutation(self.table.n_rows)
        n_judges = min(_ROWS, self.table.n_rows // 2)
        judges, others = np.sort(order[:n_judges]), np.sort(order[n_judges:])
        options = {"as numbers, 0 and 1": None, "and mean targets": False}
        if any(self.table.kinds[j] == "categories" for j in columns):
            options["mean targets alone"] = True

        def error_with(name: str) -> float:
            return self._error(self._with(plain, columns, others, options[name]), judges)

        errors = {}
        for name, (error, seconds) in zip(options, timed(error_with, list(options)), strict=True):
            errors[name] = error
            tell(Trial("categories", name, error, seconds))
        return self._with(plain, columns, np.arange(self.table.n_rows), options[min(errors, key=errors.__getitem__)])

    def _with(self, plain: TableEncoding, columns: list[int], rows: Array, instead: bool | None) -> TableEncoding:
        if instead is None:
            return plain
        table, Y, weight = self.table.some(rows), self.held.Y[rows], self.held.weight[rows]
        return plain.with_statistics(table, columns, Y, weight, self.names, instead=instead)

    def _error(self, encoding: TableEncoding, judges: Array) -> float:
        """Return the error of a fit with a diagonal metric, which a column of statistics may need."""
        numbers, held = encoding.numbers(self.table.some(judges)), self.held.some(judges)
        scaling = ColumnScaling.of(numbers, "rank", np.random.RandomState(self.seed), held.weight)
        n_features = int(np.clip(len(judges) / _ROWS_PER_FEATURE, _LEAST_FEATURES, _FEATURES)) // 2 * 2
        rows = scaling.transform(numbers, np.dtype(np.float64 if len(judges) < _ROWS else np.float32))
        sample = MetricRows(rows, held.Y, held.weight, held.left_out, n_features, self.seed)
        first = first_fit(sample)
        ((learned,),) = learned_metrics(first, sample, full=[False], n_rounds=1)
        return min(first.error, first.error if learned is None else learned.error)
