"""``python -m benchmarks.growth``: the picture of the README, an exact kernel SVM and mercer as the rows grow.

Training time in processor seconds of one thread against the training rows, on the rows of ``mercer compare``, with the
growth of the exact machine drawn on beyond the time limit. The machine and all numbers are written next to the picture.
"""

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path
from time import process_time

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.measure import machine
from mercer import Gaussian, config_context
from mercer.bench import comparison, growth
from mercer.bench.growth import MERCER, Step

N_ROWS, WIDTH = 100_000, 512
EXACT = growth.exact_name("classification")
# White behind the plot: the page around it may be dark.
BLUE, ORANGE, GREY, PAPER = "#0b62a4", "#c2410c", "#6b7280", "#ffffff"


def plot(steps: list[Step], path: Path) -> None:
    """Draw both training times, and the projection of the exact machine's."""
    exact, ours = growth.of(steps, EXACT), growth.of(steps, MERCER)
    figure = Figure(figsize=(7.2, 2.9), layout="constrained", facecolor=PAPER)
    axes = figure.subplots()
    beyond = [exact[-1].n_rows, *(step.n_rows for step in ours if step.n_rows > exact[-1].n_rows)]
    axes.loglog(beyond, [growth.projected(exact, n) for n in beyond], ":", color=BLUE)
    for label, taken, colour, marker in ((EXACT, exact, BLUE, "o-"), (MERCER, ours, ORANGE, "s-")):
        axes.loglog([step.n_rows for step in taken], [step.fit_seconds for step in taken], marker, color=colour)
        above = label == EXACT
        last = taken[-1]
        axes.annotate(
            label,
            (last.n_rows, last.fit_seconds),
            xytext=(-8, 8 if above else -18),
            textcoords="offset points",
            ha="right",
            color=colour,
        )
    axes.set(xlabel="training rows", ylabel="training time in s")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(0.995, 0.01, "dotted: the measured growth, drawn on", ha="right", fontsize=8, color=GREY)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "growth.svg")
    parser.add_argument("--time-limit", type=float, default=8.0, help="seconds after which a model gets no more rows")
    asked = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        parser.error("processor seconds are those of one thread: set OMP_NUM_THREADS=1.")
    rows, best = comparison.two_rings(N_ROWS, 0)
    with config_context(threads=1):
        models = growth.contestants(rows, Gaussian(), WIDTH, C=1.0, seed=0, tables=False)
        steps = list(growth.grow(rows, models, limit=asked.time_limit, clock=process_time))
    sentences = growth.sentences(rows, steps, best)
    print(*sentences, sep="\n")
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    found = {"machine": machine(), "sentences": sentences, "steps": [asdict(step) for step in steps]}
    asked.output.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n")
    plot(steps, asked.output)
    print(f"written to {asked.output} and {asked.output.with_suffix('.json')}")


if __name__ == "__main__":
    main()
