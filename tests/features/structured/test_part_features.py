"""Features of part kernels: exact with a column for each key, unbiased with a known variance where hashed."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from mercer import Normalized, config_context, feature_map
from mercer.features import PartFeatures
from mercer.features.structured.draws import draw_coefficients, draw_seed
from mercer.kernels import GappedKmers, ShortestPath, Spectrum, SubsetTree, Subtree, WeightedDegree, WeisfeilerLehman
from mercer.storage import dumps, loads
from mercer.structures import Graphs, Strings, Trees
from mercer.testing import assert_mean_close

RNG = np.random.RandomState(0)
TEXTS = ["".join(RNG.choice(list("acgt"), size=n)) for n in (30, 12, 0, 1, 25, 30)]
GRAPHS = [
    (list({tuple(sorted(e)) for e in RNG.randint(n, size=(2 * n, 2)).tolist() if e[0] != e[1]}), RNG.randint(2, size=n))
    for n in (6, 4, 9, 1)
]
TREES = ["(s (a b) (a c))", "(s (a b) (a b))", "a", "(s (s (a b)) c)"]
KERNELS = {
    "spectrum": (Spectrum(3, least=2), Strings(TEXTS)),
    "intersection": (Spectrum(2, counts="intersection"), Strings(TEXTS)),
    "normalized sum": (Normalized(Spectrum(2)) + 0.5 * Spectrum(1), Strings(TEXTS)),
    "gapped": (GappedKmers(4, 2), Strings(TEXTS)),
    "placed": (WeightedDegree(3), Strings([text for text in TEXTS if len(text) == 30])),
    "WL": (WeisfeilerLehman(3), Graphs(GRAPHS)),
    "paths": (ShortestPath(), Graphs(GRAPHS)),
    "subtrees": (Subtree(0.5), Trees(TREES)),
    "fragments": (SubsetTree(0.4), Trees(TREES)),
}


@pytest.fixture(params=KERNELS.values(), ids=KERNELS.keys())
def case(request):
    return request.param


def dense(Z):
    return Z.toarray() if sparse.issparse(Z) else Z


def test_a_column_for_each_key_is_exact(case):
    kernel, X = case
    fitted = PartFeatures(kernel, n_components=None, n_masks=None, random_state=0).fit(X)
    Z = fitted.transform(X.astype(np.float64))
    np.testing.assert_allclose((Z @ Z.T).toarray(), kernel(X), rtol=1e-12, atol=1e-12)
    assert not fitted.is_random
    np.testing.assert_allclose(fitted.variance(X), 0, atol=1e-20)


def test_counts_are_exact_to_the_bit():
    kernel, X = KERNELS["WL"]
    Z = PartFeatures(kernel, n_components=None).fit_transform(X)
    np.testing.assert_array_equal((Z @ Z.T).toarray(), kernel(X))


@pytest.mark.parametrize("name", ["spectrum", "normalized sum", "WL"])
def test_the_mean_is_the_kernel_and_the_variance_as_stated(name):
    """250 draws at two widths; false alarm 1e-6 each."""
    kernel, X = KERNELS[name]
    X = X.astype(np.float64)
    K = kernel(X)
    for width in (8, 32):
        estimates = []
        for seed in range(250):
            Z = PartFeatures(kernel, n_components=width, random_state=seed).fit_transform(X)
            estimates.append(Z @ Z.T)
        claimed = PartFeatures(kernel, n_components=width, random_state=0).fit(X).variance(X)
        atol = 1e-10 * K.max()
        assert_mean_close(np.array(estimates), K, false_alarm=1e-6, atol=atol)
        assert_mean_close((np.array(estimates) - K) ** 2, claimed, false_alarm=1e-6, atol=atol)


def test_drawn_masks_are_unbiased_too():
    """250 draws of 2 of 6 masks; false alarm 1e-6."""
    kernel, X = Normalized(GappedKmers(4, 2)), Strings(TEXTS).astype(np.float64)
    maps = [PartFeatures(kernel, n_components=64, n_masks=2, random_state=seed).fit(X) for seed in range(250)]
    estimates = np.array([Z @ Z.T for Z in (one.transform(X) for one in maps)])
    assert_mean_close(estimates, kernel(X), false_alarm=1e-6, atol=1e-10)
    assert maps[0].exact_variance(X, X) is None
    assert maps[0].is_random


def test_sparse_and_dense_features_are_the_same(case):
    kernel, X = case
    both = [
        PartFeatures(kernel, n_components=50, sparse_output=kind, random_state=0).fit_transform(X)
        for kind in (True, False)
    ]
    assert sparse.issparse(both[0])
    assert both[0].dtype == both[1].dtype == np.float32
    np.testing.assert_allclose(both[0].toarray(), both[1], rtol=1e-5, atol=1e-5)


def test_any_part_of_the_objects_and_any_number_of_threads_give_the_same_bits(case):
    kernel, X = case
    fitted = PartFeatures(kernel, random_state=0).fit(X[:1])
    whole = fitted.transform(X).toarray()
    assert np.array_equal(fitted.transform(X[1:][::-1]).toarray(), whole[1:][::-1])
    with config_context(threads=1):
        np.testing.assert_array_equal(fitted.transform(X).toarray(), whole)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loads(dumps(again)).transform(X).toarray(), whole)
    np.testing.assert_array_equal(clone(fitted).fit(X).transform(X).toarray(), whole)


def test_many_blocks_are_one():
    texts = Strings(["acgt" * 2000] * 9)
    Z = PartFeatures(Spectrum(3), random_state=0).fit_transform(texts)
    assert Z.shape == (9, 2**18)
    assert np.ptp(Z.toarray(), axis=0).max() == 0
    assert Z.nnz == 36


def test_a_key_never_seen_has_no_column():
    fitted = PartFeatures(Spectrum(1), n_components=None).fit(["ab"])
    assert fitted.transform(["abc", "c"]).toarray().tolist() == [[1, 1], [0, 0]]
    np.testing.assert_allclose(fitted.variance(["c"]), [[1.0]])


def test_products_with_weights():
    X = Strings(TEXTS)
    for width in (64, 2**15):
        fitted = PartFeatures(Spectrum(2), n_components=width, random_state=0).fit(X)
        weights = RNG.rand(width, 2).astype(np.float32)
        expected = dense(fitted.transform(X)) @ weights
        np.testing.assert_allclose(fitted.times(X, weights), expected, rtol=1e-4, atol=1e-5)
        out = np.empty((len(X), width), dtype=np.float32)
        fitted.write_features(X, out)
        np.testing.assert_array_equal(out, dense(fitted.transform(X)))


def test_collisions_are_counted():
    X = Strings(TEXTS)
    assert PartFeatures(Spectrum(2), n_components=1).fit(X).collisions(X) == 15
    assert PartFeatures(Spectrum(2), n_components=None).fit(X).collisions(X) == 0


def test_parts_of_the_algebra_become_one_sparse_map():
    made = feature_map(Normalized(Spectrum(2)) + Spectrum(3), 2**15)
    assert isinstance(made, PartFeatures)
    assert made.domain == "strings"
    product = feature_map(Spectrum(2) * Spectrum(1), 64, random_state=0).fit(TEXTS)
    assert product.transform(TEXTS).shape == (6, 64)


def test_columns_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"sequence": TEXTS, "number": np.arange(6.0)})
    both = ColumnTransformer([("seq", PartFeatures(Spectrum(2)), "sequence"), ("num", "passthrough", ["number"])])
    assert both.fit_transform(frame).shape == (6, 2**18 + 1)


def test_scikit_learn_has_no_checks_for_objects():
    with pytest.warns(SkipTestWarning):
        check_estimator(PartFeatures())
    tags = PartFeatures().__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert PartFeatures().set_params(kernel__k=5).kernel == Spectrum(5)


@pytest.mark.parametrize(
    ("params", "X", "words"),
    [
        ({"kernel": Spectrum(2) * Spectrum(1)}, TEXTS, "must count common parts"),
        ({"n_components": 0}, TEXTS, "n_components must be"),
        ({"n_masks": 0}, TEXTS, "n_masks must be"),
        ({"sparse_output": "yes"}, TEXTS, "sparse_output must be"),
        ({"n_components": None}, [""], "no parts at all"),
        ({}, [], "0 sample"),
        ({}, [1.5], r"X\[0\] must be text"),
        ({"kernel": WeisfeilerLehman(1)}, TEXTS, r"X\[0\] must be a graph"),
    ],
)
def test_errors_name_the_argument_or_the_object(params, X, words):
    with pytest.raises(ValueError, match=f"PartFeatures.*{words}"):
        PartFeatures(**params).fit(X)


def test_seeds_are_in_range():
    seeds = [draw_seed(np.random.RandomState(i)) for i in range(50)]
    assert all(0 < seed < 2**61 - 1 for seed in seeds)
    assert draw_coefficients(np.random.RandomState(0)).shape == (4,)
