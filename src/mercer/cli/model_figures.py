"""Figures of what a fitted model holds: scores, columns, trials, residuals, calibration, penalties and widths."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._typing import Array
from mercer.bench.figures import Drawn, Panel, drawing, plain_ticks
from mercer.cli import facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mercer.learners.table_model import TableModel

    Paint = Callable[[Axes, list[str]], object]

# Columns in the plot of importances, and bins of histograms.
_MOST_BARS, _BINS = 15, 40


def of_model(model: "TableModel") -> list[Drawn]:
    """Return the figures that the fitted attributes of a model allow."""
    learner: Any = model.learner_
    drawn = [
        _scores(model),
        _importances(model),
        _residuals(learner),
        _calibration(learner),
        _trials(getattr(learner, "report_", None)),
        _penalties(learner),
        _widths(learner),
    ]
    return [figure for figure in drawn if figure is not None]


def figure(title: str, caption: str, paint: "Paint", spoken: str, size: tuple[float, float]) -> Drawn:
    """Return a figure of one panel; ``spoken`` is what a screen reader says of it."""
    salt = title.lower().replace(" ", "-").strip("?")
    panel = Panel("", drawing(paint, salt, size), f"{title} {spoken}.", ())
    return Drawn(title, caption, (panel,), (), "", "")


def histogram(residuals: Array, title: str, what: str) -> Drawn:
    """Return the distribution of residuals, half a percent of them at each end drawn at the end."""
    low, high = np.quantile(residuals, [0.005, 0.995])

    def paint(axes: "Axes", colours: list[str]) -> None:
        axes.hist(np.clip(residuals, low, high), bins=_BINS, color=colours[0])
        axes.set_xlabel("target minus prediction")
        axes.set_ylabel("rows")

    middle = np.quantile(np.abs(residuals), [0.5, 0.9])
    spoken = f"half of the residuals are within {middle[0]:.4g}, nine tenths within {middle[1]:.4g}"
    return figure(title, f"{what}: {spoken}.", paint, spoken, (5.2, 2.7))


def _scores(model: "TableModel") -> Drawn | None:
    found = {"leave one out": model.loo_score_, "held out": model.score_, **model.baselines_}
    known = {name: value for name, value in found.items() if value is not None}
    if not known:
        return None
    metric = str(facts.score_facts(model)["metric"])
    spoken = ", ".join(f"{name} {value:.4f}" for name, value in known.items())
    others = ", of a constant and of a linear model" if model.baselines_ else ""
    metric = "R²" if metric == "R2" else metric
    caption = f"{metric[0].upper()}{metric[1:]} of this model{others}. Higher is better."
    return figure("How good is it?", caption, _bars(known, metric), spoken, (5.2, 0.7 + 0.4 * len(known)))


def _importances(model: "TableModel") -> Drawn | None:
    shares = dict(list(facts.importances(model).items())[:_MOST_BARS])
    if not shares:
        return None
    spoken = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
    caption = "The share of each column in the squared gradients of the prediction."
    size = (5.2, 0.7 + 0.3 * len(shares))
    return figure("Which columns matter?", caption, _bars(shares, "share"), spoken, size)


def _bars(values: dict[str, float], label: str) -> "Paint":
    def paint(axes: "Axes", colours: list[str]) -> None:
        names = list(values)[::-1]
        bars = axes.barh(names, [max(values[name], 0.0) for name in names], color=colours[0])
        axes.bar_label(bars, [f"{values[name]:.3f}" for name in names], padding=3)
        axes.margins(x=0.15)
        axes.set_xlabel(label)

    return paint


def _residuals(learner: Any) -> Drawn | None:
    held = getattr(learner, "model_", learner)
    residuals = np.asarray(getattr(held, "loo_residuals_", np.empty((0, 0))))
    is_regression = not hasattr(learner, "classes_")
    if not is_regression or not residuals.size or (residuals.ndim == 2 and residuals.shape[1] != 1):
        return None
    return histogram(residuals.ravel(), "How far off is it?", "Leave-one-out residuals of the training rows")


def _calibration(learner: Any) -> Drawn | None:
    """Return the probability of the second class against the score, as learned from leave-one-out scores."""
    calibration = getattr(learner, "calibration_", None)
    if calibration is None or calibration.n_columns > 1:
        return None
    scores, shares = calibration.scores, calibration.fractions

    def paint(axes: "Axes", colours: list[str]) -> None:
        axes.plot(scores, shares, color=colours[0])
        axes.set_ylim(0, 1)
        axes.set_xlabel("leave-one-out score")
        axes.set_ylabel(f"share of {learner.classes_[1]}")

    spoken = f"the share goes from {shares[0]:.2f} at {scores[0]:.2f} to {shares[-1]:.2f} at {scores[-1]:.2f}"
    caption = (
        f"The share of {learner.classes_[1]} among training rows of similar leave-one-out score. It is the probability "
        "that the model returns. --data shows how right probabilities are on other rows."
    )
    return figure("What does a score mean?", caption, paint, spoken, (5.2, 2.7))


def _trials(report: Any) -> Drawn | None:
    steps = [] if report is None else list(dict.fromkeys(report.steps))
    if not steps:
        return None

    def paint(axes: "Axes", colours: list[str]) -> None:
        for i, step in enumerate(steps):
            errors = [error for error, of_step in zip(report.errors, report.steps, strict=True) if of_step == step]
            axes.plot([i] * len(errors), errors, "o", color=colours[0], markersize=4)
            axes.plot([i], [min(errors)], "s", color=colours[1], markersize=7)
        axes.set_xticks(range(len(steps)), steps, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_ylim(bottom=0)
        axes.set_ylabel("error")

    spoken = "; ".join(f"{step} {sum(one == step for one in report.steps)} trials" for step in steps)
    caption = (
        "The leave-one-out error of everything that was tried, in units of the variance of the target; squares are the "
        "least of a step. Steps differ in the rows that they are measured on."
    )
    return figure("What was tried?", caption, paint, spoken, (5.2, 3.0))


def _penalties(learner: Any) -> Drawn | None:
    alphas, scores = (np.asarray(getattr(learner, name, [])) for name in ("alphas_", "scores_"))
    known = np.isfinite(scores) if len(scores) == len(alphas) else np.zeros(len(alphas), dtype=bool)
    if known.sum() < 2:
        return None
    chosen = float(learner.alpha_)
    order = np.argsort(alphas[known])
    x, y = alphas[known][order], scores[known][order]

    def paint(axes: "Axes", colours: list[str]) -> None:
        axes.loglog(x, y, "o-", color=colours[0], markersize=3)
        axes.axvline(chosen, color=colours[1], linestyle="--")
        for axis in (axes.xaxis, axes.yaxis):
            plain_ticks(axis)
        axes.set_xlabel("penalty alpha")
        axes.set_ylabel("error")

    spoken = f"alpha {chosen:.3g} was chosen of {len(x)} between {x[0]:.1g} and {x[-1]:.1g}"
    caption = f"The error of each penalty that the fit has tried: {spoken} (dashed)."
    return figure("Which penalty?", caption, paint, spoken, (5.2, 2.7))


def _widths(learner: Any) -> Drawn | None:
    details = getattr(getattr(learner, "solution_", None), "details", {})
    widths, errors = (np.asarray(details.get(name, [])) for name in ("widths", "width_errors"))
    if len(widths) < 2:
        return None

    def paint(axes: "Axes", colours: list[str]) -> None:
        axes.loglog(widths, errors, "o-", color=colours[0])
        axes.set_xticks(widths, [str(width) for width in widths])
        axes.set_xticks([], minor=True)
        plain_ticks(axes.yaxis)
        axes.set_xlabel("features")
        axes.set_ylabel("error")

    taken = details.get("width", widths[-1])
    spoken = f"the error goes from {errors[0]:.4g} with {widths[0]} features to {errors[-1]:.4g} with {widths[-1]}"
    caption = f"The leave-one-out error on a sample of rows: {spoken}; {taken} features were taken."
    return figure("Would more features help?", caption, paint, spoken, (5.2, 2.7))
