"""What a model of a table is, for ``mercer train`` and ``mercer inspect``: its columns, choices and scores."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.learners.table_model import TableModel

# Columns named in a line, and the share of importance below which a column is not named.
_MOST_NAMED, _LEAST_SHARE = 8, 0.005
# Where the text of a line begins, after its title.
INDENT = 13


def column_facts(model: "TableModel") -> dict[str, object]:
    """Return the names of the columns by what became of them."""
    kinds = model.kinds
    missing, dropped, categories = _of_preparation(model)
    used = [name for name in kinds if name not in dropped]
    return {
        "numbers": [name for name in used if kinds[name] == "number"],
        "dates": [name for name in used if kinds[name] == "date"],
        "categories": {name: values for name, values in categories.items() if name not in dropped},
        "with_missing": missing,
        "left_out": dropped,
        "ignored": model.ignored_,
    }


def _of_preparation(model: "TableModel") -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Return the columns with missing values, those that are left out, and the categories that have columns."""
    prepared = model.preparation_
    if prepared is not None and not hasattr(prepared, "missing_levels_"):  # one column of objects
        return [], [], {name: [] for name in model.kinds}
    if prepared is not None:
        levels = zip(prepared.category_names_, prepared.missing_levels_, strict=True)
        missing = [*prepared.indicated_, *(name for name, gone in levels if gone)]
        return missing, prepared.left_out_, dict(zip(prepared.category_names_, prepared.categories_, strict=True))
    encoding = getattr(getattr(model.learner_, "preparation_", None), "encoding_", None)
    if encoding is None:
        return [], [], {}
    columns = list(zip(model.kinds, encoding.columns, strict=True))
    used = set(encoding.sources.tolist())
    dropped = [name for j, (name, _) in enumerate(columns) if j not in used]
    missing = [name for name, column in columns if column.has_missing and name not in dropped]
    return missing, dropped, {name: column.categories for name, column in columns if column.kind == "categories"}


def learner_facts(model: "TableModel") -> dict[str, object]:
    """Return the choices of the learner."""
    learner: Any = model.learner_
    if hasattr(learner, "report_"):
        report = learner.report_
        return {"kernel": repr(learner.model_.kernel), "chosen": dict(report.chosen), "search": report.ended}
    feature_map = getattr(learner, "feature_map_", None)
    kernel = getattr(feature_map, "kernel_", getattr(learner, "kernel", None))
    facts: dict[str, object] = {"kernel": None if kernel is None else repr(kernel)}
    if feature_map is not None:
        facts |= {"feature_map": type(feature_map).__name__, "n_components": int(learner.coef_.shape[-1])}
    if hasattr(learner, "alpha_"):
        facts["alpha"] = float(learner.alpha_)
    return facts


def importances(model: "TableModel") -> dict[str, float]:
    """Return the share of each column in the model, the largest first; empty if the learner does not know it."""
    shares = getattr(model.learner_, "feature_importances_", None)
    if shares is None:
        return {}
    pairs = sorted(zip(model.kinds, shares.tolist(), strict=True), key=lambda pair: -pair[1])
    return {name: round(share, 4) for name, share in pairs if share >= _LEAST_SHARE}


def score_facts(model: "TableModel") -> dict[str, object]:
    """Return the metric, the estimates of the score on new rows, and the baselines."""
    return {
        "metric": "accuracy" if model.task_ == "classification" else "R2",
        "leave_one_out": model.loo_score_,
        "score": model.score_,
        "baselines": model.baselines_,
    }


def kernel_error(model: "TableModel") -> str | None:
    """Return how far the features are from the kernel on training rows, if that was measured."""
    found = model.kernel_error_
    return error_in_words(found["value"], found["low"], found["high"]) if found else None


def error_in_words(value: float, low: float, high: float) -> str:
    """Return an error of a Gram matrix with its interval."""
    return f"{value:.4f} of the Gram matrix, by the Frobenius norm (95 % interval {low:.4f} to {high:.4f})"


def in_words(model: "TableModel") -> list[str]:
    """Return the lines that ``mercer train`` prints about a model."""
    metric = str(score_facts(model)["metric"])
    lines = []
    if model.loo_score_ is not None:
        lines.append(_line(metric, f"{model.loo_score_:.4f} leave-one-out on all {model.n_train_:,} rows"))
    if model.score_ is not None:
        held = (
            f"{model.score_:.4f} on {model.n_test_:,} rows held out, by a model of the others; then fitted on all rows"
        )
        lines.append(_line(metric if model.loo_score_ is None else "", held))
    lines.append(_line("compare", ", ".join(f"{name} {score:.4f}" for name, score in model.baselines_.items())))
    shares = importances(model)
    if shares:
        named = list(shares.items())[:_MOST_NAMED]
        lines.append(_line("important", ", ".join(f"{name} {100 * share:.0f} %" for name, share in named)))
    lines += _columns_in_words(model)
    chosen = learner_facts(model)
    if isinstance(chosen.get("chosen"), dict):
        lines.append(_line("chosen", "; ".join(f"{name}: {value}" for name, value in chosen["chosen"].items())))  # type: ignore[attr-defined]
    else:
        parts = [f"{name.replace('_', ' ')}: {_short(value)}" for name, value in chosen.items() if value is not None]
        lines.append(_line("chosen", "; ".join(parts)))
    return lines


def next_step(model: "TableModel", output: str) -> str:
    """Return a line with the next thing to try."""
    return _line("next", _next_step(model, output))


def _next_step(model: "TableModel", output: str) -> str:
    name, score = type(model.learner_).__name__, model.loo_score_ if model.loo_score_ is not None else model.score_
    best = max(model.baselines_.values(), default=0.0)
    is_weak = score is not None and score < best + 0.005
    if not name.startswith("Tuned"):
        way = "mercer train without --model, --kernel, -D and --method chooses everything itself"
        return f"the model hardly beats the baselines: {way}" if is_weak else way
    if is_weak:
        return "the model hardly beats the baselines: look for other columns, or for rows whose target is wrong"
    what = "intervals" if model.task_ == "regression" else "sets of classes; --scores adds probabilities"
    return f"mercer predict {output} new.csv --interval 0.9   ({what})"


def _columns_in_words(model: "TableModel") -> list[str]:
    facts = column_facts(model)
    used = {what: len(names) for what, names in _used(facts).items()}  # type: ignore[arg-type]
    parts = [f"{n} {what.removesuffix('s') if n == 1 else what}" for what, n in used.items() if n]
    lines = [_line("columns", ", ".join(parts))]
    for name, title in (("with_missing", "missing in"), ("left_out", "constant"), ("ignored", "ignored")):
        names = facts[name]
        if names:
            lines.append(_line("", f"{title}: {_few(names)}"))  # type: ignore[arg-type]
    return lines


def _used(facts: dict[str, object]) -> dict[str, object]:
    return {"numbers": facts["numbers"], "text": facts["categories"], "dates": facts["dates"]}


def _line(title: str, text: str) -> str:
    return f"  {title:<{INDENT - 2}}{text}"


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"
