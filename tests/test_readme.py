"""The README is short, its examples run as printed, and its table of extras is that of the package."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

README = Path(__file__).parents[1] / "README.md"


def _examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_first_three_lines_run_as_printed():
    code = _examples()[0]
    assert len([line for line in code.splitlines() if line]) == 3
    X, y = load_diabetes(return_X_y=True)
    names = {"X": X[:400], "y": y[:400], "X_new": X[400:]}
    exec(compile(code, "README.md", "exec"), names)
    inside = (names["low"] <= y[400:]) & (y[400:] <= names["high"])
    # 42 rows at coverage .9: fewer than 28 inside has a probability below 1e-5.
    assert np.sum(inside) >= 28
    assert names["model"].score(X[400:], y[400:]) > 0.3


def test_the_example_of_kernels_runs_as_printed(capsys):
    code = _examples()[1]
    assert len([line for line in code.splitlines() if line]) <= 12
    exec(compile(code, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[-1]) > 0.9


def test_the_words_under_the_picture_are_those_that_were_measured():
    said = " ".join(README.read_text().split())
    measured = json.loads((README.parent / "docs" / "figures" / "growth.json").read_text())["sentences"]
    assert all(sentence in said for sentence in measured[1:])


def test_the_readme_is_short_and_begins_with_what_a_picture_code_and_commands():
    lines = README.read_text().splitlines()
    assert len(lines) < 120
    screen = "\n".join(lines[:40])
    for part in (
        "Kernel machines at linear cost",
        "docs/figures/growth.svg",
        "```python",
        "mercer compare",
        "bash scripts/test.sh",
    ):
        assert part in screen


def test_the_table_of_extras_is_that_of_the_package():
    rows = re.findall(
        r"^\| (`.*?`) \|", README.read_text().split('| `pip install "mercer[...]"`')[1], flags=re.MULTILINE
    )
    named = {name for row in rows[: rows.index("`docs`, `test`, `dev`") + 1] for name in re.findall(r"`(\w+)`", row)}
    extras = tomllib.loads((README.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert named == set(extras)


def test_the_two_commands_are_the_ones_that_ci_runs():
    text = README.read_text()
    assert 'pip install ".[cli]" && .venv/bin/mercer compare' in text
    assert "bash scripts/test.sh" in text
    assert "bash scripts/test.sh" in (README.parent / ".ci" / "run").read_text()
