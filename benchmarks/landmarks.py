"""Errors and seconds: landmark choosers, MEKA against Nystroem, the survey's Table 5, and error against gamma.

``python -m benchmarks.landmarks covertype|meka|table5|gamma``. All but the last need MERCER_DATA; the last draws
``benchmarks/results/error_against_gamma.svg``.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import RESULTS, machine
from benchmarks.nystroem import KERNEL, covertype
from mercer import MEKA, Gaussian, LowRankGram, Nystroem
from mercer.features.nystroem.landmarks import CHOOSERS
from mercer.gram import BlockGram
from mercer.gram.approximation import measuring_stream


def _timed(work: Callable[[], object]) -> tuple[object, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def _load(name: str) -> np.ndarray:
    with np.load(Path(os.environ["MERCER_DATA"]) / f"{name}.npz") as data:
        return data["X_train"].astype(np.float32)


def choosers() -> None:
    """Print the error of every chooser on rows that it has not seen, and its seconds."""
    X, new = np.split(covertype(102_000), [100_000])
    K = KERNEL(new.astype(np.float64))
    print(f"{'chooser':<12}{'m':>6}{'fit s':>9}{'error':>10}{'trace left':>12}")
    for m in (64, 256, 1000):
        for name in CHOOSERS:
            if m == 1000 and name == "greedy":
                continue  # n m^2 at memory speed: minutes
            nystroem = Nystroem(KERNEL, n_components=m, landmarks=name, random_state=0)
            _, seconds = _timed(lambda nystroem=nystroem: nystroem.fit(X))
            Z = nystroem.transform(new).astype(np.float64)
            error = np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K)
            left = 1 - np.einsum("ij,ij->", Z, Z) / len(new)
            print(f"{name:<12}{m:>6}{seconds:>9.2f}{error:>10.5f}{left:>12.5f}", flush=True)


def meka() -> None:
    """Print MEKA on ijcnn1 at gamma = 1 and Nystroem of equal memory; the reference is 0.0401 in 3.31 s (MATLAB)."""
    X = _load("ijcnn1")
    kernel = Gaussian(gamma=1.0)
    print(f"{'':<34}{'fit s':>8}{'error':>10}{'MB':>8}")
    for n_clusters, rank in ((10, 50), (5, 100), (10, 100)):
        fitted, seconds = _timed(lambda c=n_clusters, k=rank: MEKA(kernel, n_clusters=c, rank=k, random_state=0).fit(X))
        _line(f"MEKA {n_clusters} clusters of rank {rank}", fitted, X, seconds)
        m = fitted.memory_bytes // (4 * len(X))
        for name in ("uniform", "auto"):
            nystroem = Nystroem(kernel, n_components=m, landmarks=name, random_state=0)
            low, seconds = _timed(lambda nystroem=nystroem: LowRankGram.of(nystroem.fit(X), X))
            _line(f"Nystroem {m} landmarks, {name}", low, X, seconds)


def _line(work: str, operator: object, X: np.ndarray, seconds: float) -> None:
    error = operator.frobenius_error(X, n_sampled=300)
    print(f"{work:<34}{seconds:>8.2f}{error:>10.5f}{operator.memory_bytes / 1e6:>8.1f}", flush=True)


def table5() -> None:
    """Print MEKA at both readings of the survey's Table 5 (k in total, or per cluster), on both usual scalings."""
    published = {"pendigits": (5, 640, 2.0, 0.072549), "ijcnn1": (10, 1280, 1.0, 0.003319)}
    print(f"{'data':<12}{'scaling':<10}{'rank a cluster':>15}{'error':>11}{'published':>11}{'s':>8}")
    for in_all in (True, False):
        for name, (c, k, gamma, claim) in published.items():
            # The error falls with the rank, and at 256 per cluster it is below the claim: 1280, with 12 800 links,
            # takes many minutes and shows nothing new.
            rank = k // c if in_all else min(k, 640 if name == "pendigits" else 256)
            for scaling, X in _scaled(_load(name)):
                model = MEKA(
                    Gaussian(gamma=gamma), n_clusters=c, rank=rank, psd="clip" if in_all else None, random_state=0
                )
                _, seconds = _timed(lambda model=model, X=X: model.fit(X))
                error = model.frobenius_error(X, n_sampled=200)
                print(f"{name:<12}{scaling:<10}{rank:>15}{error:>11.6f}{claim:>11.6f}{seconds:>8.1f}", flush=True)


def _scaled(X: np.ndarray) -> list[tuple[str, np.ndarray]]:
    span = np.ptp(X, axis=0)
    unit = (X - X.min(axis=0)) / np.where(span > 0, span, 1)
    return [("[0, 1]", unit), ("[-1, 1]", 2 * unit - 1)]


def gamma() -> None:
    """Draw the errors of the three approximations at equal memory, above the best of rank k and of MEKA's rank c k."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    rng = measuring_stream(0)
    n, rank, c, meka_rank = (
        3000,
        40,
        8,
        20,
    )  # 20 numbers per row and the links of 160 take the memory of 40 numbers per row
    centres = rng.standard_normal((c, 8)) * 3
    X = centres[rng.randint(c, size=n)] + rng.standard_normal((n, 8))
    gammas = np.logspace(-4, 1.5, 18)
    few, many = f"best of rank {rank}", f"best of rank {c * meka_rank} (MEKA's)"
    curves: dict[str, list[float]] = {few: [], many: [], "low rank (Nystroem)": [], "block": [], "MEKA": []}
    for value in gammas:
        kernel = Gaussian(gamma=float(value))
        K = kernel(X)
        spectrum = np.linalg.eigvalsh(K)
        size = np.linalg.norm(K)
        curves[few].append(float(np.linalg.norm(spectrum[:-rank]) / size))
        curves[many].append(float(np.linalg.norm(spectrum[: -c * meka_rank]) / size))
        low = LowRankGram.of(Nystroem(kernel, n_components=2 * rank, rank=rank, random_state=0).fit(X), X)
        # Blocks of 40 rows hold 40 numbers per row.
        block = BlockGram(kernel, X, n_clusters=n // rank, random_state=0)
        meka = MEKA(kernel, n_clusters=c, rank=meka_rank, random_state=0).fit(X)
        for name, operator in (("low rank (Nystroem)", low), ("block", block), ("MEKA", meka)):
            curves[name].append(operator.frobenius_error(X, n_sampled=n))
    figure, axes = plt.subplots(figsize=(8.0, 4.0), layout="constrained")
    for (name, errors), style in zip(curves.items(), ("C0:", "C2:", "C0-", "C1--", "C2-."), strict=True):
        axes.loglog(gammas, np.maximum(errors, 1e-8), style, label=name)
        print(name, " ".join(f"{error:.2g}" for error in errors))
    axes.set(xlabel="gamma", ylabel="relative Frobenius error", ylim=(1e-7, 2))
    axes.set_title(f"{n} rows in {c} clusters of 8 columns, memory of about {rank} numbers per row", fontsize=10)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    RESULTS.mkdir(exist_ok=True)
    for suffix in ("svg", "png"):
        figure.savefig(RESULTS / f"error_against_gamma.{suffix}", dpi=120)


TABLES = {"covertype": choosers, "meka": meka, "table5": table5, "gamma": gamma}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landmarks", description=__doc__)
    parser.add_argument("table", choices=TABLES)
    chosen = parser.parse_args().table
    print(", ".join(f"{key} {value}" for key, value in machine().items()), flush=True)
    TABLES[chosen]()


if __name__ == "__main__":
    main()
