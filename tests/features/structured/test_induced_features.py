"""Features of induced kernels: the kit, no bias with exact inner features, the bias that hashing adds."""

import numpy as np
import pytest

from mercer import Composed, Gaussian, LinearFeatures, Normalized, OrthogonalFeatures, Polynomial, feature_map
from mercer.features import InducedFeatures, PartFeatures
from mercer.kernels import Convolution, Induced, Spectrum, WeisfeilerLehman
from mercer.storage import dumps, loads
from mercer.structures import Strings
from mercer.testing import assert_mean_close, check_feature_map

RNG = np.random.RandomState(0)
TEXTS = Strings(["".join(RNG.choice(list("acgt"), size=n)) for n in (8, 12, 0, 1, 9)])
BAGS = [RNG.rand(3, 2), RNG.rand(1, 2), RNG.rand(4, 2)]


def exact(kernel):
    return PartFeatures(kernel, n_components=None, sparse_output=False)


def test_the_kit():
    inner = PartFeatures(Normalized(Spectrum(2)), n_components=64)
    made = InducedFeatures(Gaussian(gamma=0.5), inner, n_components=16)
    others = {"map": [PartFeatures(Spectrum(1), n_components=8)]}
    check_feature_map(made, TEXTS, outside=Strings(["acgtac"]), unbiased=False, others=others)


def test_exact_inner_features_leave_no_bias():
    """400 draws; false alarm 1e-6."""
    X = TEXTS.astype(np.float64)
    kernel = Induced(Gaussian(gamma=0.3), Normalized(Spectrum(2)))
    maps = [InducedFeatures(kernel.outer, exact(kernel.inner), n_components=64, random_state=s) for s in range(400)]
    estimates = np.array([Z @ Z.T for Z in (one.fit_transform(X) for one in maps)])
    assert_mean_close(estimates, kernel(X), false_alarm=1e-6, atol=1e-9)


def test_the_bias_of_hashed_inner_features_is_as_stated():
    """gamma^2 v k / 2 with v the variance of the squared distance: within a third, 300 draws of 32 columns."""
    X = TEXTS.astype(np.float64)[:2]
    kernel = Induced(Gaussian(gamma=0.5), Normalized(Spectrum(2)))
    found, squared = [], []
    for seed in range(300):
        fitted = InducedFeatures(
            kernel.outer, PartFeatures(kernel.inner, n_components=32), n_components=4096, random_state=seed
        ).fit(X)
        Z, inner = fitted.transform(X), fitted.map_.transform(X)
        found.append(Z[0] @ Z[1])
        squared.append(((inner[0] - inner[1]) ** 2).sum())
    stated = 0.5**2 * np.var(squared) * kernel(X)[0, 1] / 2
    assert np.mean(found) - kernel(X)[0, 1] == pytest.approx(stated, rel=1 / 3)


def test_dispatch():
    made = feature_map(Induced(Gaussian(), WeisfeilerLehman(2)), 64)
    assert isinstance(made, InducedFeatures)
    assert made.map.n_components == 4096
    mean = feature_map(Induced(Gaussian(), Convolution(Gaussian(), average="mean")), 256, random_state=0).fit(BAGS)
    assert isinstance(mean.outer_map_, OrthogonalFeatures)
    assert np.abs(mean.transform(BAGS) @ mean.transform(BAGS).T - mean.kernel_(BAGS)).max() < 0.3
    composed = feature_map(Composed(Polynomial(2), Convolution(Gaussian(gamma=1.0))), 64)
    assert isinstance(composed, InducedFeatures)
    assert composed.fit(BAGS).kernel_ == Composed(Polynomial(2), Convolution(Gaussian(gamma=1.0)))


def test_rows_and_files():
    X = RNG.rand(10, 3)
    fitted = InducedFeatures(Gaussian(gamma=1.0), LinearFeatures(), n_components=512, random_state=0).fit(X)
    Z = fitted.transform(X)
    assert np.abs(Z @ Z.T - Gaussian(gamma=1.0)(X)).max() < 0.2
    for one, rows in ((fitted, X), (InducedFeatures(map=exact(Spectrum(1)), random_state=0).fit(TEXTS), TEXTS)):
        np.testing.assert_array_equal(loads(dumps(one)).transform(rows), one.transform(rows))


def test_errors():
    with pytest.raises(ValueError, match="outer must be a radial kernel"):
        InducedFeatures(Spectrum(2)).fit(np.eye(2))
    with pytest.raises(ValueError, match="n_components must be"):
        InducedFeatures(n_components=0).fit(np.eye(2))
