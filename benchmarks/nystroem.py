"""Nystroem on 100 000 rows of 54 columns, float32, against scikit-learn's; choosing landmarks against their columns.

On Covertype (standardised) where MERCER_DATA names the data sets, else on normal rows of the same shape.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn import kernel_approximation
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler, normalize

from benchmarks.measure import Row, best_of_both
from mercer import MEKA, Gaussian, Nystroem
from mercer.features.nystroem import landmarks
from mercer.parallel import for_each_block, row_blocks

SHAPE = (100_000, 54)
N_LANDMARKS = 1000
KERNEL = Gaussian(gamma=1 / 54)


def covertype(n_rows: int) -> np.ndarray:
    """Return rows of Covertype, drawn and standardised; normal rows without the data."""
    folder = os.environ.get("MERCER_DATA")
    rng = np.random.RandomState(0)
    if not folder:
        return rng.standard_normal((n_rows, 54)).astype(np.float32)
    with np.load(Path(folder) / "covtype.npz") as data:
        X = data["X"]
    X = X[rng.permutation(len(X))[:n_rows]].astype(np.float32)
    return np.asarray(StandardScaler().fit_transform(X), dtype=np.float32)


def _check(ours: Nystroem, peer: kernel_approximation.Nystroem, X: np.ndarray) -> None:
    """Assert that our error on 1000 rows is no larger than the peer's, from the same number of uniform landmarks."""
    K = KERNEL(X[:1000].astype(np.float64))
    errors = []
    for fitted in (ours, peer):
        Z = fitted.transform(X[:1000]).astype(np.float64)
        errors.append(np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K))
    assert errors[0] < 1.01 * errors[1], errors


def against_scikit_learn() -> Iterator[Row]:
    X = covertype(SHAPE[0])
    ours = Nystroem(KERNEL, n_components=N_LANDMARKS, landmarks="uniform", random_state=0).fit(X)
    peer = kernel_approximation.Nystroem(gamma=KERNEL.gamma, n_components=N_LANDMARKS, random_state=0).fit(X)
    _check(ours, peer, X)
    work = f"{SHAPE[0]}x{SHAPE[1]} m={N_LANDMARKS} rank {ours.rank_}"
    yield Row(
        f"Nystroem.fit {work}", "sklearn Nystroem.fit", *best_of_both(partial(ours.fit, X), partial(peer.fit, X)), 3
    )
    seconds = best_of_both(partial(ours.transform, X), partial(peer.transform, X))
    yield Row(f"Nystroem.transform {work}", "sklearn Nystroem.transform", *seconds, 3)
    # What no implementation can leave out: the products of rows and landmarks, and of kernel values and projection.
    C, right, projection = ours._columns(np.float32)(X), ours.landmarks_.T, ours.projection_.astype(np.float32)
    seconds = best_of_both(partial(ours.transform, X), lambda: (X @ right, C @ projection), repeats=3)
    yield Row(f"Nystroem.transform {work}", "NumPy's two products alone", *seconds, 0.8)


def few_rows() -> Iterator[Row]:
    """Nearly all of a thousand rows as landmarks, where only the factorisations cost; scikit-learn's takes an SVD."""
    X = normalize(load_digits().data)[:1257]
    for n_landmarks in (512, 1024):
        ours = Nystroem(Gaussian(gamma=2.0), n_components=n_landmarks, random_state=0)
        peer = kernel_approximation.Nystroem(gamma=2.0, n_components=n_landmarks, random_state=0)
        errors = [np.linalg.norm(Gaussian(gamma=2.0)(X) - Z @ Z.T) for Z in (m.fit_transform(X) for m in (ours, peer))]
        assert errors[0] < 1.01 * errors[1], errors
        seconds = best_of_both(partial(ours.fit, X), partial(peer.fit, X), repeats=3)
        yield Row(f"Nystroem.fit 1257x64 digits m={n_landmarks}", "sklearn Nystroem.fit", *seconds, 1)


def choosing() -> Iterator[Row]:
    """Randomly pivoted Cholesky may take 3 times as long as the kernel columns of its landmarks."""
    X = covertype(SHAPE[0])
    choose = partial(landmarks.rpcholesky, KERNEL, X, N_LANDMARKS, random_state=0)
    chosen = choose()
    for dtype in (np.float64, np.float32):
        tile = KERNEL.evaluator(chosen.points, dtype)

        def columns(tile=tile) -> None:
            for_each_block(lambda rows: tile(X[rows]), row_blocks(len(X)))

        seconds = best_of_both(choose, columns, repeats=3)
        yield Row(
            f"rpcholesky {SHAPE[0]} rows m={N_LANDMARKS}", f"its kernel columns, {np.dtype(dtype)}", *seconds, 1 / 3
        )


def linear_in_rows() -> Iterator[Row]:
    """MEKA's fit on n rows against n / 10 000 fits on 10 000 rows."""
    X = covertype(250_000)
    fit = MEKA(KERNEL, n_clusters=10, rank=50, random_state=0).fit
    for n_rows in (50_000, 250_000):
        many, few = best_of_both(partial(fit, X[:n_rows]), partial(fit, X[:10_000]), repeats=2)
        yield Row(f"MEKA.fit {n_rows} rows", f"{n_rows // 10_000} fits of 10 000 rows", many, few * n_rows / 10_000, 1)


def rows() -> Iterator[Row]:
    yield from against_scikit_learn()
    yield from few_rows()
    yield from choosing()
    yield from linear_in_rows()
