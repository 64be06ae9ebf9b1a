"""Published claims and the verdicts computed on them: reproduced, better, not reproduced, or not run and why.

``claims.toml`` holds ``[[claim]]`` entries, and ``[[table]]`` entries that are many claims written as rows. A claim is

- a **value**: ``published`` (with the paper's ``spread`` over its runs) of one metric of one cell;
- a **ratio**: the same, of ``metric`` at ``of`` over ``to``;
- an **order**: ``metric`` at ``left`` ``relation`` ``factor`` times that at ``right``, for every point of ``over``, up
  to ``margin``;
- a **limit**: ``metric`` is ``at_most`` or ``at_least`` a number, for every point of ``over``;
- or **not run**, with the reason.

``against`` names the experiment of ``to`` and ``right`` if it is not that of the claim. ``clock`` marks numbers made of
times. ``exploratory`` says which part of a claim was chosen after the results were known. ``because``
gives the source of a threshold.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import sqrt
from statistics import median
from typing import Any

from mercer.bench.errors import BenchError
from mercer.bench.metrics import Better, Metric, Sample, metric, sample, show
from mercer.bench.spec import Paper, Params, includes, read_toml
from mercer.bench.store import Outcome

_BUSY = 0.2  # a verdict on times mentions other programs if they keep more than this number of cores busy
_DEVIATIONS = 3  # a mean within three standard deviations of the published runs is reproduced


class Status(StrEnum):
    """The outcome of a claim."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    NOT_REPRODUCED = "not reproduced"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Verdict:
    """The status, our number as text, and the sentence that explains it."""

    status: Status
    ours: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """One published claim: an entry of ``claims.toml``."""

    id: str
    source: str
    says: str
    experiment: str = ""
    against: str = ""
    kind: str = "value"
    metric: str = ""
    where: Params = field(default_factory=dict)
    published: float | None = None
    spread: float = 0.0
    rows: int = 0
    step: float = 0.0
    tolerance: float | None = None
    because: str = ""
    better: Better | None = None
    of: Params = field(default_factory=dict)
    to: Params = field(default_factory=dict)
    left: Params = field(default_factory=dict)
    right: Params = field(default_factory=dict)
    relation: str = "<"
    factor: float = 1.0
    margin: float = 0.0
    over: Params = field(default_factory=dict)
    most: bool = False
    at_most: float | None = None
    at_least: float | None = None
    clock: bool = False
    exploratory: str = ""
    full_only: str = ""
    not_run: str = ""
    note: str = ""

    @property
    def is_timed(self) -> bool:
        """Whether the number is a time or computed from times."""
        return self.clock or self.measured.unit == "s"

    @property
    def measured(self) -> Metric:
        """The metric the claim is about."""
        return metric(self.metric)

    def published_text(self) -> str:
        """Return the published number for readers, or nothing for a claim in words."""
        if self.published is None:
            return ""
        unit = "x" if self.kind == "ratio" else self.measured.unit
        return show(self.published, unit, self.spread or None)


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict


def load_claims(paper: Paper) -> list[Claim]:
    """Read a paper's claims, in order, and check that each can be judged."""
    path = paper.folder / "claims.toml"
    content = read_toml(path)
    entries = [*content.get("claim", []), *(row for table in content.get("table", []) for row in _rows(path, table))]
    known = set(Claim.__dataclass_fields__)
    claims = []
    for entry in entries:
        unknown = sorted(set(entry) - known)
        if unknown:
            raise BenchError(f"{path}: claim {entry.get('id')!r} has unknown keys {', '.join(unknown)}.")
        try:
            claims.append(Claim(**entry))
        except TypeError as fault:
            raise BenchError(f"{path}: claim {entry.get('id')!r}: {fault}.") from None
    _check(path, paper, claims)
    return claims


def _rows(path: object, table: dict[str, Any]) -> list[dict[str, Any]]:
    """Turn each row of a table into a claim; ``columns`` name cell parameters, or fields of a claim."""
    table = dict(table)
    columns, rows, name = table.pop("columns"), table.pop("rows"), table.pop("id")
    claims = []
    for row in rows:
        if len(row) != len(columns):
            raise BenchError(
                f"{path}: table {name!r}: the row {row} has {len(row)} entries for {len(columns)} columns."
            )
        named = dict(zip(columns, row, strict=True))
        fields = {key: value for key, value in named.items() if key in Claim.__dataclass_fields__}
        point = {key: value for key, value in named.items() if key not in fields}
        says = table["says"].format(**named)
        where = {**table.get("where", {}), **point}
        claims.append(
            {**table, **fields, "id": ".".join([name, *map(str, point.values())]), "says": says, "where": where}
        )
    return claims


def _check(path: object, paper: Paper, claims: Sequence[Claim]) -> None:
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise BenchError(f"{path}: two claims are called {claim.id!r}.")
        seen.add(claim.id)
        if claim.not_run:
            continue
        if claim.kind not in _JUDGES:
            raise BenchError(
                f"{path}: claim {claim.id!r}: kind must be one of {', '.join(_JUDGES)}, got {claim.kind!r}."
            )
        for experiment in filter(None, (claim.experiment, claim.against)):
            paper.experiment(experiment)
        if claim.kind in ("value", "ratio") and claim.published is None:
            raise BenchError(f"{path}: claim {claim.id!r}: a {claim.kind} needs 'published'.")
        if claim.tolerance is not None and not claim.because:
            raise BenchError(f"{path}: claim {claim.id!r}: a 'tolerance' needs a 'because'.")


def judge(claim: Claim, outcomes: Mapping[str, Sequence[Outcome]], *, quick: bool) -> Verdict:
    """Compute the verdict of a claim from the outcomes of the experiments."""
    if claim.not_run:
        return Verdict(Status.NOT_RUN, reason=claim.not_run)
    cells = outcomes.get(claim.experiment, ())
    verdict = _JUDGES[claim.kind](claim, cells, outcomes.get(claim.against, ()) if claim.against else cells)
    verdict = _with_load(claim, verdict, [*cells, *outcomes.get(claim.against, ())])
    if quick and claim.full_only and verdict.status is not Status.NOT_RUN:
        return Verdict(Status.NOT_RUN, verdict.ours, f"the quick run {claim.full_only}")
    return verdict


def _with_load(claim: Claim, verdict: Verdict, outcomes: Sequence[Outcome]) -> Verdict:
    """Add to the verdict on a time that the machine was busy, if it was."""
    if not claim.is_timed or verdict.status is Status.NOT_RUN:
        return verdict
    busy = [outcome.others for outcome in outcomes if outcome.status == "done" and outcome.others is not None]
    if not busy or median(busy) < _BUSY:
        return verdict
    load = f"other programs kept {median(busy):.1f} cores busy meanwhile"
    return replace(verdict, reason=f"{verdict.reason}; {load}" if verdict.reason else load)


def judge_all(claims: Sequence[Claim], outcomes: Mapping[str, Sequence[Outcome]], *, quick: bool) -> list[Judged]:
    """Judge every claim."""
    return [Judged(claim, judge(claim, outcomes, quick=quick)) for claim in claims]


def tolerance(claim: Claim) -> float:
    """Return how far a mean may lie from the published one.

    Three standard deviations over the paper's runs; if the paper gives none, three binomial deviations of an accuracy
    on ``rows`` rows; if neither applies, the tolerance that the claim states with a reason. Half a ``step`` of the
    printed digits is added.
    """
    if claim.tolerance is not None:
        return claim.tolerance
    spread = claim.spread
    if not spread and claim.rows and claim.published is not None:
        share = claim.published / 100
        spread = 100 * sqrt(share * (1 - share) / claim.rows)
    return _DEVIATIONS * spread + claim.step / 2


def _compare(claim: Claim, ours: Sample, better: Better) -> Verdict:
    assert claim.published is not None  # noqa: S101  (checked when it was read)
    allowed, difference = tolerance(claim), ours.centre - claim.published
    text = str(ours)
    margin = f"within {show(allowed, ours.unit)}" if allowed else "to the printed digits"
    why = f" ({claim.because})" if claim.because else ""
    if abs(difference) <= allowed + 1e-12:
        return Verdict(Status.REPRODUCED, text, f"{margin} of the published number{why}")
    good = difference > 0 if better == "higher" else difference < 0
    if better != "equal" and good:
        return Verdict(Status.BETTER, text, f"{_away(difference, ours)} the published number")
    return Verdict(
        Status.NOT_REPRODUCED, text, f"{_away(difference, ours)} the published number; {margin} was allowed{why}"
    )


def _away(difference: float, ours: Sample) -> str:
    return f"{show(abs(difference), ours.unit)} {'above' if difference > 0 else 'below'}"


def _judge_value(claim: Claim, outcomes: Sequence[Outcome], others: Sequence[Outcome]) -> Verdict:
    ours = sample(outcomes, claim.metric, claim.where)
    if ours is None:
        return _not_run(outcomes, claim.where)
    return _compare(claim, ours, claim.better or claim.measured.better)


def _judge_ratio(claim: Claim, outcomes: Sequence[Outcome], others: Sequence[Outcome]) -> Verdict:
    of, to = ({**claim.where, **side} for side in (claim.of, claim.to))
    above, below = sample(outcomes, claim.metric, of), sample(others, claim.metric, to)
    if above is None:
        return _not_run(outcomes, of)
    if below is None:
        return _not_run(others, to)
    return _compare(claim, Sample((above.centre / below.centre,), "x"), claim.better or "higher")


def _judge_order(claim: Claim, outcomes: Sequence[Outcome], others: Sequence[Outcome]) -> Verdict:
    def holds(point: Params) -> tuple[bool, str] | None:
        left = sample(outcomes, claim.metric, {**claim.where, **point, **claim.left})
        right = sample(others, claim.metric, {**claim.where, **point, **claim.right})
        if left is None or right is None:
            return None
        scaled = Sample(tuple(claim.factor * value for value in right.values), right.unit)
        gap = scaled.centre - left.centre if claim.relation == "<" else left.centre - scaled.centre
        noise = 2 * sqrt(left.error**2 + scaled.error**2)
        return gap + claim.margin > noise, f"{left} against {right}"

    return _judge_points(claim, outcomes, holds)


def _judge_limit(claim: Claim, outcomes: Sequence[Outcome], others: Sequence[Outcome]) -> Verdict:
    def holds(point: Params) -> tuple[bool, str] | None:
        ours = sample(outcomes, claim.metric, {**claim.where, **point})
        if ours is None:
            return None
        above = claim.at_least is None or ours.centre >= claim.at_least
        below = claim.at_most is None or ours.centre <= claim.at_most
        return above and below, str(ours)

    return _judge_points(claim, outcomes, holds)


def _judge_points(
    claim: Claim, outcomes: Sequence[Outcome], holds: Callable[[Params], tuple[bool, str] | None]
) -> Verdict:
    points = [dict(zip(claim.over, point, strict=True)) for point in itertools.product(*claim.over.values())]
    found = [(point, result) for point in points if (result := holds(point)) is not None]
    if not found:
        return _not_run(outcomes, claim.where)
    failing = [point for point, (held, _) in found if not held]
    held = len(found) - len(failing)
    reproduced = held > len(found) / 2 if claim.most else not failing
    status = Status.REPRODUCED if reproduced else Status.NOT_REPRODUCED
    if len(points) == 1:
        return Verdict(status, found[0][1][1])
    missing = f"; {len(points) - len(found)} of {len(points)} cases were not run" if len(found) < len(points) else ""
    where = f"; not at {'; '.join(_point(point) for point in failing[:4])}" if failing else ""
    more = f" and {len(failing) - 4} more" if len(failing) > 4 else ""
    return Verdict(status, f"holds in {held} of {len(found)}", f"{where}{more}{missing}".removeprefix("; "))


def _point(point: Params) -> str:
    return ", ".join(f"{name} {value}" for name, value in point.items())


def _not_run(outcomes: Sequence[Outcome], where: Params) -> Verdict:
    reasons = [outcome.reason for outcome in outcomes if includes(outcome.cell.params, where) and outcome.reason]
    return Verdict(Status.NOT_RUN, reason=next(iter(dict.fromkeys(reasons)), "no cell of this run has it"))


_JUDGES: dict[str, Callable[[Claim, Sequence[Outcome], Sequence[Outcome]], Verdict]] = {
    "value": _judge_value,
    "ratio": _judge_ratio,
    "order": _judge_order,
    "limit": _judge_limit,
}
