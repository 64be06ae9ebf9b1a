"""Sketches of kernels of depth: the kit, both methods, the error of the design's prototype, model files."""

import numpy as np
import pytest

from mercer import ArcCosine, Gaussian, Nystroem, feature_map
from mercer.features import HomogeneousFeatures, KitchenSinks, methods_for
from mercer.kernels import NeuralTangent
from mercer.storage import dumps, loads
from mercer.testing import assert_mean_close, check_feature_map


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_kit():
    check_feature_map(HomogeneousFeatures(NeuralTangent(2), n_components=40), unbiased=False, data_dependent=True)


def test_random_maclaurin_is_unbiased_but_for_its_tail():
    """400 draws on short rows of 2 columns; false alarm 1e-6."""
    X = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    kernel = ArcCosine(1, depth=2)
    maps = (HomogeneousFeatures(kernel, n_components=64, method="maclaurin", random_state=s).fit(X) for s in range(400))
    estimates = np.array([Z @ Z.T for Z in (one.transform(X) for one in maps)])
    # of a row with itself the tail of 60 degrees is missing, and rare degrees make the mean
    assert_mean_close(estimates[:, 0, 1], kernel(X)[0, 1], false_alarm=1e-6)
    assert not estimates[:, 2].any()


@pytest.mark.parametrize(("kernel", "largest"), [(ArcCosine(1, depth=3), 0.03), (NeuralTangent(3), 0.08)])
def test_the_error_on_unit_rows(kernel, largest):
    """Twice the relative Frobenius error of the design's prototype at 1024 features, on random unit rows."""
    X = np.random.RandomState(0).rand(200, 64)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    Z = feature_map(kernel, 1024, random_state=0).fit_transform(X)
    K = kernel(X)
    assert np.linalg.norm(Z @ Z.T - K) < largest * np.linalg.norm(K)


def test_dispatch():
    assert isinstance(feature_map(NeuralTangent(1)), HomogeneousFeatures)
    assert isinstance(feature_map(ArcCosine(1, depth=2)), HomogeneousFeatures)
    assert isinstance(feature_map(ArcCosine(1)), KitchenSinks)
    assert feature_map(NeuralTangent(1), method="maclaurin").method == "maclaurin"
    assert isinstance(feature_map(NeuralTangent(1), method="nystroem"), Nystroem)
    assert methods_for(NeuralTangent(1)) == ["tensor_sketch", "maclaurin", "nystroem"]


def test_the_tail_is_reported_and_files_hold_the_map():
    X = np.random.RandomState(0).randn(30, 4)
    fitted = HomogeneousFeatures(NeuralTangent(3), n_components=64, random_state=0).fit(X)
    assert 0.06 < fitted.truncation_error_ < 0.08
    np.testing.assert_array_equal(loads(dumps(fitted)).transform(X), fitted.transform(X))
    np.testing.assert_allclose(fitted.transform(3 * X), 3 * fitted.transform(X), rtol=1e-9, atol=1e-12)


def test_errors():
    with pytest.raises(ValueError, match="kernel must be homogeneous"):
        HomogeneousFeatures(Gaussian(gamma=1.0)).fit([[1.0]])
    with pytest.raises(ValueError, match="method must be one of"):
        HomogeneousFeatures(method="fourier").fit([[1.0]])
