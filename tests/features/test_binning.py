"""Random binning: dense and sparse, hashed and with columns fixed in fit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import Columns, ExponentialPower, Gaussian, Laplacian, Matern, Polynomial, RandomBinning, ScaledColumns
from mercer.features import Concatenate, Normalize, Rescale
from mercer.testing import assert_mean_close, check_feature_map, sample_rows

X = 2 * sample_rows(5)


@parametrize_with_checks([RandomBinning(), RandomBinning(sparse_output=True, n_components=None)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("gamma", [0.4, 2.0])
def test_the_laws(gamma):
    check_feature_map(RandomBinning(Laplacian(gamma=gamma), n_components=12), X, sklearn_checks=False)


@pytest.mark.parametrize(
    "kernel",
    [
        Laplacian(gamma=0.5),
        ScaledColumns(Laplacian(gamma=0.5), [1.0, 2.0, 0.0, 1.0, 0.5]),
        Columns(ExponentialPower(0.6, length_scale=1.0), [1]) * Columns(Matern(0.3, length_scale=2.0), [3]),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "settings",
    [
        {"n_components": 13, "n_grids": 5},
        {"n_components": 64, "n_grids": 8, "sparse_output": True},
        {"n_components": None, "n_grids": 8, "sparse_output": True},
    ],
    ids=repr,
)
def test_mean_and_variance_of_every_output(kernel, settings):
    estimates = []
    for seed in range(600):
        fitted = RandomBinning(kernel, random_state=seed, **settings).fit(X)
        Z = fitted.transform(X)
        estimates.append(np.asarray((Z @ Z.T).todense() if sparse.issparse(Z) else Z @ Z.T))
    upper = np.triu_indices(5, 1)
    K = kernel(X)
    assert_mean_close(np.array(estimates)[:, *upper], K[upper])
    assert_mean_close((np.array(estimates) - K)[:, *upper] ** 2, fitted.variance(X)[upper])


@pytest.mark.parametrize("n_components", [None, 4000])
def test_sparse_rows_have_one_entry_a_grid_in_order(n_components):
    binning = RandomBinning(
        Laplacian(gamma=1.0), n_components=n_components, n_grids=30, sparse_output=True, random_state=0
    )
    Z = binning.fit_transform(X)
    assert sparse.issparse(Z)
    assert Z.dtype == np.float64
    assert np.all(np.diff(Z.indptr) == 30)
    assert np.all(np.diff(Z.indices.reshape(5, 30)) > 0)
    assert Z.shape[1] == binning.get_feature_names_out().shape[0]
    np.testing.assert_allclose(Z.multiply(Z).sum(axis=1), 1)
    assert binning.transform(X.astype(np.float32)).dtype == np.float32


def test_cells_that_fit_did_not_see_have_no_feature():
    binning = RandomBinning(Laplacian(gamma=1.0), n_components=None, n_grids=30, sparse_output=True, random_state=0)
    binning.fit(X)
    assert binning.transform(X + 1000.0).nnz == 0
    again = binning.transform(X[::-1])
    np.testing.assert_array_equal(again.toarray(), binning.transform(X).toarray()[::-1])


def test_sparse_features_feed_a_linear_model():
    rng = np.random.RandomState(0)
    rows = rng.random_sample((300, 2))
    y = (np.floor(4 * rows).sum(axis=1) % 2).astype(int)
    binning = RandomBinning(Laplacian(gamma=4.0), n_components=None, n_grids=200, sparse_output=True, random_state=0)
    model = make_pipeline(binning, RidgeClassifier()).fit(rows[:200], y[:200])
    assert model.score(rows[200:], y[200:]) > 0.8


def test_csr_rows_and_blocks_give_the_same_cells():
    binning = RandomBinning(Laplacian(gamma=1.0), n_components=100, random_state=0).fit(X)
    np.testing.assert_array_equal(binning.transform(sparse.csr_array(X)), binning.transform(X))


@pytest.mark.parametrize(
    ("binning", "message"),
    [
        (
            RandomBinning(Gaussian(gamma=1.0)),
            r"Gaussian\(gamma=1.0\) has no distribution of grid pitches: .* t k''\(t\), which is negative",
        ),
        (RandomBinning(Matern(1.5)), r"has no distribution of grid pitches: it is not a product over columns"),
        (RandomBinning(Matern(0.5)), r"is a function of the Euclidean distance, no product over the 5 columns"),
        (RandomBinning(Polynomial(2)), r"RandomBinning: kernel must be shift-invariant"),
        (RandomBinning(n_components=10, n_grids=11), r"n_grids must be at most n_components, got 11 and 10"),
        (
            RandomBinning(n_components=None),
            r"n_components must be an integer >= 1, got None. None \(one column per cell",
        ),
        (RandomBinning(n_grids=-1), r"n_grids must be an integer >= 1, got -1"),
    ],
    ids=repr,
)
def test_bad_arguments_are_named(binning, message):
    with pytest.raises(ValueError, match=message):
        binning.fit(X)


@pytest.mark.parametrize("settings", [{}, {"n_components": None, "n_grids": 5, "sparse_output": True}])
def test_a_cell_number_beyond_32_bits_is_refused(settings):
    binning = RandomBinning(Laplacian(gamma=1.0), random_state=0, **settings).fit(X)
    far = X.copy()
    far[2, 3] = 1e12
    with pytest.raises(ValueError, match=r"row 2, column 3 of X is more than 2\^31 grid cells away from 0"):
        binning.transform(far)


@pytest.mark.parametrize("compose", [lambda member: Concatenate([member]), Rescale, Normalize])
def test_cells_of_their_own_are_no_member_of_a_composition(compose):
    """A composition takes dense features, in which the cells would share columns that no claim counts."""
    member = RandomBinning(n_components=None, n_grids=5, sparse_output=True)
    with pytest.raises(ValueError, match=r"n_components must be an integer if the map is a member .* got None"):
        compose(member).fit(sample_rows())
