"""Every public map and learner forgets its last fit, and nothing but another fit changes what it gives."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone

import mercer
from mercer.features.nystroem.candidates import Landmarks
from mercer.testing import assert_same, check_fitted, check_refits
from mercer.testing.estimators import public_classes, rows_for

PUBLIC = public_classes(BaseEstimator)
ESTIMATORS = sorted(PUBLIC)

# Parameters that make fits quick, and values that the kit cannot guess.
QUICK = {"n_components": 16, "map_components": 16, "rank": 4, "n_clusters": 3, "n_landmarks": 8, "leaf_rows": 16}
OWN = {"KitchenSinksClassifier": {"C": 1.0}}
OTHERS = {
    "TunedClassifier": {"time_budget": []},  # with one, the time decides
    "TunedRegressor": {"time_budget": []},
    "LocalKernelRidge": {"alpha": [0.5, 2.0]},
    "LocalKernelRidgeClassifier": {"alpha": [0.5, 2.0]},
    "ScaleColumns": {"weights": [np.linspace(-1.0, 1.0, 10), [0.0, 2.0] * 5]},
    "SelectColumns": {"columns": [[0, 2], np.array([9, 1, 5])]},
}


def _exceeds(known, value):
    return isinstance(known, int) and known > value


def made(name, **params):
    estimator = PUBLIC[name]()
    known = estimator.get_params(deep=False)
    quick = {key: value for key, value in QUICK.items() if known.get(key) == "auto" or _exceeds(known.get(key), value)}
    return estimator.set_params(**{**quick, **OWN.get(name, {}), **params})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_refit_is_a_first_fit(name):
    check_refits(made(name), others=OTHERS.get(name))


@pytest.mark.parametrize(
    "estimator",
    [
        mercer.feature_map(2.0 * mercer.Gaussian() + mercer.Linear() * mercer.Matern(1.5), 24),
        mercer.features.Concatenate(
            [mercer.OrthogonalFeatures(), mercer.TensorSketch(mercer.Gaussian())], n_components=24
        ),
        mercer.features.Normalize(mercer.RandomMaclaurin(n_components=16)),
        made("RandomBinning", n_components=None, sparse_output=True),
        made("Nystroem", rank=3, landmarks="rpcholesky"),
        made("KernelPCA", n_components=2, fit_inverse_transform=True),
        made(
            "KernelRidge", features=mercer.features.ShiftInvariantFeatures(n_components=16, random_state=0), alpha="loo"
        ),
    ],
    ids=repr,
)
def test_a_refit_is_a_first_fit_in_other_modes_and_for_members(estimator):
    check_refits(estimator)


ARRAYS = [
    made("Nystroem", landmarks=rows_for(None)[:6]),
    made("Nystroem", landmarks=sparse.csr_array(rows_for(None)[:6])),
    made("Nystroem", landmarks=np.array([0, 5, 3])),
    made("MEKA", landmarks=rows_for(None)[:6]),
    made("KernelKMeans", init=rows_for(None)[:3]),
    made("KernelRidge", alpha="gcv", alphas=np.array([0.1, 1.0])),
    made("KernelSVC", class_weight={"low": 2.0, "top": 3.0}),
    made("KernelRidge", features=mercer.Nystroem(landmarks=rows_for(None)[:6])),
    made("ScaleColumns", weights=np.linspace(-1.0, 1.0, 10)),
    made("SelectColumns", columns=[0, 3, 5]),
    made("Concatenate", maps=[mercer.LinearFeatures(), mercer.Nystroem(landmarks=rows_for(None)[:6])]),
    made("KitchenSinks", phi=np.tanh),
    made("RandomBinning", n_components=None, sparse_output=True),
    made("MEKA", psd=None),
    made("OrthogonalFeatures", random_state=np.random.RandomState(0)),
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_only_a_fit_changes_a_fitted_estimator(name):
    check_fitted(made(name))


@pytest.mark.parametrize("estimator", ARRAYS, ids=[f"{type(one).__name__}-{i}" for i, one in enumerate(ARRAYS)])
def test_arrays_among_the_parameters_may_change_after_fit(estimator):
    check_fitted(estimator)


def test_arrays_that_functions_of_the_user_keep_may_change_after_fit(rng):
    X, kept = rng.random_sample((30, 4)), rng.random_sample((4, 4))
    chosen = mercer.Nystroem(n_components=4, landmarks=lambda kernel, X, n_landmarks, random_state: Landmarks(kept))
    drawn = mercer.KitchenSinks("relu", lambda rng, n_components, n_features: kept, n_components=4)
    before = [fitted.fit(X).transform(X) for fitted in (chosen, drawn)]
    kept[:] = 0
    np.testing.assert_array_equal(chosen.transform(X), before[0])
    np.testing.assert_array_equal(drawn.transform(X), before[1])


@pytest.mark.parametrize("name", ["FourierFeatures", "KernelRidge", "FOGDRegressor"])
def test_names_of_columns_are_forgotten(name, rng):
    pandas = pytest.importorskip("pandas")
    X, y = rng.random_sample((40, 3)), rng.random_sample(40)
    named = made(name, random_state=0).fit(pandas.DataFrame(X, columns=list("abc")), y)
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    assert not hasattr(named.fit(X, y), "feature_names_in_")


def test_a_precomputed_kernel_objects_and_rows_follow_each_other(rng):
    X = rng.random_sample((20, 3))
    words = ["tree", "graph", "cat", "house"] * 5
    nystroem = mercer.Nystroem(n_components=4, random_state=0)
    fits = [
        ("precomputed", mercer.Gaussian(gamma=1.0)(X)),
        (lambda A, B: np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float), words),
        (mercer.Gaussian(gamma=1.0), X),
    ]
    for first in fits:
        for second in fits:
            again = clone(nystroem).set_params(kernel=first[0]).fit(first[1])
            again.set_params(kernel=second[0]).fit(second[1])
            fresh = clone(nystroem).set_params(kernel=second[0]).fit(second[1])
            assert_same(vars(again), vars(fresh), "attributes")
            assert_same(again.transform(second[1]), fresh.transform(second[1]), "features")
