"""``python -m benchmarks.error_against_time``: the error of every Gaussian map against its time, as a table and a plot.

Relative Frobenius error of the Gram matrix of 1000 rows, mean over 3 draws, against the best of 7 times to map 10000
rows, float32, with gamma from the median heuristic. MERCER_DATA names the folder of mnist.npz and covtype.npz; without
it digits alone is measured.
"""

import argparse
import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import _seconds, machine
from mercer import Fastfood, FourierFeatures, Gaussian, Nystroem, OrthogonalFeatures, QuasiRandomFeatures
from mercer.features import FeatureMap

WIDTHS = (128, 256, 512, 1024, 2048, 4096)
# m landmarks cost m^3 to fit, and m kernel values per row.
MOST_LANDMARKS = 1024
N_CHECKED, N_TIMED, N_DRAWS, N_RUNS = 1000, 10_000, 3, 7


def datasets() -> Iterator[tuple[str, np.ndarray]]:
    yield "digits, d = 64", load_digits().data / 16
    folder = os.environ.get("MERCER_DATA")
    if folder:
        with np.load(Path(folder) / "mnist.npz") as mnist:
            yield "MNIST, d = 784", mnist["X_train"][:N_TIMED] / 255
        with np.load(Path(folder) / "covtype.npz") as covtype:
            X = covtype["X"]
            chosen = np.random.RandomState(0).choice(len(X), N_TIMED, replace=False)
            yield "Covertype, d = 54", StandardScaler().fit_transform(X[chosen].astype(np.float64))


def maps(kernel: Gaussian, n_features: int) -> dict[str, FeatureMap]:
    found = {
        "cosines with offset": FourierFeatures(kernel, pairs=False),
        "Fourier pairs": FourierFeatures(kernel),
        "orthogonal, rotation": OrthogonalFeatures(kernel, structured=False),
        "Sobol": QuasiRandomFeatures(kernel),
        "Fastfood": Fastfood(kernel),
        "Nyström, uniform": Nystroem(kernel, landmarks="uniform"),
        "Nyström, rpcholesky": Nystroem(kernel, landmarks="rpcholesky"),
    }
    if n_features >= 64:
        found["orthogonal, structured"] = OrthogonalFeatures(kernel, structured=True)
    return found


def measure(X: np.ndarray) -> Iterator[dict[str, object]]:
    X = X.astype(np.float32)
    rows = X[np.arange(N_TIMED) % len(X)]
    checked = X[np.random.RandomState(0).choice(len(X), N_CHECKED, replace=False)]
    kernel = Gaussian(gamma="median").resolve(X)
    K = kernel(checked.astype(np.float64))
    for name, kind in maps(kernel, X.shape[1]).items():
        for width in WIDTHS:
            if isinstance(kind, Nystroem) and width > MOST_LANDMARKS:
                break
            errors = []
            for seed in range(N_DRAWS):
                fitted = clone(kind).set_params(n_components=width, random_state=seed).fit(X)
                Z = fitted.transform(checked).astype(np.float64)
                errors.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
            fitted.transform(rows)
            seconds = min(_seconds(partial(fitted.transform, rows)) for _ in range(N_RUNS))
            yield {"map": name, "n_components": width, "error": float(np.mean(errors)), "seconds": seconds}


def plot(tables: dict[str, list[dict[str, object]]], path: Path) -> None:
    figure = Figure(figsize=(4.6 * len(tables), 4), layout="constrained")
    axes = figure.subplots(1, len(tables), squeeze=False)
    names = list(dict.fromkeys(row["map"] for table in tables.values() for row in table))
    for axis, (title, table) in zip(axes[0], tables.items(), strict=True):
        for i, name in enumerate(names):
            own = [row for row in table if row["map"] == name]
            if own:
                times, errors = [1e3 * row["seconds"] for row in own], [row["error"] for row in own]
                axis.loglog(times, errors, "os^vDPX*"[i] + "-", ms=4, color=f"C{i}", label=name)
        axis.set(title=title, xlabel=f"ms for {N_TIMED} rows")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(visible=True, which="both", alpha=0.25)
    axes[0][0].set_ylabel("relative error of the Gram matrix")
    handles, labels = [], []
    for axis in axes[0]:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.error_against_time", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "error_against_time.svg")
    output = parser.parse_args().output
    tables = {}
    for title, X in datasets():
        print(title)
        tables[title] = []
        for row in measure(X):
            tables[title].append(row)
            print(
                f"  {row['map']:<24}{row['n_components']:>6}{row['error']:>10.4f}{1e3 * row['seconds']:>9.1f} ms",
                flush=True,
            )
    output.parent.mkdir(parents=True, exist_ok=True)
    output.with_suffix(".json").write_text(json.dumps({"machine": machine(), "tables": tables}, indent=2) + "\n")
    plot(tables, output)
    print(f"written to {output} and {output.with_suffix('.json')}")


if __name__ == "__main__":
    main()
