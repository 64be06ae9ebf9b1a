"""What the papers' experiments share: maps by the papers' names, linear SVMs on features, times and right answers."""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any, TypeVar
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from mercer._typing import Array, Rows
from mercer.features import FeatureMap, LinearFeatures, RandomMaclaurin, TensorSketch
from mercer.kernels import DotProductKernel, Kernel, Polynomial
from mercer.learners import KernelSVC

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result and the seconds it took."""
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def processor_timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result and the CPU seconds of all threads, which other programs do not increase."""
    start = process_time()
    result = work()
    return result, process_time() - start


def polynomial(text: str) -> Polynomial:
    """Return the kernel that a table calls ``<x,y>^4`` or ``(1+<x,y>)^4``."""
    return Polynomial(int(text.rpartition("^")[2]), coef0=1.0 if text.startswith("(1+") else 0.0)


class PrintedMaclaurin:
    """Random Maclaurin as printed in Algorithm 3 of Kar and Karnick, with its zero features.

    A degree N is drawn with probability 2^-(N+1) for every kernel, so a feature whose a_N is 0 is 0: for the
    homogeneous <x, y>^p, one feature in 2^(p+1) is not zero. ``RandomMaclaurin`` draws only degrees with a_N > 0. So a
    binomial number of its features has the same distribution as these features without the zeros.
    """

    def __init__(self, kernel: DotProductKernel, n_components: int, random_state: int):
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def fit_transform(self, X: Rows) -> Array:
        """Draw the map and return the features that are not zero."""
        last = 40 if self.kernel.last_degree is None else self.kernel.last_degree
        occurs = float((0.5 ** (np.flatnonzero(self.kernel.maclaurin(last)) + 1.0)).sum())
        drawn = int(np.random.RandomState([self.random_state, 7]).binomial(self.n_components, occurs))
        self.map_ = RandomMaclaurin(self.kernel, n_components=max(drawn, 1), random_state=self.random_state).fit(X)
        self.scale_ = (drawn / (self.n_components * occurs)) ** 0.5
        return self.transform(X)

    def transform(self, X: Rows) -> Array:
        """Return the features that are not zero."""
        Z = self.map_.transform(X)
        Z *= Z.dtype.type(self.scale_)
        return Z


def map_named(name: str, kernel: Kernel, n_components: int, seed: int, n_features: int = 0) -> Any:
    """Return a map by the name the papers' tables give it.

    ``H0/1`` counts its exact features within ``n_components``; ``H0/1, D random`` counts random
    features alone, as Kar and Karnick do.
    """
    if name == "Random Maclaurin as printed":
        return PrintedMaclaurin(kernel, n_components, seed)  # type: ignore[arg-type]
    maps: dict[str, Callable[[], FeatureMap]] = {
        "Tensor Sketch": lambda: TensorSketch(kernel, n_components=n_components, random_state=seed),
        "Random Maclaurin": lambda: RandomMaclaurin(kernel, n_components=n_components, random_state=seed),
        "H0/1": lambda: RandomMaclaurin(kernel, n_components=n_components, random_state=seed, h01=True),
        "H0/1, D random": lambda: RandomMaclaurin(
            kernel, n_components=n_components + n_features + 1, random_state=seed, h01=True
        ),
    }
    return maps[name]()


def linear_svm(Z: Array, y: Array, C: float = 1.0, max_iter: int = 1000) -> KernelSVC:
    """Fit the papers' linear SVM to features: LIBLINEAR's default loss, the squared hinge, to a gap of 0.1 %."""
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # the papers' runs stopped at max_iter too
        as_they_are = LinearFeatures(n_components=Z.shape[1])
        return KernelSVC(features=as_they_are, C=C, tol=1e-3, max_iter=max_iter, random_state=0).fit(Z, y)


def right(model: BaseEstimator, Z: Array, y: Array) -> int:
    """Return how many predictions are right."""
    return int((model.predict(Z) == y).sum())


def relative_errors(Z: Array, K: Array) -> dict[str, float]:
    """Return the errors of an estimated Gram matrix over pairs of different rows, and of its diagonal."""
    Z = Z.astype(np.float64)
    estimate = Z @ Z.T
    pairs = np.triu_indices(len(K), 1)
    exact, error = K[pairs], np.abs(estimate - K)[pairs]
    known = exact > 0
    relative = error[known] / exact[known]
    return {
        "relative_error": float(relative.mean()),
        "median_error": float(np.median(relative)),
        "largest_error": float(relative.max()),
        "absolute_error": float(error.mean()),
        "frobenius_error": float(np.linalg.norm(estimate - K) / np.linalg.norm(K)),
        "norm_error": float(np.abs(np.diag(estimate) / np.diag(K) - 1).mean()),
    }
