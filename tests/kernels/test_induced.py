"""Kernels of induced distances: against the double loop, bandwidths from objects, and rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Cauchy, Gaussian, Laplacian, Linear, Matern, parse_kernel
from mercer.kernels import Convolution, Induced, Parts, Spectrum
from mercer.structures import Objects, Strings
from mercer.testing import check_kernel


@settings(max_examples=30)
@given(st.lists(st.text("ab", max_size=6), min_size=1, max_size=4))
def test_equal_to_the_formula(X):
    K = Spectrum(2)(X)
    distances = np.array([[K[i, i] + K[j, j] - 2 * K[i, j] for j in range(len(X))] for i in range(len(X))])
    found = Induced(Gaussian(gamma=0.3), Spectrum(2))
    np.testing.assert_allclose(found(X), np.exp(-0.3 * distances), rtol=1e-12)
    np.testing.assert_allclose(found(X, X[:1]), np.exp(-0.3 * distances[:, :1]), rtol=1e-12)
    assert found.diag(X).tolist() == [1.0] * len(X)


def test_of_the_linear_kernel_it_is_the_outer_kernel_itself():
    X = np.random.RandomState(0).rand(6, 3)
    for outer in (Gaussian(gamma=2.0), Matern(1.5, length_scale=0.5), Cauchy(length_scale=2.0)):
        np.testing.assert_allclose(Induced(outer, Linear())(X), outer(X), rtol=1e-6, atol=1e-9)
    check_kernel(Induced(Gaussian(gamma=1.0), Linear()))


def test_bandwidths_come_from_the_objects():
    X = Strings(["abab", "abc", "xyz", "abab"])
    K = Spectrum(1)(X)
    spread = np.diag(K).mean() - K.mean()
    assert Induced(Gaussian(), Spectrum(1)).resolve(X).outer.gamma == pytest.approx(1 / spread)
    squared = np.diag(K)[:, None] + np.diag(K) - 2 * K
    median = np.sort(squared[squared > 0])[(squared > 0).sum() // 2 - 1]
    assert Induced(Gaussian(gamma="median"), Spectrum(1)).resolve(X).outer.gamma == pytest.approx(1 / (2 * median))
    weighted = Induced(Gaussian(), Spectrum(1)).resolve(X[:3], np.array([2.0, 1.0, 1.0]))
    assert weighted.outer.gamma == pytest.approx(1 / spread)
    assert Induced(Gaussian(), Spectrum(1)).resolve(X[[0, 3]]).outer.gamma == 1.0  # all alike


def test_of_many_objects_a_sample_is_taken():
    X = Strings(["a" * (i % 7) for i in range(1500)])
    resolved = Induced(Gaussian(), Spectrum(1)).resolve(X)
    spread = np.var(np.arange(1500) % 7)
    assert resolved.outer.gamma == pytest.approx(1 / spread, rel=0.1)


def test_inner_kernels_are_resolved_too():
    bags = [np.random.RandomState(i).rand(3, 2) for i in range(4)]
    kernel = Induced(Gaussian(), Convolution(Gaussian(), average="mean"))
    packed = kernel.inner.domain
    assert packed == "bags"
    from mercer.structures import Bags

    assert kernel.resolve(Bags(bags)).is_resolved
    assert parse_kernel(repr(kernel)) == kernel


def test_errors():
    with pytest.raises(ValueError, match="Induced: outer must be a radial kernel"):
        Induced(Laplacian(gamma=1.0), Spectrum(1))
    with pytest.raises(ValueError, match="Induced: inner must be a kernel"):
        Induced(Gaussian(), "Spectrum")
    with pytest.raises(ValueError, match="no value before it has seen data"):
        Induced(Gaussian(), Spectrum(1)).diag(["a"])


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_the_bandwidth_of_many_objects_is_found_on_some(gamma):
    """A pair of objects may be expensive: of 2,000 at most 200 are compared, each decomposed a few times."""
    seen = []

    def letters(text):
        seen.append(text)
        return dict.fromkeys(text, 1.0)

    texts = Objects([f"{i:04b}" for i in range(2000)])
    found = Induced(Gaussian(gamma=gamma), Parts(letters)).resolve(texts)
    assert found.is_resolved
    assert 0 < len(seen) <= 3 * 200
