"""Features of bags: sums of the features of vectors."""

import numpy as np
import pytest

from mercer import FourierFeatures, Gaussian, LinearFeatures, feature_map
from mercer.features import ConvolutionFeatures
from mercer.kernels import Convolution
from mercer.storage import dumps, loads
from mercer.testing import assert_mean_close

RNG = np.random.RandomState(0)
BAGS = [RNG.rand(5, 3), RNG.rand(1, 3), np.empty((0, 3)), RNG.rand(700, 3)]


@pytest.mark.parametrize("average", ["sum", "mean", "root"])
def test_features_multiply_to_the_kernel_of_their_map(average):
    fitted = ConvolutionFeatures(LinearFeatures(), average=average).fit(BAGS)
    Z = fitted.transform(BAGS)
    np.testing.assert_allclose(Z @ Z.T, fitted.kernel_(BAGS), rtol=1e-9, atol=1e-12)
    assert not fitted.variance(BAGS).any()


def test_the_mean_over_draws_is_the_kernel():
    """150 draws; false alarm 1e-6."""
    kernel = Convolution(Gaussian(gamma=1.0), average="mean")
    maps = (feature_map(kernel, 32, random_state=seed).fit(BAGS[:3]) for seed in range(150))
    estimates = np.array([Z @ Z.T for Z in (one.transform(BAGS[:3]) for one in maps)])
    assert_mean_close(estimates, kernel(BAGS[:3]), false_alarm=1e-6, atol=1e-12)


def test_wide_features_of_large_bags_are_added_in_pieces():
    fitted = ConvolutionFeatures(FourierFeatures(Gaussian(gamma=1.0), n_components=4096), random_state=0).fit(BAGS)
    inner = fitted.map_.transform(BAGS[3]).sum(axis=0)
    np.testing.assert_allclose(fitted.transform(BAGS)[3], inner, rtol=1e-8, atol=1e-8)


def test_model_files_and_precision():
    fitted = ConvolutionFeatures(FourierFeatures(n_components=8), random_state=0).fit(BAGS)
    np.testing.assert_array_equal(loads(dumps(fitted)).transform(BAGS), fitted.transform(BAGS))
    single = [bag.astype(np.float32) for bag in BAGS]
    assert fitted.transform(single).dtype == np.float32


def test_errors():
    with pytest.raises(ValueError, match="average must be one of"):
        ConvolutionFeatures(average="max").fit(BAGS)
    with pytest.raises(ValueError, match="all bags of fit are empty"):
        ConvolutionFeatures(LinearFeatures()).fit([np.empty((0, 3))])
    fitted = ConvolutionFeatures(LinearFeatures()).fit(BAGS)
    with pytest.raises(ValueError, match="have 2 columns, and those of fit had 3"):
        fitted.transform([np.ones((1, 2))])
    with pytest.raises(ValueError, match=r"X\[0\] must be a matrix"):
        fitted.transform(["text"])
