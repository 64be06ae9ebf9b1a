"""Maps whose kernel is a parameter: checked, resolved, and drawn again."""

import numpy as np
import pytest

from mercer import FourierFeatures, Gaussian, Polynomial, TensorSketch
from mercer.testing import sample_rows


def test_the_kernel_is_resolved_in_fit_and_the_parameter_stays():
    X = sample_rows()
    fitted = FourierFeatures(Gaussian(), random_state=0).fit(X)
    assert fitted.kernel_ == Gaussian().resolve(X)
    assert fitted.kernel == Gaussian()
    assert TensorSketch(random_state=0).fit(X).kernel_ == Polynomial(2)


def test_a_redraw_keeps_the_kernel_and_the_width():
    fitted = FourierFeatures(Gaussian(), n_components=11, random_state=0).fit(sample_rows())
    other = fitted.redrawn(np.random.RandomState(5))
    assert (other.kernel_, other.n_features_out_) == (fitted.kernel_, 11)
    assert not np.array_equal(other.frequencies_, fitted.frequencies_)


@pytest.mark.parametrize(
    ("n_components", "message"),
    [(0, "n_components must be an integer >= 1, got 0"), (2**31, r"n_components must be below 2\^31, got 2147483648")],
)
def test_widths_that_no_map_has_are_refused(n_components, message):
    with pytest.raises(ValueError, match=message):
        FourierFeatures(Gaussian(), n_components=n_components).fit(sample_rows())
