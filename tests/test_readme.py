"""The README's example runs as printed."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_twelve_lines_run(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 12
    exec(compile(code, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[-1]) > 0.9


def test_the_two_commands_are_the_ones_that_ci_runs():
    text = README.read_text()
    assert 'pip install ".[cli]" && .venv/bin/mercer compare' in text
    assert "bash scripts/test.sh" in text
    assert "bash scripts/test.sh" in (README.parent / ".ci" / "run").read_text()
