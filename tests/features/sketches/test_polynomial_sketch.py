"""Averages of Tensor Sketches: widths, bounds, and other hashes."""

import numpy as np
import pytest

from mercer import Polynomial
from mercer.features.sketches.polynomial_sketch import PolynomialSketch
from mercer.testing import sample_rows


@pytest.mark.parametrize("n_sketches", [1, 3])
def test_features_of_a_map_and_their_bound(n_sketches):
    X, kernel = sample_rows(), Polynomial(2, gamma=0.5, coef0=1.0)
    sketch = PolynomialSketch.draw(kernel, 5, 12, n_sketches, np.random.RandomState(0))
    assert sketch.index.shape == (n_sketches, 2, 6)
    out = np.empty((len(X), 12))
    sketch.writer(X)(slice(0, len(X)), out)
    assert np.abs(out).max() <= sketch.largest_feature(np.linalg.norm(X, axis=1).max(), X)
    assert sketch.bias(X, X) == 0.0
    assert sketch.is_random


def test_averaging_divides_the_variance_of_narrower_sketches():
    X, rng = sample_rows(), np.random.RandomState(0)
    one, three = (PolynomialSketch.draw(Polynomial(2), 5, width, n, rng) for width, n in ((4, 1), (12, 3)))
    np.testing.assert_allclose(three.variance(X, X), one.variance(X, X) / 3, rtol=1e-12)


def test_a_redraw_has_other_hashes_of_the_same_shape():
    sketch = PolynomialSketch.draw(Polynomial(3), 5, 8, 2, np.random.RandomState(0))
    other = sketch.redrawn(np.random.RandomState(1))
    assert other.index.shape == sketch.index.shape
    assert not np.array_equal(other.index, sketch.index)
