"""Tensor Sketch of keys: the kit for polynomials, series and products, and why hashing twice is biased."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Composed, DotProduct, Exponential, Normalized, Polynomial, TensorSketch, VovkInfinite, feature_map
from mercer.features import PartFeatures, PartTensorSketch
from mercer.kernels import GappedKmers, Spectrum, WeisfeilerLehman
from mercer.storage import dumps, loads
from mercer.structures import Graphs, Strings
from mercer.testing import assert_mean_close, check_feature_map

RNG = np.random.RandomState(0)
TEXTS = Strings(["".join(RNG.choice(list("acgt"), size=n)) for n in (8, 12, 0, 1, 9)])
OTHERS = Strings(["acgtac", "gg"])
GRAPHS = Graphs([([(0, 1), (1, 2)], 3), ([(0, 1)], 2), ([], 1)])


@pytest.mark.parametrize(
    "kernel",
    [
        Composed(Polynomial(2, coef0=0.5, gamma=0.5), Normalized(Spectrum(2))),
        Normalized(Spectrum(2)) * (Normalized(Spectrum(1)) + 0.5 * Normalized(Spectrum(3))),
    ],
    ids=["polynomial", "product"],
)
def test_the_kit(kernel):
    check_feature_map(PartTensorSketch(kernel, n_components=16), TEXTS, outside=OTHERS)


def test_the_kit_on_a_series():
    kernel = Composed(Exponential(gamma=1.0), Normalized(Spectrum(2)))
    made = PartTensorSketch(kernel, n_components=24)
    check_feature_map(made, TEXTS, outside=OTHERS, unbiased=False, data_dependent=True)


def test_each_factor_draws_its_own_masks():
    """300 draws of 1 of 3 masks: one mask for both factors would give the mean of squares; false alarm 1e-6."""
    kernel, X = Composed(Polynomial(2), Normalized(GappedKmers(3, 1))), TEXTS.astype(np.float64)
    maps = [PartTensorSketch(kernel, n_components=256, n_masks=1, random_state=s).fit(X) for s in range(300)]
    estimates = np.array([Z @ Z.T for Z in (one.transform(X) for one in maps)])
    assert_mean_close(estimates, kernel(X), false_alarm=1e-6, atol=1e-9)
    assert maps[0].exact_variance(X, X) is None


def test_hashing_first_would_be_biased():
    """What the sketch of keys avoids: 64 hashed columns, squared, are off by the variance of the hash."""
    X = TEXTS.astype(np.float64)[:2]
    kernel = Composed(Polynomial(2), Spectrum(2))
    twice = []
    for seed in range(300):
        first = PartFeatures(Spectrum(2), n_components=16, random_state=seed).fit(X)
        Z = first.transform(X)
        Z = TensorSketch(Polynomial(2), n_components=512, random_state=seed).fit_transform(np.asarray(Z))
        twice.append(Z @ Z.T)
    with pytest.raises(AssertionError, match="standard errors"):
        assert_mean_close(np.array(twice), kernel(X), false_alarm=1e-6)


def test_dispatch_and_algebra():
    composed = Composed(Polynomial(2, coef0=1.0), WeisfeilerLehman(1))
    assert isinstance(feature_map(composed, 64), PartTensorSketch)
    assert isinstance(feature_map(Spectrum(2) * Spectrum(1), 64), PartTensorSketch)
    for kernel in (composed, 2.0 * composed, Normalized(composed), composed + WeisfeilerLehman(0)):
        fitted = feature_map(kernel, 4096, random_state=0).fit(GRAPHS)
        Z = fitted.transform(GRAPHS.astype(np.float64))
        Z = Z.toarray() if sparse.issparse(Z) else Z
        error, allowed = np.abs(Z @ Z.T - kernel(GRAPHS)), 6 * np.sqrt(fitted.variance(GRAPHS))
        assert np.all(error <= allowed + 1e-9 * kernel(GRAPHS).max())


def test_a_constant_and_an_even_function():
    """cosh has degrees 0, 2, 4, ...; a kernel of an empty string is its constant."""
    cosh = Composed(DotProduct(np.cosh, [1.0, 0.0, 0.5, 0.0, 1 / 24]), Normalized(Spectrum(1)))
    fitted = PartTensorSketch(cosh, n_components=64, random_state=0).fit(TEXTS)
    assert set(fitted.degrees_.tolist()) <= {0, 2, 4}
    Z = fitted.transform(TEXTS.astype(np.float64))
    assert Z[2] @ Z[0] == pytest.approx(1.0)


def test_files():
    for f in (Polynomial(3, coef0=1.0), Exponential(gamma=1.0)):
        fitted = PartTensorSketch(Composed(f, Normalized(Spectrum(2))), n_components=20, random_state=0).fit(TEXTS)
        np.testing.assert_array_equal(loads(dumps(fitted)).transform(TEXTS), fitted.transform(TEXTS))


def test_errors():
    with pytest.raises(ValueError, match="PartTensorSketch: kernel must be Composed"):
        PartTensorSketch(Spectrum(2)).fit(TEXTS)
    with pytest.raises(ValueError, match="n_masks must be"):
        PartTensorSketch(n_masks=0).fit(TEXTS)
    with pytest.raises(ValueError, match=r"VovkInfinite\(\) needs"):
        PartTensorSketch(Composed(VovkInfinite(), Spectrum(1))).fit(TEXTS)
