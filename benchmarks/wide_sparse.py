"""Maps of wide CSR rows, 100000 columns and 50 non-zeros: against scikit-learn, and against each other."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import AdditiveChi2Sampler, RBFSampler

from benchmarks.measure import Row, best_of_both
from mercer import AdditiveFeatures, Chi2, FourierFeatures, Gaussian, OrthogonalFeatures, feature_map
from mercer.features.base import FeatureMap

SHAPE, ENTRIES, WIDTH = (2_000, 100_000), 50, 256
KERNEL = Gaussian(gamma=0.02)


def _rows() -> sparse.csr_array:
    rng = np.random.default_rng(0)
    return sparse.random_array(SHAPE, density=ENTRIES / SHAPE[1], format="csr", rng=rng)


def _check(drawn: FeatureMap, X: sparse.csr_array) -> None:
    """Assert that the features estimate the kernel to twice the error that independent features have."""
    X = X[:200]
    Z = drawn.transform(X)
    exact = np.asarray(drawn.kernel_(X))
    size = np.sqrt(np.mean(np.diag(exact)) ** 2 / WIDTH)
    error = np.sqrt(np.mean((Z @ Z.T - exact)[np.triu_indices(200, 1)] ** 2))
    assert error < 2 * size, (error, size)


def rows() -> Iterator[Row]:
    """Yield the comparisons."""
    X = _rows()
    additive = AdditiveFeatures(Chi2(), n_components=WIDTH, random_state=0).fit(X)
    _check(additive, X)
    sampler = AdditiveChi2Sampler(sample_steps=2).fit(X)
    times = best_of_both(partial(additive.transform, X), partial(sampler.transform, X))
    yield Row(f"AdditiveFeatures {SHAPE}, {WIDTH} features", "AdditiveChi2Sampler, sparse", *times, 0.8)

    chosen = feature_map(KERNEL, WIDTH, random_state=0).fit(X)
    _check(chosen, X)
    peers = {
        "FourierFeatures": (FourierFeatures(KERNEL, n_components=WIDTH, random_state=0), 0.8),
        "OrthogonalFeatures": (OrthogonalFeatures(KERNEL, n_components=WIDTH, random_state=0), 8),
        "RBFSampler": (RBFSampler(gamma=KERNEL.gamma, n_components=WIDTH, random_state=0), 1),
    }
    for name, (peer, at_least) in peers.items():
        times = best_of_both(partial(chosen.transform, X), partial(peer.fit(X).transform, X))
        yield Row(f"feature_map(Gaussian()) {SHAPE}, {WIDTH} features", name, *times, at_least)
