"""A map times the root of a scale."""

import numpy as np
import pytest

from mercer import Linear, LinearFeatures, TensorSketch
from mercer.features import Rescale
from mercer.testing import sample_rows


def test_features_are_scaled_by_the_root_and_the_variance_by_the_square():
    X = sample_rows()
    plain = TensorSketch(n_components=8)
    scaled = Rescale(plain, scale=4.0, random_state=0).fit(X)
    np.testing.assert_allclose(scaled.transform(X), 2 * scaled.map_.transform(X), rtol=1e-15)
    np.testing.assert_allclose(scaled.variance(X), 16 * scaled.map_.variance(X), rtol=1e-12)
    assert Rescale(LinearFeatures(), scale=2.0).fit(X).kernel_ == 2.0 * Linear()


@pytest.mark.parametrize("scale", [-1.0, 0.0, np.nan])
def test_a_scale_that_is_not_positive_is_refused(scale):
    with pytest.raises(ValueError, match=r"Rescale: scale must be a finite number > 0, got"):
        Rescale(LinearFeatures(), scale=scale).fit(sample_rows())
