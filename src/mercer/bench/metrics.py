"""Metrics: numbers computed from raw results, with a label, a unit and the better direction."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Literal

from mercer.bench.errors import BenchError
from mercer.bench.spec import Params, includes
from mercer.bench.store import Outcome

Unit = Literal["%", "s", "x", "of 6", ""]
Better = Literal["higher", "lower", "equal"]
# A number, or one number per run; and the raw values of a cell by name.
Runs = float | list[float]
Values = Mapping[str, Runs]


@dataclass(frozen=True)
class Metric:
    """A number per run: label (and a short one for tables), unit, better direction, and its formula from raw values."""

    label: str
    unit: Unit
    better: Better
    of: Callable[[Values], Runs]
    short: str = ""


@dataclass(frozen=True)
class Sample:
    """The same number over the runs of a cell."""

    values: tuple[float, ...]
    unit: Unit = ""

    @property
    def mean(self) -> float:
        """Mean over the runs."""
        return fmean(self.values)

    @property
    def deviation(self) -> float:
        """Sample deviation over the runs; 0 for one run."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def centre(self) -> float:
        """The number that represents the runs: the mean; for times the minimum, since other programs only add time."""
        return min(self.values) if self.unit == "s" else self.mean

    @property
    def error(self) -> float:
        """Standard error of the centre; 0 for a minimum of times."""
        return 0.0 if self.unit == "s" else self.deviation / sqrt(len(self.values))

    def __str__(self) -> str:
        return show(self.centre, self.unit, self.deviation if len(self.values) > 1 else None)


def _share(right: str, all_: str) -> Callable[[Values], Runs]:
    return lambda values: [100 * count / as_list(values[all_])[0] for count in as_list(values[right])]


def _total(*names: str) -> Callable[[Values], Runs]:
    return lambda values: [sum(parts) for parts in zip(*(as_list(values[name]) for name in names), strict=True)]


def _shares(values: Values) -> list[float]:
    pairs = zip(as_list(values["map_seconds"]), as_list(values["fit_seconds"]), strict=True)
    return [part / (part + rest) for part, rest in pairs]


METRICS: dict[str, Metric] = {
    "train_accuracy": Metric(
        "accuracy on the training rows", "%", "higher", _share("train_correct", "train_rows"), "train"
    ),
    "test_accuracy": Metric("accuracy on the test rows", "%", "higher", _share("test_correct", "test_rows"), "test"),
    "progressive_error": Metric(
        "mistakes before a row is learned", "%", "lower", _share("mistakes", "stream_rows"), "mistakes"
    ),
    "seconds": Metric("time of map and training", "s", "lower", _total("map_seconds", "fit_seconds"), "train in"),
    "map_share": Metric("share of the map in the time", "", "equal", _shares),
    "map_seconds": Metric("time of the map", "s", "lower", lambda values: values["map_seconds"], "map in"),
    "fit_seconds": Metric("time of training", "s", "lower", lambda values: values["fit_seconds"], "train in"),
    "predict_seconds": Metric(
        "time of prediction", "s", "lower", lambda values: values["predict_seconds"], "predict in"
    ),
    "relative_error": Metric("mean relative error of the kernel", "", "lower", lambda values: values["relative_error"]),
    "frobenius_error": Metric("relative Frobenius error", "", "lower", lambda values: values["frobenius_error"]),
    "sets_of_six": Metric("data sets", "of 6", "equal", lambda values: values["sets_of_six"]),
    "nmi": Metric("normalised mutual information", "", "higher", lambda values: values["nmi"]),
}


def metric(name: str) -> Metric:
    """Return a metric by name; a raw value without an entry is its own metric, with no better direction."""
    return METRICS.get(name) or Metric(name.replace("_", " "), "", "equal", lambda values: values[name])


def as_list(value: Runs) -> list[float]:
    """Return a list of runs unchanged, and a single number as a list of one."""
    return value if isinstance(value, list) else [value]


def sample(outcomes: Iterable[Outcome], name: str, where: Params) -> Sample | None:
    """Return a metric over the runs of all finished cells with the given parameters; None if there are none."""
    found = metric(name)
    values: list[float] = []
    for outcome in outcomes:
        if outcome.status == "done" and includes(outcome.cell.params, where):
            try:
                values += [float(value) for value in as_list(found.of(outcome.values))]
            except KeyError:
                raise BenchError(
                    f"{outcome.cell}: no value {name!r} was stored; there are {', '.join(outcome.values)}."
                ) from None
    return Sample(tuple(values), found.unit) if values else None


def show(value: float, unit: Unit = "", deviation: float | None = None) -> str:
    """Return a number as text: percents with two decimals, times in a suitable unit, others with three digits."""
    if unit == "%":
        return f"{value:.2f} %" if deviation is None else f"{value:.2f} ± {deviation:.2f} %"
    if unit == "s":
        scale, name = _time_unit(value)
        return f"{_digits(value / scale)} {name}"
    if unit == "of 6":
        return f"{value:g} of 6"
    if unit == "x":
        return f"{_digits(value)}\N{MULTIPLICATION SIGN}"
    return _digits(value) if deviation is None else f"{_digits(value)} ± {deviation:.2g}"


def _time_unit(seconds: float) -> tuple[float, str]:
    if seconds >= 5400:
        return 3600, "h"
    if seconds >= 90:
        return 60, "min"
    return (1, "s") if seconds >= 0.1 else (1e-3, "ms")


def _digits(value: float) -> str:
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    if abs(value) < 1e7 and value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1e}"
