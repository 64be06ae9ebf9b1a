"""A trained model as one offline HTML page: what it is, its scores, what was tried, the columns, and the residuals."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer.bench.environment import machine
from mercer.bench.page import render as render_page
from mercer.cli import facts
from mercer.cli.model_figures import of_model

if TYPE_CHECKING:
    from mercer.cli.row_figures import OnRows
    from mercer.learners.table_model import TableModel

_HERE = Path(__file__).parent / "template"


def render(model: "TableModel", data: str, about: dict[str, str] | None = None, rows: "OnRows | None" = None) -> str:
    """Return the page as text.

    Parameters
    ----------
    model : TableModel
    data : str
        The name of what the model was trained on, or of its file; "" for neither.
    about : dict, optional
        Facts about the model file.
    rows : OnRows, optional
        What was found on other rows.
    """
    learner: Any = model.learner_
    return render_page(
        "report.html",
        _HERE,
        model=model,
        title=model.target_ or type(learner).__name__,
        data=data,
        learner=type(learner).__name__,
        scores=facts.score_facts(model),
        columns=facts.column_facts(model),
        chosen=_flat(facts.learner_facts(model) | {"error of the kernel": facts.kernel_error(model)}),
        trials=_rows(learner.report_) if hasattr(learner, "report_") else [],
        figures=of_model(model),
        about=about or {},
        rows=rows,
        machine=machine(),
    )


def _flat(chosen: dict[str, object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in chosen.items():
        if isinstance(value, dict):
            found |= {str(key): str(one) for key, one in value.items()}
        elif value is not None:
            found[name.replace("_", " ")] = f"{value:.4g}" if isinstance(value, float) else str(value)
    return found


def _rows(report: Any) -> list[tuple[str, str, float]]:
    return list(zip(report.steps, report.tried, report.errors, strict=True))
