"""partial_fit of ridge regression: the model of one fit on all rows, however they are cut."""

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import Gaussian, KernelRidge, Laplacian, LinearFeatures, RandomBinning
from mercer.data import as_blocks


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((600, 3))
    y = np.column_stack([np.sin(X[:, 0]) + 50, X[:, 1] ** 2])
    return X, y + 0.1 * rng.standard_normal(y.shape), rng.rand(600)


def _grown(model, X, y, weight=None, cuts=(150, 151, 400)):
    for part in np.split(np.arange(len(X)), cuts):
        model.partial_fit(X[part], y[part], None if weight is None else weight[part])
    return model


@pytest.mark.parametrize("alpha", ["loo", "gcv", 0.3])
@pytest.mark.parametrize("n_components", [40, 300])
def test_it_is_the_fit_of_all_rows_on_the_same_map(rows, alpha, n_components):
    X, y, weight = rows
    model = _grown(KernelRidge(Gaussian(), n_components=n_components, alpha=alpha, random_state=0), X, y, weight)
    rule = "gcv" if isinstance(alpha, str) else alpha
    whole = KernelRidge(features=_Fitted(model.feature_map_), alpha=rule).fit(X, y, weight)
    assert model.alpha_ == whole.alpha_
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-6 * np.abs(whole.coef_).max())
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-6)
    if isinstance(alpha, str):
        assert model.solution_.details["criterion"] == "generalised cross-validation"


class _Fitted(LinearFeatures):
    """A map that is fitted already."""

    domain = "rows"
    rows_to_fit = 0

    def __init__(self, inner=None):
        self.inner = inner

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y=None):
        return self.inner


def test_the_cuts_change_rounding_alone(rows):
    X, y, _ = rows
    estimator = KernelRidge(Gaussian(gamma=0.5), random_state=0)
    one = _grown(clone(estimator), X, y[:, 0])
    other = _grown(clone(estimator), X, y[:, 0], cuts=(100, 300, 590))
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-8)


def test_streams_and_float32(rows):
    X, y, _ = rows
    estimator = KernelRidge(Gaussian(), random_state=0)
    one = _grown(clone(estimator), X.astype(np.float32), y)
    other = clone(estimator)
    for part in np.split(np.arange(600), (150, 151, 400)):
        other.partial_fit(as_blocks(X[part].astype(np.float32), y[part]))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_a_model_from_a_file_goes_on(rows, tmp_path):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).partial_fit(X[:300], y[:300])
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(loaded.partial_fit(X[300:], y[300:]).coef_, model.partial_fit(X[300:], y[300:]).coef_)


def test_posterior_and_far_rows_know_all_rows(rows):
    X, y, _ = rows
    X = X.copy()
    X[400:, 2] += 40.0  # far from the rows of the first call
    model = _grown(KernelRidge(Gaussian(gamma=0.5), n_components=100, posterior=True, random_state=0), X, y[:, 0])
    model.predict(X, return_std=True)  # warns of no row: warnings are errors here
    np.testing.assert_allclose(model._prior, y[:, 0].mean())
    assert model._leverage is not None


def test_a_refused_call_leaves_the_model(rows):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).partial_fit(X[:300], y[:300])
    coef, bad = model.coef_.copy(), X[300:].copy()
    bad[5] = np.inf
    with pytest.raises(ValueError, match="row 5"):
        model.partial_fit(bad, y[300:])
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.partial_fit(as_blocks(X[:, :2], y))
    np.testing.assert_array_equal(model.coef_, coef)
    model.partial_fit(X[300:], y[300:])
    assert not np.array_equal(model.coef_, coef)


def test_a_model_of_fit_has_no_sums(rows):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="partial_fit begins a new model"):
        model.partial_fit(X[:200], y[:200])
    alone = KernelRidge(Gaussian(), random_state=0).partial_fit(X[:200], y[:200])
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    model.fit(X, y)
    grown = KernelRidge(Gaussian(), random_state=0).partial_fit(X, y)
    grown.fit(X, y)
    assert grown._running is None
    np.testing.assert_array_equal(grown.coef_, model.coef_)


def test_another_number_of_targets_is_refused(rows):
    X, y, _ = rows
    model = KernelRidge(Gaussian(), random_state=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="y has 1 column"):
        model.partial_fit(X, y[:, 0])


def test_sparse_features_are_refused(rows):
    X, y, _ = rows
    binning = RandomBinning(Laplacian(), n_components=16, n_grids=4, sparse_output=True, random_state=0)
    with pytest.raises(ValueError, match="partial_fit keeps a matrix of 16 x 16, which sparse features"):
        KernelRidge(features=binning, alpha=1.0).partial_fit(X, y)
