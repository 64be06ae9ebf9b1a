"""Tensor Sketch and Random Maclaurin, float32, against scikit-learn's sketch and NumPy's bare matrix products."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import PolynomialCountSketch

from benchmarks.measure import Row, best_of_both
from mercer import Polynomial, RandomMaclaurin, TensorSketch

# (rows, columns), features, and the ratio to hold on dense and on CSR rows of density 0.1 (None: not held there)
SHAPES = [
    ((10_000, 123), 1024, 20, 25),
    ((10_000, 780), 1024, 25, 30),
    ((10_000, 780), 4096, 20, None),
    ((2_000, 5_000), 4096, 40, 100),
]


def _rows(shape: tuple[int, int], density: float) -> np.ndarray | sparse.csr_array:
    rng = np.random.RandomState(0)
    X = rng.standard_normal(shape).astype(np.float32)
    if density < 1:
        X *= rng.random_sample(shape) < density
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X if density == 1 else sparse.csr_array(X)


def _check(feature_map: TensorSketch | RandomMaclaurin, X: np.ndarray | sparse.csr_array) -> None:
    """Assert that the features estimate the kernel with the variance they claim: 1000 pairs of the first 200 rows."""
    X = X[:200]
    Z = feature_map.transform(X).astype(np.float64)
    pairs = np.triu_indices(200, 1)
    error = (Z @ Z.T - feature_map.kernel_(X.astype(np.float64)))[pairs]
    claimed = feature_map.variance(X)[pairs].mean()
    assert 0.5 * claimed < np.mean(error**2) < 2 * claimed, (np.mean(error**2), claimed)


def tensor_sketch() -> Iterator[Row]:
    for shape, n_components, dense, csr in SHAPES:
        for density, at_least in ((1.0, dense), (0.1, csr)):
            for degree in (2, 3, 4) if at_least else ():
                X = _rows(shape, density)
                ours = TensorSketch(Polynomial(degree), n_components=n_components, random_state=0).fit(X)
                peer = PolynomialCountSketch(degree=degree, n_components=n_components, random_state=0).fit(X)
                _check(ours, X)
                seconds = best_of_both(partial(ours.transform, X), partial(peer.transform, X))
                kind = "dense" if density == 1 else "CSR"
                work = f"TensorSketch p={degree} {shape[0]}x{shape[1]} {kind} D={n_components}"
                yield Row(work, "sklearn PolynomialCountSketch", *seconds, at_least)


def lengths() -> Iterator[Row]:
    """D = 1000 may take 1.5 times as long as D = 1024."""
    for degree in (2, 3, 4):
        X = _rows((10_000, 123), 1.0)
        odd, even = (TensorSketch(Polynomial(degree), n_components=n, random_state=0).fit(X) for n in (1000, 1024))
        _check(odd, X)
        seconds = best_of_both(partial(odd.transform, X), partial(even.transform, X))
        yield Row(f"TensorSketch p={degree} 10000x123 D=1000", "itself at D=1024", *seconds, 1 / 1.5)


def maclaurin() -> Iterator[Row]:
    X = _rows((10_000, 780), 1.0)
    ours = RandomMaclaurin(Polynomial(4), n_components=1024, random_state=0).fit(X)
    _check(ours, X)
    factors = np.split(ours.signs_.astype(np.float32), 4, axis=1)
    factors = [np.ascontiguousarray(factor) for factor in factors]
    seconds = best_of_both(partial(ours.transform, X), lambda: [X @ factor for factor in factors])
    yield Row("RandomMaclaurin p=4 10000x780 D=1024", "NumPy's four products alone", *seconds, 1.0)


def rows() -> Iterator[Row]:
    yield from tensor_sketch()
    yield from lengths()
    yield from maclaurin()
