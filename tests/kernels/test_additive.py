"""Additive kernels of histograms, and the arc-cosine kernels."""

import numpy as np
import pytest
from scipy import integrate, sparse
from sklearn.metrics.pairwise import additive_chi2_kernel, chi2_kernel

from mercer import Chi2, ExponentialChi2, Gaussian, Hellinger, Intersection, JensenShannon
from mercer.testing import check_kernel

ADDITIVE = [Chi2(), Intersection(), JensenShannon(), Hellinger()]
HISTOGRAMS = np.random.RandomState(0).dirichlet(np.full(6, 0.5), size=8)
HISTOGRAMS[HISTOGRAMS < 0.02] = 0


@pytest.mark.parametrize("kernel", [*ADDITIVE, ExponentialChi2(sigma=0.5)], ids=repr)
def test_the_laws(kernel):
    check_kernel(kernel, HISTOGRAMS)


def test_values_by_their_definitions():
    X, Y = HISTOGRAMS[:3], HISTOGRAMS[3:7]
    x, y = X[:, np.newaxis], Y[np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        chi2 = np.where(x + y > 0, 2 * x * y / (x + y), 0)
        first, second = (np.where(a > 0, a / 2 * np.log2((x + y) / a), 0) for a in (x, y))
        distance = np.where(x + y > 0, (x - y) ** 2 / (x + y), 0)
    np.testing.assert_allclose(Chi2()(X, Y), chi2.sum(axis=2), atol=1e-15)
    np.testing.assert_allclose(Intersection()(X, Y), np.minimum(x, y).sum(axis=2), atol=1e-15)
    np.testing.assert_allclose(Hellinger()(X, Y), np.sqrt(x * y).sum(axis=2), atol=1e-15)
    np.testing.assert_allclose(JensenShannon()(X, Y), (first + second).sum(axis=2), atol=1e-15)
    np.testing.assert_allclose(ExponentialChi2(sigma=0.7)(X, Y), np.exp(-distance.sum(axis=2) / 0.98), rtol=1e-12)
    # scikit-learn's additive kernel is minus the distance, and its gamma is 1 / (2 sigma^2).
    np.testing.assert_allclose(distance.sum(axis=2), -additive_chi2_kernel(X, Y), rtol=1e-12)
    np.testing.assert_allclose(ExponentialChi2(sigma=0.5)(X, Y), chi2_kernel(X, Y, gamma=2.0), rtol=1e-12)


@pytest.mark.parametrize("kernel", ADDITIVE[:3], ids=repr)
def test_the_density_is_the_spectrum_of_the_signature(kernel):
    for t in (0.0, 0.7, 3.0):
        real, _ = (
            integrate.quad(kernel.density, 0, np.inf, weight="cos", wvar=t)
            if t
            else integrate.quad(kernel.density, 0, np.inf)
        )
        assert 2 * real == pytest.approx(float(kernel.signature(np.array(t))), abs=1e-6)
    x, y = 0.3, 1.7
    direct = kernel([[x]], [[y]])[0, 0]
    assert np.sqrt(x * y) * kernel.signature(np.log(y / x)) == pytest.approx(direct)


@pytest.mark.parametrize("kernel", [*ADDITIVE, ExponentialChi2(sigma=1.0)], ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_a_negative_entry_is_named(kernel, layout):
    X = HISTOGRAMS.copy()
    X[3, 2] = -0.25
    message = r"{}: Negative values in data: Y holds -0.25 at row 3, column 2, and must be >= 0"
    with pytest.raises(ValueError, match=message.format(type(kernel).__name__)):
        kernel(HISTOGRAMS, layout(X))
    with pytest.raises(ValueError, match=r"X holds -0.25 at row 3, column 2"):
        (Gaussian(gamma=1.0) + 2.0 * kernel)(layout(X))
