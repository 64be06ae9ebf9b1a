"""``python -m mercer``: exact kernel SVM against each feature map, on scikit-learn's digits."""

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from mercer._typing import Array
from mercer.features import (
    Fastfood,
    FeatureMap,
    FourierFeatures,
    LinearFeatures,
    Nystroem,
    OrthogonalFeatures,
    RandomMaclaurin,
    SplitSketch,
    TensorSketch,
)
from mercer.kernels import Gaussian, Kernel, Polynomial
from mercer.versions import describe

WIDTHS = (128, 1024)
C = 1.0
GAUSSIAN = Gaussian(gamma=2.0)
POLYNOMIAL = Polynomial(3, coef0=1.0)


class Row(NamedTuple):
    """One line of the comparison."""

    name: str
    accuracy: float
    seconds: float
    kernel_error: float


def _digits() -> tuple[Array, Array, Array, Array]:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(normalize(X), y, test_size=0.3, random_state=0, stratify=y)
    return X_train, X_test, y_train, y_test


def _timed(model: Any, data: tuple[Array, Array, Array, Array]) -> tuple[float, float]:
    X_train, X_test, y_train, y_test = data
    start = perf_counter()
    accuracy = model.fit(X_train, y_train).score(X_test, y_test)
    return accuracy, perf_counter() - start


def _kernel_error(feature_map: FeatureMap, kernel: Kernel, X: Array) -> float:
    Z, K = feature_map.fit_transform(X), kernel(X)
    return float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))


def _maps(kernel: Kernel) -> list[tuple[str, FeatureMap]]:
    if isinstance(kernel, Polynomial):
        return [
            ("Tensor Sketch", TensorSketch(kernel)),
            ("Split Sketch", SplitSketch(kernel)),
            ("Random Maclaurin", RandomMaclaurin(kernel)),
            ("Random Maclaurin H0/1", RandomMaclaurin(kernel, h01=True)),
        ]
    return [
        ("Fourier features", FourierFeatures(kernel)),
        ("Orthogonal features", OrthogonalFeatures(kernel)),
        ("Fastfood", Fastfood(kernel)),
        ("Nystroem", Nystroem(kernel)),
        ("Tensor Sketch of the series", TensorSketch(kernel)),
    ]


def compare(show: Callable[[Row], None]) -> list[Row]:
    """Fit every model on digits, calling ``show`` with each row as it is known."""
    data = _digits()
    rows: list[Row] = []

    def add(name: str, model: Any, kernel_error: float) -> None:
        rows.append(Row(name, *_timed(model, data), kernel_error))
        show(rows[-1])

    add("linear SVM", LinearSVC(C=C), _kernel_error(LinearFeatures(), POLYNOMIAL, data[0]))
    for kernel in (POLYNOMIAL, GAUSSIAN):
        add(f"exact SVM, {kernel!r}", SVC(kernel=kernel, C=C), 0.0)
        for name, feature_map in _maps(kernel):
            for width in WIDTHS:
                feature_map.set_params(n_components=width, random_state=0)
                error = _kernel_error(feature_map, kernel, data[0])
                add(f"  {name}, D = {width}", make_pipeline(feature_map, LinearSVC(C=C)), error)
    return rows


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print the comparison as it is made."""
    facts = describe()
    _print(f"mercer {facts['mercer']}, {facts['core']} core ({facts['simd']}), {facts['threads']} threads")
    _print("scikit-learn's digits, unit-norm rows, 70 % to train, 30 % to test\n")
    _print(f"{'model':<44}{'accuracy':>9}{'seconds':>9}{'kernel error':>14}")
    compare(lambda row: _print(f"{row.name:<44}{row.accuracy:>9.4f}{row.seconds:>9.2f}{row.kernel_error:>14.4f}"))
    _print("\naccuracy: on the test rows; seconds: map, training and prediction; kernel error: |ZZ' - K|_F / |K|_F.")


if __name__ == "__main__":
    main()
