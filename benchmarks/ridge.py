"""The ridge path of 30 alphas against the float32 Gram products alone, and prediction against the bare map.

n = 100000, D = 2048, float32: GCV within 1.6 times the products, exact leave-one-out within 3.5 times.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn.linear_model import RidgeCV

from benchmarks.measure import Row, best_of_both
from mercer import FourierFeatures, Gaussian, KernelRidge
from mercer.parallel import for_each_block

N_ROWS, N_FEATURES, N_COMPONENTS, N_CHECKED = 100_000, 20, 2048, 2000
ALPHAS = np.logspace(-6, 3, 30)


def data(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n_rows, N_FEATURES)).astype(np.float32)
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n_rows)


def model(rule: str, n_components: int) -> KernelRidge:
    features = FourierFeatures(Gaussian(gamma=0.5 / N_FEATURES), n_components=n_components, random_state=0)
    return KernelRidge(features=features, alpha=rule, alphas=ALPHAS)


def products(Z: np.ndarray) -> Callable[[], np.ndarray]:
    """Return the Gram products alone, of blocks of 4096 rows on mercer's threads; nothing is summed."""
    blocks = [Z[start : start + 4096] for start in range(0, len(Z), 4096)]

    def work() -> np.ndarray:
        for_each_block(lambda block: block.T @ block, blocks)
        return blocks[0]

    return work


def check() -> None:
    """Check that the leave-one-out errors are scikit-learn's, and that GCV chooses nearly as well."""
    X, y = data(N_CHECKED)
    X = X.astype(np.float64)
    ours = {rule: model(rule, 64).fit(X, y) for rule in ("loo", "gcv")}
    Z = ours["loo"].feature_map_.transform(X)
    peer = RidgeCV(alphas=ALPHAS).fit(Z, y)
    assert np.isclose(ours["loo"].alpha_, peer.alpha_)
    np.testing.assert_allclose(ours["loo"].predict(X), peer.predict(Z), atol=1e-6)
    chosen = np.flatnonzero(ours["loo"].alphas_ == ours["gcv"].alpha_)[0]
    assert ours["loo"].scores_[chosen] <= 1.01 * ours["loo"].scores_.min()


def rows() -> Iterator[Row]:
    check()
    X, y = data(N_ROWS)
    Z = model("gcv", N_COMPONENTS).features.fit_transform(X)
    for rule, at_most in (("gcv", 1.6), ("loo", 3.5)):
        seconds = best_of_both(partial(model(rule, N_COMPONENTS).fit, X, y), products(Z), repeats=2)
        work = f"KernelRidge, 30 alphas by {rule}, {N_ROWS}x{N_COMPONENTS}"
        yield Row(work, "float32 Gram products", *seconds, 1 / at_most)
    fitted = model("gcv", 1024).fit(X[:20_000], y[:20_000])
    seconds = best_of_both(partial(fitted.predict, X), partial(fitted.feature_map_.transform, X), repeats=3)
    yield Row(f"KernelRidge.predict {N_ROWS}x1024", "the bare map", *seconds, 0.9)
