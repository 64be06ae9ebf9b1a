"""The two-sample test: the estimate, its level and its power, on rows and on objects."""

import numpy as np
import pytest
from scipy import stats

from mercer import FourierFeatures, Gaussian, LinearFeatures, mmd
from mercer.features import PartFeatures
from mercer.kernels import Spectrum
from mercer.testing import assert_mean_close

RNG = np.random.RandomState(0)


def test_the_estimate_is_the_formula():
    X, Y = RNG.rand(5, 3), RNG.rand(7, 3) + 0.5
    K, L, M = X @ X.T, Y @ Y.T, X @ Y.T
    expected = (K.sum() - np.trace(K)) / 20 + (L.sum() - np.trace(L)) / 42 - 2 * M.mean()
    assert mmd(X, Y, features=LinearFeatures(), random_state=0).squared == pytest.approx(expected)
    paired = mmd(X, Y[:5], features=LinearFeatures(), test="wild", random_state=0).squared
    difference = X - Y[:5]
    G = difference @ difference.T
    assert paired == pytest.approx((G.sum() - np.trace(G)) / 20)


def test_sparse_features_of_objects():
    X, Y = ["ab", "ba", "abab", "aab"], ["cd", "dc", "cdc", "ddc", "cd"]
    K = Spectrum(1)(X + Y)
    expected = (K[:4, :4].sum() - np.trace(K[:4, :4])) / 12 + (K[4:, 4:].sum() - np.trace(K[4:, 4:])) / 20
    for features in (PartFeatures(Spectrum(1), n_components=None), PartFeatures(Spectrum(1), n_components=2**15)):
        found = mmd(X, Y, features=features, random_state=0)
        assert found.squared == pytest.approx(expected - 2 * K[:4, 4:].mean())
    assert mmd(X, Y, Spectrum(1), random_state=0).p_value < 0.05


def test_the_estimate_is_unbiased():
    """Over 2000 samples the mean is that of the linear kernel, |difference of means|^2; false alarm 1e-6."""
    rng = np.random.RandomState(1)
    found = [
        mmd(rng.randn(4, 2), rng.randn(6, 2) + 0.5, features=LinearFeatures(), n_permutations=1).squared
        for _ in range(2000)
    ]
    assert_mean_close(np.array(found), 0.5, false_alarm=1e-6)


@pytest.mark.parametrize("test", ["permutation", "wild"])
def test_the_level_is_kept(test):
    """400 tests of equal distributions at 19 permutations: p <= .1 with probability .1; false alarm 1e-6."""
    rng = np.random.RandomState(2)
    features = FourierFeatures(Gaussian(gamma=0.5), n_components=16)
    p = [
        mmd(rng.randn(8, 2), rng.randn(8, 2), features=features, test=test, n_permutations=19, random_state=i).p_value
        for i in range(400)
    ]
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], 400, 0.1)
    assert low <= np.sum(np.array(p) <= 0.1) <= high


def test_it_sees_a_difference():
    X, Y = RNG.randn(60, 2), 2 * RNG.randn(50, 2)
    found = mmd(X, Y, n_permutations=300, random_state=0)
    assert found.p_value == pytest.approx(1 / 301)
    assert found.null.shape == (300,)
    assert mmd(X, Y, random_state=3)[:2] == mmd(X, Y, random_state=3)[:2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"test": "bootstrap"}, "test must be"),
        ({"n_permutations": 0}, "n_permutations must be"),
        ({"test": "wild"}, "needs samples of one size, got 2 and 3"),
        ({"X": [[1.0]]}, "X must hold at least 2"),
        ({"Y": [[1.0, 2.0], [1.0, 2.0]]}, "column"),
    ],
)
def test_errors(change, words):
    with pytest.raises(ValueError, match=words):
        mmd(**{"X": np.ones((2, 1)), "Y": np.ones((3, 1))} | change)
