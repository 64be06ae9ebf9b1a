"""Learners take strings, graphs, trees and bags where their kernel does."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import mercer
from mercer import Gaussian, KernelRidge, KernelRidgeClassifier, KernelSVC, Normalized
from mercer.data import as_blocks
from mercer.features import PartFeatures
from mercer.kernels import Convolution, Spectrum, Subsequence, Subtree, WeisfeilerLehman
from mercer.storage import dumps, loads
from mercer.structures import Bags, Graphs, Strings, Trees

RNG = np.random.RandomState(0)
N = 60
Y = np.array(["first", "second"])[np.arange(N) % 2]


def word(i):
    return "".join(RNG.choice(list("ab" if i % 2 else "cd"), size=5 + i % 7))


def graph(i):
    ring = [(j, (j + 1) % 6) for j in range(6)]
    return (ring if i % 2 else [*ring[:-1], (0, 3)], RNG.randint(2, size=6))


OBJECTS = {
    "strings": (Normalized(Spectrum(2)), Strings([word(i) for i in range(N)])),
    "subsequences": (Normalized(Subsequence(2)), Strings([word(i) for i in range(N)])),
    "graphs": (Normalized(WeisfeilerLehman(2)), Graphs([graph(i) for i in range(N)])),
    "trees": (Subtree(0.5), Trees(["(a (b c) d)" if i % 2 else "(a (b e) (d f))" for i in range(N)])),
    "bags": (
        Convolution(Gaussian(gamma=1.0), average="mean"),
        Bags([RNG.rand(3 + i % 4, 2) + (i % 2) for i in range(N)]),
    ),
}


@pytest.fixture(params=OBJECTS.values(), ids=OBJECTS.keys())
def case(request):
    return request.param


@pytest.mark.parametrize(
    "learner", [KernelSVC(), KernelRidgeClassifier(alpha=1.0), mercer.KernelLogisticRegression()], ids=repr
)
def test_classifiers(case, learner):
    kernel, X = case
    learner = clone(learner).set_params(kernel=kernel, n_components="auto", random_state=0)
    model = clone(learner).fit(X, Y)
    assert model.score(X, Y) > 0.9
    assert model.n_features_in_ == 1
    again = loads(dumps(pickle.loads(pickle.dumps(model))))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    streamed = clone(learner).fit(as_blocks(X, Y, block_rows=7))
    np.testing.assert_array_equal(streamed.predict(as_blocks(X)), model.predict(X))


def test_other_learners(case):
    kernel, X = case
    numbers = (Y == "first") * 2.0 - 1
    assert KernelRidge(kernel, n_components=256, alpha=0.1, random_state=0).fit(X, numbers).score(X, numbers) > 0.5
    assert mercer.KernelPCA(kernel, n_components=2, map_components=64, random_state=0).fit_transform(X).shape == (N, 2)
    assert len(set(mercer.KernelKMeans(kernel, n_clusters=2, n_components=64, random_state=0).fit(X).labels_)) == 2
    assert mercer.KernelOneClassSVM(kernel, n_components=64, random_state=0).fit(X).predict(X).shape == (N,)


@pytest.mark.parametrize("second", ["strings", "graphs", "bags"])
def test_canonical_correlations_of_objects(second):
    """The class is what two views of the same objects have in common: one of trees, one of another kind."""
    (kernel, X), (y_kernel, V) = OBJECTS["trees"], OBJECTS[second]
    model = mercer.KernelCCA(kernel, y_kernel, n_components=1, alpha=0.1, random_state=0).fit(X, V)
    assert model.score(X, V) > 0.9
    assert [scores.shape for scores in model.transform(X, V)] == [(N, 1), (N, 1)]
    assert loads(dumps(model)).score(X, V) == model.score(X, V)
    blocks = as_blocks(X, V, block_rows=7)
    np.testing.assert_allclose(clone(model).fit(blocks).score(blocks), model.score(X, V), rtol=1e-6)


def test_a_second_view_of_other_objects_is_refused():
    (kernel, X), (y_kernel, V) = OBJECTS["trees"], OBJECTS["strings"]
    model = mercer.KernelCCA(kernel, y_kernel, n_components=1, random_state=0).fit(X, V)
    with pytest.raises(ValueError, match=r"KernelCCA: y\[1\] must be text"):
        model.fit(X, ["a", None, *V.tolist()[2:]])
    with pytest.raises(ValueError, match="KernelCCA: y must be Strings, got Trees"):
        model.transform(X, X)
    with pytest.raises(ValueError, match=r"KernelCCA: y is Strings.*rows of numbers"):
        mercer.KernelCCA(kernel, Gaussian()).fit(X, V)


def test_one_pass_in_parts_is_one_pass():
    kernel, X = OBJECTS["strings"]
    whole = mercer.FOGDClassifier(kernel, n_components=256, random_state=0).fit(X, Y)
    parts = mercer.FOGDClassifier(kernel, n_components=256, random_state=0)
    for start in range(0, N, 20):
        rows = slice(start, start + 20)
        parts.partial_fit(X[rows], Y[rows], classes=np.unique(Y))
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-4, atol=1e-5)


def test_cross_validation_search_and_pipelines():
    kernel, X = OBJECTS["graphs"]
    model = KernelSVC(kernel, n_components="auto", random_state=0)
    assert cross_val_score(model, X, Y, cv=3).mean() > 0.9
    search = GridSearchCV(model, {"kernel__kernel__depth": [0, 2]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"kernel__kernel__depth": 2}
    pipeline = make_pipeline(
        PartFeatures(kernel), MaxAbsScaler(), mercer.KernelSVC(mercer.Linear(), n_components=2**18)
    )
    assert pipeline.steps[0][1].fit_transform(X).shape == (N, 2**18)


def test_lists_are_packed_on_the_way():
    kernel, X = OBJECTS["strings"]
    listed = [text.decode() for text in X]
    model = KernelSVC(kernel, n_components="auto", random_state=0).fit(listed, Y)
    np.testing.assert_array_equal(model.predict(listed), model.predict(X))


def test_a_map_of_objects_decides_what_is_taken():
    kernel, X = OBJECTS["strings"]
    model = KernelSVC(features=PartFeatures(kernel, n_components=None)).fit(X, Y)
    assert model.score(X, Y) > 0.9
    assert model.__sklearn_tags__().input_tags.string


def test_weights_are_repetitions():
    kernel, X = OBJECTS["strings"]
    weight = 1.0 + (np.arange(N) % 3 == 0)
    repeated = np.repeat(np.arange(N), weight.astype(int))
    params = {"n_components": 512, "alpha": 1.0, "random_state": 0}
    weighted = KernelRidgeClassifier(kernel, **params).fit(X, Y, sample_weight=weight)
    plain = KernelRidgeClassifier(kernel, **params).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-3)


def test_errors_name_the_object():
    kernel, X = OBJECTS["strings"]
    model = KernelSVC(kernel, n_components="auto").fit(X, Y)
    with pytest.raises(ValueError, match=r"KernelSVC: X\[1\] must be text"):
        model.predict(["a", None])
    with pytest.raises(ValueError, match=r"KernelSVC: X is Strings.*compares rows of numbers"):
        KernelSVC().fit(X, Y)
    with pytest.raises(ValueError, match="n_components must be 'auto' or an integer"):
        KernelSVC(kernel, n_components="many").fit(X, Y)
