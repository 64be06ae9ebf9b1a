"""The protocol of feature maps: writing in blocks, products with weights, and errors by re-draws."""

import numpy as np
import pytest

from mercer import LinearFeatures, RandomMaclaurin, TensorSketch, config_context
from mercer.testing import sample_rows


def test_the_variance_by_redraws_agrees_with_the_closed_form(monkeypatch):
    X = sample_rows(3)
    closed = TensorSketch(n_components=8, random_state=0).fit(X)
    exact = closed.variance(X)
    monkeypatch.setattr(TensorSketch, "exact_variance", lambda self, X, Y: None)
    estimated = closed.variance(X)
    # 200 squared errors whose own spread is about three times their mean (heavy tails of a product)
    np.testing.assert_allclose(estimated, exact, rtol=6 * 3 / np.sqrt(200))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_weights_are_those_of_the_features(dtype):
    X = sample_rows(50).astype(dtype)
    sketch = TensorSketch(n_components=16, random_state=0).fit(X)
    weights = np.random.RandomState(0).standard_normal((16, 3)).astype(dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(sketch.times(X, weights), sketch.transform(X) @ weights, rtol=tolerance, atol=tolerance)


def test_blocks_shrink_where_making_features_takes_memory(monkeypatch):
    sketch = TensorSketch(n_components=16, random_state=0).fit(sample_rows())
    monkeypatch.setattr(TensorSketch, "scratch_bytes", lambda self, X: 2.0**24)
    with config_context(block_rows=100):
        assert sketch._rows_in_work(sample_rows(50)) == 2  # 32 MiB per thread


def test_the_number_of_a_row_that_is_not_finite_is_given():
    X = sample_rows(600)
    sketch = TensorSketch(n_components=16, random_state=0).fit(X)
    X[500, 2] = np.nan
    with config_context(block_rows=64), pytest.raises(ValueError, match=r"X contains NaN at row 500, column 2"):
        sketch.transform(X)


def test_variance_refuses_other_columns():
    with pytest.raises(ValueError, match=r"TensorSketch: X has 2 columns, and the map was fitted on 5"):
        TensorSketch(random_state=0).fit(sample_rows()).variance(np.ones((2, 2)))


def test_what_maps_say_of_themselves_by_default():
    X = sample_rows()
    drawn = RandomMaclaurin(n_components=7, random_state=0).fit(X)
    assert (drawn.is_random, drawn.most_features(5), drawn.least_features(5)) == (True, np.inf, 7)
    assert drawn.reaches(5, 0.01) is None
    drawn.set_width(9)
    assert drawn.n_components == 9
    assert not LinearFeatures().fit(X).is_random
