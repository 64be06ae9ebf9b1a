"""Nystroem on objects: landmarks are objects, never means of them; files hold them."""

import numpy as np
import pytest

from mercer import KernelCCA, KernelKMeans, KernelRidgeClassifier, NOGDClassifier, Nystroem, feature_map
from mercer.kernels import Convolution, Induced, Spectrum, Subtree, WeisfeilerLehman
from mercer.kernels.gaussian import Gaussian
from mercer.storage import dumps, loads
from mercer.structures import Strings

RNG = np.random.RandomState(0)
TEXTS = ["".join(RNG.choice(list("abc"), size=n)) for n in (8, 5, 9, 3, 7, 6)]
OBJECTS = {
    "strings": (Spectrum(2), TEXTS),
    "sequences": (Spectrum(1, tokens=True), [[1, 2], [2, 3], [1, 1]]),
    "graphs": (WeisfeilerLehman(1), [([(0, 1)], 2), ([], 1), ([(0, 1), (1, 2)], ["a", "b", "a"])]),
    "trees": (Subtree(), ["(a b)", "(a c)", "(a (a b))"]),
    "bags": (Convolution(Gaussian(gamma=1.0)), [RNG.rand(2, 2), RNG.rand(3, 2), RNG.rand(1, 2)]),
}


@pytest.mark.parametrize("domain", OBJECTS)
def test_all_objects_as_landmarks_are_exact_and_come_back_from_files(domain):
    kernel, X = OBJECTS[domain]
    fitted = Nystroem(kernel, n_components=len(X), random_state=0).fit(X)
    assert len(fitted.landmarks_) == len(fitted.landmark_indices_)  # objects, no means
    Z = fitted.transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), rtol=1e-4, atol=1e-4 * kernel(X).max())
    np.testing.assert_array_equal(loads(dumps(fitted)).transform(X), Z)


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "rpcholesky", "greedy", "weighted", [0, 3], TEXTS[:2]])
def test_every_chooser_takes_objects(landmarks):
    fitted = Nystroem(Spectrum(2), n_components=2, landmarks=landmarks, random_state=0).fit(TEXTS)
    assert isinstance(fitted.landmarks_, Strings)
    assert len(fitted.landmarks_) == 2
    assert fitted.variance(TEXTS).shape == (6, 6)


def test_objects_have_no_means():
    with pytest.raises(ValueError, match="averages rows, and these are objects"):
        Nystroem(Spectrum(2), n_components=2, landmarks="kmeans").fit(TEXTS)


def test_the_kernel_of_any_domain_by_name():
    made = feature_map(Induced(Gaussian(), Spectrum(2)), 4, method="nystroem", random_state=0)
    assert isinstance(made, Nystroem)
    assert made.fit(TEXTS).transform(TEXTS).shape == (6, 4)


def test_learners_on_objects():
    X, y = TEXTS * 4, [i % 2 for i in range(24)]
    for model in (
        KernelRidgeClassifier(features=Nystroem(Spectrum(2), n_components=4, random_state=0)),
        NOGDClassifier(Spectrum(2), n_components=3),
        NOGDClassifier(Spectrum(2), n_components=100),
    ):
        fitted = model.fit(X, y)
        np.testing.assert_array_equal(loads(dumps(fitted)).predict(X), fitted.predict(X))
    assert KernelKMeans(Spectrum(2), n_clusters=2, n_components=32, random_state=0).fit(X).predict(X).shape == (24,)
    numbers = np.array([[len(text), text.count("a")] for text in X], dtype=float)
    views = KernelCCA(Spectrum(2), y_kernel=Gaussian(), map_components=16, random_state=0).fit(X, numbers)
    assert views.transform(X).shape[0] == 24


def test_numbers_are_refused():
    with pytest.raises(ValueError, match=r"Nystroem: X\[0\] must be text"):
        Nystroem(Spectrum(2)).fit(np.ones((3, 1)))
