"""What a tuned estimator tried, what it chose, and how long it took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from mercer.state import Many, Real, Sizes, Stored, Table, Text, part, require


class Trial(NamedTuple):
    """One thing that was tried: the step, what it was, its leave-one-out error, and its seconds."""

    step: str
    what: str
    error: float
    seconds: float


@part("TuningReport")
@dataclass(frozen=True, repr=False)
class TuningReport:
    """The trials of a search in order, and the choices. ``print(report)`` shows them all.

    Errors are leave-one-out errors in units of the variance of the targets. They are compared within a step, since
    steps differ in the rows that they are measured on.

    Attributes
    ----------
    steps, tried : list of str
        The step of each trial ("categories", "columns", "metric", "kernel", "scale", "alpha", "last alpha", "low
        order" or "trees"), and what it tried.
    errors : list of float
        The error of each trial.
    chosen : dict of str to str
        The choices.
    error : float
        The error of the final model on all rows.
    ended : str
        Why the search ended: "done", "time_budget" or "interrupted".
    trial_seconds : list of float
        The time of each trial. Times are no fields of this class: reports of two equal fits are equal.
    seconds : float
        The time of the whole fit.
    search_seconds : float
        The time of all trials.
    """

    _stored = Stored(
        steps=Many(Text(), "trials"),
        tried=Many(Text(), "trials"),
        errors=Many(Real(0.0), "trials"),
        chosen=Table(Text(), Text()),
        error=Real(0.0),
        ended=Text(),
        trial_seconds=Many(Real(0.0), "trials"),
        seconds=Real(0.0),
    )

    steps: list[str]
    tried: list[str]
    errors: list[float]
    chosen: dict[str, str]
    error: float
    ended: str

    @classmethod
    def of(
        cls, trials: Sequence[Trial], chosen: Mapping[str, str], error: float, ended: str, seconds: float
    ) -> "TuningReport":
        """Return the report of some trials."""
        steps, tried = [trial.step for trial in trials], [trial.what for trial in trials]
        report = cls(steps, tried, [trial.error for trial in trials], dict(chosen), error, ended)
        object.__setattr__(report, "trial_seconds", [trial.seconds for trial in trials])
        object.__setattr__(report, "seconds", seconds)
        return report

    def __repr__(self) -> str:
        choices = ", ".join(f"{name}: {choice}" for name, choice in self.chosen.items())
        return f"<TuningReport of {len(self.steps)} trials; leave-one-out error {self.error:.4g}; {choices}>"

    def __str__(self) -> str:
        return self.table()

    @property
    def search_seconds(self) -> float:
        """The time of all trials; the rest of ``seconds`` is the preparation and the final model."""
        return float(sum(self.__dict__["trial_seconds"]))

    def table(self) -> str:
        """Return all trials and the choices as text."""
        lines = [f"{'step':<10}{'error':>9}{'seconds':>9}  tried"]
        lines += [f"{step:<10}{error:>9.4f}{seconds:>9.2f}  {what}" for step, what, error, seconds in self._rows()]
        lines += [f"{name}: {choice}" for name, choice in self.chosen.items()]
        seconds = self.__dict__["seconds"]
        lines.append(f"leave-one-out error: {self.error:.4g} of the variance")
        lines.append(f"seconds: {seconds:.1f}, of the search {self.search_seconds:.1f}, which ended: {self.ended}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(step)}</td><td>{error:.4f}</td><td>{seconds:.2f}</td><td>{escape(what)}</td></tr>"
            for step, what, error, seconds in self._rows()
        )
        head = "<tr><th>step</th><th>error</th><th>seconds</th><th>tried</th></tr>"
        return f"<p>{escape(repr(self)[1:-1])}</p><table>{head}{rows}</table>"

    def _rows(self) -> list[Trial]:
        times: list[float] = self.__dict__["trial_seconds"]
        columns = (self.steps, self.tried, self.errors, times)
        return [Trial(*row) for row in zip(*columns, strict=True)]

    def _check_stored(self, sizes: Sizes) -> None:
        require(self.chosen, "chosen must not be empty")
