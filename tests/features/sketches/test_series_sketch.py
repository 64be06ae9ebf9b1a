"""Sketches per degree: the expansion of each kernel, the bias of the degrees left out, and other hashes."""

import numpy as np
import pytest

from mercer import Exponential, Gaussian, VovkInfinite, VovkPolynomial
from mercer.features.sketches.expansions import ExponentialExpansion, GaussianExpansion, SeriesExpansion
from mercer.features.sketches.series_sketch import SeriesSketch
from mercer.testing import sample_rows


@pytest.mark.parametrize(
    ("kernel", "expansion", "is_endless"),
    [
        (Gaussian(gamma=0.5), GaussianExpansion, True),
        (Exponential(gamma=0.5), ExponentialExpansion, True),
        (VovkPolynomial(4), SeriesExpansion, False),
    ],
    ids=repr,
)
def test_every_kernel_has_its_expansion(kernel, expansion, is_endless):
    X = sample_rows() / 4
    sketch = SeriesSketch.draw(kernel, X, 64, np.random.RandomState(0))
    assert type(sketch.strata.expansion) is expansion
    assert (sketch.truncated_at is not None) == is_endless
    mean = sketch.strata.mean(X, X)
    np.testing.assert_allclose(np.broadcast_to(sketch.bias(X, X), mean.shape), mean - kernel(X), atol=1e-12)
    assert sketch.truncation_error(X) < 1e-12


def test_a_redraw_keeps_the_features_of_each_degree():
    X = sample_rows() / 4
    sketch = SeriesSketch.draw(Gaussian(gamma=0.5), X, 64, np.random.RandomState(0))
    other = sketch.redrawn(np.random.RandomState(1))
    assert other.strata.allocation == sketch.strata.allocation
    outs = [np.empty((len(X), 64)) for _ in range(2)]
    for of, out in zip((sketch, other), outs, strict=True):
        of.writer(X)(slice(0, len(X)), out)
    assert not np.array_equal(*outs)


def test_rows_outside_the_radius_of_convergence_are_refused():
    with pytest.raises(ValueError, match=r"TensorSketch: VovkInfinite\(\) needs \|x\|\^2 < 1 on every row"):
        SeriesSketch.draw(VovkInfinite(), 10 * sample_rows(), 64, np.random.RandomState(0))
