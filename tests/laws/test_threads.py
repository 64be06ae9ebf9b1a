"""The number of threads changes no bit: of the features of a map, of a model, of what it says of rows."""

import numpy as np
import pytest
from public import LEARNERS, MAPS, make, results, target
from threadpoolctl import threadpool_limits

from mercer import FourierFeatures, Gaussian, KernelRidge, Nystroem, OrthogonalFeatures, Polynomial, config_context

# Rows of which blocks of other heights have other last rows: products treat these apart.
N_ROWS = 1037


def _rows(n_columns, dtype):
    """Return positive rows whose sums round: sums in another order have other bits."""
    rng = np.random.RandomState(0)
    return rng.gamma(2, 0.05, (N_ROWS, n_columns)).astype(dtype)


def _same(make_results):
    """Compare the results of one, two and three threads of the pool, and of one and two of BLAS."""
    found = []
    for threads, of_blas in ((1, 1), (2, 1), (3, 2)):
        with config_context(threads=threads), threadpool_limits(of_blas, user_api="blas"):
            found.append(make_results())
    for other in found[1:]:
        for name, values in found[0].items():
            np.testing.assert_array_equal(other[name], values, err_msg=f"{name} depends on the number of threads")


WIDE = {
    "FourierFeatures": FourierFeatures(Gaussian(gamma=0.01), n_components=1500, random_state=0),
    "OrthogonalFeatures": OrthogonalFeatures(Gaussian(gamma=0.01), n_components=1500, random_state=0),
    "Nystroem, Gaussian": Nystroem(Gaussian(gamma=0.01), n_components=100, random_state=0),
    "Nystroem, polynomial": Nystroem(Polynomial(2), n_components=100, random_state=0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", WIDE)
def test_features_beyond_the_cache(name, dtype):
    X = _rows(200, dtype)
    feature_map = WIDE[name].fit(X)
    _same(lambda: {"transform": feature_map.transform(X)})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["FourierFeatures", "OrthogonalFeatures", "Nystroem, polynomial"])
def test_ridge_on_features_beyond_the_cache(name, dtype):
    X = _rows(200, dtype)
    y = np.sin(X.sum(axis=1))

    def fitted():
        model = KernelRidge(features=WIDE[name], alpha=0.1).fit(X, y)
        return {"coef_": model.coef_, "predict": model.predict(X)}

    _same(fitted)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*MAPS, *LEARNERS])
def test_every_map_and_learner(name, dtype):
    X = _rows(9, dtype)

    def said():
        estimator = make(name)
        return results(estimator.fit(X, target(estimator, X)), X)

    _same(said)
