"""Count the calls of five walks through the package: how many functions and files a reader passes through.

``python scripts/count_calls.py`` prints one line per walk: calls of functions of mercer, distinct functions, distinct
files, switches from one file to another, and the deepest nesting. One thread, 300 rows; imports are done beforehand.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from scipy import sparse

import mercer
from mercer import Gaussian, KernelSVC, Polynomial, TensorSketch, as_blocks, config_context

_PACKAGE = str(Path(mercer.__file__).parent)


class Walk:
    """The calls of functions of mercer while the walk is traced."""

    def __init__(self) -> None:
        self.calls, self.switches, self.depth, self.deepest = 0, 0, 0, 0
        self.functions: set[tuple[str, int]] = set()
        self._file = ""

    @property
    def files(self) -> set[str]:
        """The files whose functions were called."""
        return {file for file, _ in self.functions}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Record one event of ``sys.setprofile``."""
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            return
        if event == "return":
            self.depth -= 1
        elif event == "call":
            self.calls += 1
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
            self.functions.add((code.co_filename, code.co_firstlineno))
            self.switches += self._file not in ("", code.co_filename)
            self._file = code.co_filename


def traced(work: Callable[[], Any]) -> Walk:
    """Trace one call of ``work``, after a call that does the imports."""
    work()
    walk = Walk()
    sys.setprofile(walk)
    try:
        work()
    finally:
        sys.setprofile(None)
    return walk


def walks(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the five walks: learn from an array, from a folder, transform CSR rows, the shell, model files."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    _write_tables(folder, X, y)
    sketch = TensorSketch(Polynomial(2), n_components=64, random_state=0).fit(X)
    model = KernelSVC(Gaussian(), random_state=0).fit(X, y)
    file = folder / "model.mercer"
    mercer.save(model, file)
    return {
        "KernelSVC.fit(X, y)": lambda: KernelSVC(Gaussian(), random_state=0).fit(X, y),
        "KernelSVC.fit(parquet folder)": lambda: KernelSVC(Gaussian(), random_state=0).fit(
            as_blocks(folder / "parquet", "y")
        ),
        "TensorSketch.transform(csr)": lambda: sketch.transform(sparse.csr_array(X)),
        "mercer train data.csv": lambda: _train(folder),
        "save": lambda: mercer.save(model, file),
        "load": lambda: mercer.load(file),
    }


def _write_tables(folder: Path, X: Any, y: Any) -> None:
    from pyarrow import csv, parquet, table  # noqa: PLC0415 - optional

    rows = table({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
    (folder / "parquet").mkdir()
    parquet.write_table(rows, folder / "parquet" / "part.parquet")
    csv.write_csv(rows, folder / "data.csv")


def _train(folder: Path) -> None:
    from mercer.cli.train import command  # noqa: PLC0415 - optional

    arguments = [str(folder / "data.csv"), "--target", "y", "-o", str(folder / "trained.mercer"), "--quiet", "--force"]
    with redirect_stdout(StringIO()):
        command.main(arguments, standalone_mode=False)


def main() -> None:
    print(f"{'walk':32}{'calls':>8}{'functions':>11}{'files':>7}{'switches':>10}{'depth':>7}")
    with tempfile.TemporaryDirectory() as name, config_context(threads=1):
        for title, work in walks(Path(name)).items():
            walk = traced(work)
            row = (walk.calls, len(walk.functions), len(walk.files), walk.switches, walk.deepest)
            print(f"{title:32}{row[0]:>8}{row[1]:>11}{row[2]:>7}{row[3]:>10}{row[4]:>7}")


if __name__ == "__main__":
    main()
