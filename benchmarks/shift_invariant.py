"""Fourier, structured orthogonal, Fastfood and binning features, float32, against scikit-learn and plain NumPy."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import RBFSampler

from benchmarks.measure import Row, best_of_both
from mercer import Fastfood, FourierFeatures, Gaussian, Laplacian, OrthogonalFeatures, RandomBinning
from mercer.features import FeatureMap

# (rows, columns), features, and the ratios to hold: Fourier, structured, Fourier on CSR rows of density 0.1
SHAPES = [
    ((10_000, 123), 1024, 4, 6, 4),
    ((10_000, 780), 1024, 1.8, 12, 4),
    ((2_000, 5_000), 4096, 1.7, 35, 4),
]
GAMMA = 0.5
N_GRIDS = 1024


def _rows(shape: tuple[int, int], density: float = 1.0) -> np.ndarray:
    rng = np.random.RandomState(0)
    X = rng.standard_normal(shape).astype(np.float32)
    if density < 1:
        X *= rng.random_sample(shape) < density
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def _check(feature_map: FeatureMap, X: np.ndarray | sparse.csr_array) -> None:
    """Assert that the error on the first 200 rows is that of independent frequencies, or less."""
    X = X[:200]
    Z = feature_map.transform(X).astype(np.float64)
    K = feature_map.kernel_(X.astype(np.float64))
    pairs = np.triu_indices(200, 1)
    claimed = np.mean((1 - K[pairs] ** 2) ** 2) / Z.shape[1]
    error = np.mean((Z @ Z.T - K)[pairs] ** 2)
    # Fastfood's rows are dependent: its variance is up to a few times that of independent ones.
    assert error < (4 if isinstance(feature_map, Fastfood) else 2) * claimed, (error, claimed)


def gaussian() -> Iterator[Row]:
    kernel = Gaussian(gamma=GAMMA)
    for shape, n_components, fourier, structured, csr in SHAPES:
        X = _rows(shape)
        peer = RBFSampler(gamma=GAMMA, n_components=n_components, random_state=0).fit(X)
        held = [(FourierFeatures, fourier), (OrthogonalFeatures, structured), (Fastfood, structured)]
        for kind, at_least in held:
            ours = kind(kernel, n_components=n_components, random_state=0).fit(X)
            _check(ours, X)
            seconds = best_of_both(partial(ours.transform, X), partial(peer.transform, X))
            work = f"{kind.__name__} {shape[0]}x{shape[1]} dense D={n_components}"
            yield Row(work, "sklearn RBFSampler", *seconds, at_least)
        S = sparse.csr_array(_rows(shape, 0.1))
        ours = FourierFeatures(kernel, n_components=n_components, random_state=0).fit(S)
        _check(ours, S)
        seconds = best_of_both(partial(ours.transform, S), partial(peer.transform, S))
        work = f"FourierFeatures {shape[0]}x{shape[1]} CSR D={n_components}"
        yield Row(work, "sklearn RBFSampler", *seconds, csr)


def _plain_binning(binning: RandomBinning, X: np.ndarray) -> Callable[[], np.ndarray]:
    """Return dense random binning as one writes it in NumPy: cells of a grid, a linear hash, the sign of the hash."""
    inverse, shifts = (1 / binning.pitches_).astype(np.float32), binning.shifts_.astype(np.float32)
    multipliers = binning.multipliers_.astype(np.int64)

    def work() -> np.ndarray:
        Z = np.empty((len(X), N_GRIDS), dtype=np.float32)
        for g in range(N_GRIDS):
            cells = np.floor(X * inverse[g] + shifts[g]).astype(np.int64)
            Z[:, g] = np.where((cells @ multipliers[g]) >> 31 & 1, -1, 1)
        Z *= np.float32(N_GRIDS**-0.5)
        return Z

    return work


def binning() -> Iterator[Row]:
    for n_features in (16, 123):
        X = np.random.RandomState(0).random_sample((10_000, n_features)).astype(np.float32)
        ours = RandomBinning(Laplacian(gamma=4 / n_features), n_components=N_GRIDS, random_state=0).fit(X)
        plain = _plain_binning(ours, X)
        pairs = np.triu_indices(200, 1)
        K = ours.kernel_(X[:200].astype(np.float64))[pairs]
        for Z in (ours.transform(X[:200]), plain()[:200]):
            assert np.mean(((Z @ Z.T)[pairs] - K) ** 2) < 2 * np.mean(1 - K**2) / N_GRIDS
        seconds = best_of_both(partial(ours.transform, X), plain, repeats=3)
        yield Row(f"RandomBinning 10000x{n_features}, {N_GRIDS} grids", "plain NumPy", *seconds, 20)


def rows() -> Iterator[Row]:
    yield from gaussian()
    yield from binning()
