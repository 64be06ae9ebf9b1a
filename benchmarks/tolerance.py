"""What ``tol`` of ``KernelLogisticRegression`` costs and buys: time, accuracy and log loss against those at 1e-9.

The default was chosen by the synthetic sets; ``--data`` adds data sets of MERCER_DATA as a check.
"""

import argparse
import time
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import KernelLogisticRegression
from mercer.datasets import load, rings, two_gaussians

_TOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9)
_ROWS, _FEATURES = 8000, 512
_PENALTIES = (0.1, 1.0, 100.0)

Rows = tuple[str, np.ndarray, np.ndarray]


def synthetic(seed: int = 0) -> Iterator[Rows]:
    """Noisy, separable, unbalanced, and with several classes."""
    for flip in (0.1, 0.0):
        data = rings(_ROWS, 5, flip=flip, random_state=seed)
        yield f"rings, flip {flip}", data.X, data.y
    data = two_gaussians(_ROWS, 10, random_state=seed)
    yield "two Gaussians", data.X, data.y
    for n_classes, weights in ((2, [0.97]), (8, None)):
        shape = {"n_features": 20, "n_informative": 10, "n_classes": n_classes, "weights": weights}
        X, y = make_classification(_ROWS, **shape, n_clusters_per_class=2, random_state=seed)
        yield f"make_classification, {n_classes} classes", X, y


def real(names: Sequence[str], seed: int = 0) -> Iterator[Rows]:
    """Digits, and named data sets of MERCER_DATA, at most 8000 rows of each."""
    yield "digits", *load_digits(return_X_y=True)
    for name in names:
        data = load(name, download=False)
        X, y = data.X, data.y
        some = np.random.RandomState(seed).permutation(len(y))[:_ROWS]
        yield name, X[some].toarray() if hasattr(X, "toarray") else X[some], y[some]


def measured(X: np.ndarray, y: np.ndarray, C: float) -> Iterator[tuple[float, float, float, float]]:
    """Yield tol, processor seconds of the fit, accuracy and log loss on half of the rows."""
    X = StandardScaler().fit_transform(X)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    KernelLogisticRegression(n_components=_FEATURES, C=C, random_state=0).fit(X[:500], y[:500])  # loads libraries
    for tol in _TOLS:
        model = KernelLogisticRegression(n_components=_FEATURES, C=C, tol=tol, far_rows="keep", random_state=0)
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        chances = model.predict_proba(X_test)
        yield tol, seconds, model.score(X_test, y_test), log_loss(y_test, chances, labels=model.classes_)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks tolerance", description=__doc__)
    parser.add_argument("--data", nargs="*", default=None, help="Names of data sets of MERCER_DATA.")
    options = parser.parse_args(arguments)
    sets = synthetic() if options.data is None else real(options.data)
    print(
        f"{'rows':<34}{'C':>6}{'tol':>8}{'time / 1e-9':>13}{'accuracy':>10}{'- 1e-9':>9}{'log loss':>10}{'- 1e-9':>10}"
    )
    for name, X, y in sets:
        for C in _PENALTIES:
            found = list(measured(X, y, C))
            _, time_best, accuracy_best, loss_best = found[-1]
            for tol, seconds, accuracy, loss in found:
                print(
                    f"{name:<34}{C:>6g}{tol:>8.0e}{seconds / time_best:>13.2f}{accuracy:>10.4f}"
                    f"{accuracy - accuracy_best:>+9.4f}{loss:>10.5f}{loss - loss_best:>+10.5f}",
                    flush=True,
                )
