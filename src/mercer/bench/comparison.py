"""Exact kernel machine, linear model and every suitable map, on the same rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC, SVR, LinearSVC

from mercer._typing import Array, Csr
from mercer.data import Blocks, Choice, Source, TableError, TablePreparation, reservoir
from mercer.data.prepared import PreparedReader
from mercer.data.spool import SpooledSource
from mercer.data.target import TargetSummary, encoder
from mercer.features import FeatureMap, RandomMaclaurin, feature_map, methods_for
from mercer.kernels import Kernel, Linear, Polynomial
from mercer.learners import KernelRidge, KernelSVC

# Rows that the kernel error is measured on, and the most rows that scores are measured on.
_ERROR_ROWS = 500
_TEST_ROWS = 10_000
# Test rows of the real set of the built-in job: an exact machine of seven classes takes seconds to predict more.
_FEW_TEST_ROWS = 2000


@dataclass(frozen=True)
class Rows:
    """Rows to train and to test on."""

    name: str
    task: str
    X_train: Array | Csr
    X_test: Array | Csr
    y_train: Array
    y_test: Array

    def head(self, n_train: int, n_test: int) -> "Rows":
        """Return the first rows of each part."""
        X, X_test, y, y_test = (
            self.X_train[:n_train],
            self.X_test[:n_test],
            self.y_train[:n_train],
            self.y_test[:n_test],
        )
        return Rows(self.name, self.task, X, X_test, y, y_test)

    @property
    def about(self) -> str:
        """One line about the rows."""
        n_train, width = self.X_train.shape
        return f"{self.name}: {n_train:,} rows to train, {self.X_test.shape[0]:,} to test, {width:,} columns"


@dataclass(frozen=True)
class Result:
    """One line of the comparison; ``reason`` says why a map was left out."""

    kernel: str
    model: str
    n_components: int | None = None
    score: float | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    kernel_error: float | None = None
    megabytes: float | None = None
    reason: str = ""


def digits(seed: int = 0) -> Rows:
    """Return scikit-learn's digits, rows of norm 1."""
    from sklearn.datasets import load_digits  # noqa: PLC0415 - only here

    X, y = load_digits(return_X_y=True)
    return _split("scikit-learn's digits, rows of norm 1", "classification", normalize(X), y, seed)


def two_rings(n_rows: int, seed: int = 0) -> tuple[Rows, float]:
    """Return rows inside and outside a sphere, a tenth of the labels turned, and the best accuracy that there is."""
    from mercer.datasets import rings  # noqa: PLC0415 - only here

    n_test = min(_TEST_ROWS, max(n_rows, 100))
    data = rings(n_rows + n_test, 5, flip=0.1, random_state=seed)
    X, y = data.X.astype(np.float32), data.y
    name = "a sphere, 10 % wrong labels"
    return Rows(name, "classification", X[n_test:], X[:n_test], y[n_test:], y[:n_test]), data.best


def at_hand(n_rows: int, seed: int = 0) -> Rows:
    """Return rows of Covertype if its file is on this machine, else scikit-learn's digits; nothing is downloaded."""
    from mercer.datasets import catalogue, find  # noqa: PLC0415 - only here

    if find(catalogue()["covtype"]) is None:
        return digits(seed)
    rows = named("covtype", n_rows + _TEST_ROWS, seed)
    return rows.head(n_rows, _FEW_TEST_ROWS)


@dataclass(frozen=True)
class Sampling:
    """How rows are drawn from a source: which column is the target, the task, how many rows, and the seed."""

    target: str | None = None
    task: str = "auto"
    n_rows: int = 100_000
    seed: int = 0
    impute: bool = False


def sampled(source: Source, how: Sampling) -> Rows:
    """Return a uniform sample of the rows of a source, prepared as for training."""
    chosen = source.choose(Choice(how.target).of(source))
    target = chosen.columns.target
    if target is None:
        raise TableError(f"{source.name}: which column is the target?")
    summary = TargetSummary(source.name, target)
    preparation = TablePreparation(missing="impute" if how.impute else "indicate")
    rows: Source = chosen if chosen.rereadable else SpooledSource(chosen)
    preparation.fit(rows, watch=lambda piece: summary.update(piece.y))
    task = summary.task(how.task)
    reader = PreparedReader(rows, preparation, encode=encoder(task))
    pairs = ((block.X, block.y) for block in Blocks(reader, 4096, owner=source.name).labelled())
    X, y = reservoir(pairs, how.n_rows, np.random.RandomState(how.seed))
    return _split(source.name, task, X, y, how.seed)


def named(name: str, n_rows: int, seed: int) -> Rows:
    """Return a uniform sample of the rows of a data set of ``mercer.datasets``, standardised."""
    from mercer.datasets import load  # noqa: PLC0415 - only here

    data = load(name).joined()
    if not hasattr(data.X, "shape"):
        raise TableError(f"data set {name!r} holds texts or graphs, which are not a table.")
    chosen = np.sort(np.random.RandomState(seed).permutation(len(data.y))[:n_rows])
    X = data.X[chosen].astype(np.float32)
    scaled = StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)
    task = "classification" if "classification" in data.info.task else "regression"
    return _split(data.info.title, task, scaled, data.y[chosen], seed)


def _split(name: str, task: str, X: Array | Csr, y: Array, seed: int) -> Rows:
    if X.shape[0] < 10:
        raise TableError(f"{name}: {X.shape[0]} rows are too few for a comparison; at least 10 are needed.")
    counts = np.unique(y, return_counts=True)[1]
    stratify = y if task == "classification" and counts.min() > 1 else None
    n_test = min(int(np.ceil(0.3 * X.shape[0])), _TEST_ROWS)
    parts = train_test_split(X, y, test_size=n_test, random_state=seed, stratify=stratify)
    return Rows(name, task, *parts)


def compare(rows: Rows, kernels: list[Kernel], widths: list[int], *, C: float = 1.0, seed: int = 0) -> Iterator[Result]:
    """Yield the result of each model as soon as it is known."""
    yield _measured(rows, "", "linear model", _linear(rows.task, C))
    for given in kernels:
        kernel = given.resolve(rows.X_train)
        exact = SVC(kernel=kernel, C=C) if rows.task == "classification" else SVR(kernel=kernel, C=C)
        gram = 8e-6 * rows.X_train.shape[0] ** 2
        yield _measured(rows, repr(kernel), "exact SVM", exact, kernel_error=0.0, megabytes=gram)
        for name, made in _maps(kernel, seed):
            for width in widths:
                yield _of_map(rows, kernel, name, made, width, C)


def _linear(task: str, C: float) -> BaseEstimator:
    return LinearSVC(C=C) if task == "classification" else KernelRidge(Linear())


def _machine(task: str, map_: FeatureMap, C: float) -> KernelSVC | KernelRidge:
    """Return a linear model on the features of a map."""
    return KernelSVC(features=map_, C=C) if task == "classification" else KernelRidge(features=map_)


def _maps(kernel: Kernel, seed: int) -> list[tuple[str, FeatureMap]]:
    """Return every map of the kernel by name, unfitted."""
    *names, whole = (name for name in methods_for(kernel) if name != "shift_invariant")
    made: list[tuple[str, FeatureMap]] = []
    for name in [*(names or ["auto"]), whole]:
        try:
            made.append((name.replace("_", " "), feature_map(kernel, 1, method=name, random_state=seed)))
        except ValueError:  # an expression of which a part has no such map
            continue
        if name == "maclaurin" and isinstance(kernel, Polynomial):
            made.append(("maclaurin H0/1", RandomMaclaurin(kernel, h01=True, random_state=seed)))
    return made


def _of_map(rows: Rows, kernel: Kernel, name: str, made: FeatureMap, width: int, C: float) -> Result:
    machine = _machine(rows.task, clone(made).set_params(n_components=width), C)
    megabytes = 1e-6 * rows.X_train.shape[0] * width * rows.X_train.dtype.itemsize
    try:
        result = _measured(rows, repr(kernel), name, machine, width, megabytes=megabytes)
    except ValueError as fault:
        return Result(repr(kernel), name, width, reason=" ".join(str(fault).split()))
    return replace(result, kernel_error=_kernel_error(machine.feature_map_, kernel, rows))


def _kernel_error(fitted: FeatureMap, kernel: Kernel, rows: Rows) -> float:
    """Return |ZZ' - K| / |K| in the Frobenius norm, on test rows."""
    X = rows.X_test[:_ERROR_ROWS]
    Z, K = fitted.transform(X), kernel(X)
    product = Z @ Z.T
    product = product.toarray() if hasattr(product, "toarray") else product
    return float(np.linalg.norm(product - K) / np.linalg.norm(K))


def _measured(
    rows: Rows,
    kernel: str,
    name: str,
    model: BaseEstimator,
    width: int | None = None,
    kernel_error: float | None = None,
    megabytes: float | None = None,
) -> Result:
    start = perf_counter()
    model.fit(rows.X_train, rows.y_train)
    middle = perf_counter()
    score = model.score(rows.X_test, rows.y_test)
    end = perf_counter()
    return Result(kernel, name, width, float(score), middle - start, end - middle, kernel_error, megabytes)
