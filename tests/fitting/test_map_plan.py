"""Which map a fit draws, and how long its blocks are."""

import numpy as np
import pytest

from mercer import (
    FourierFeatures,
    Gaussian,
    KernelRidge,
    Laplacian,
    Nystroem,
    config_context,
    feature_map,
)
from mercer.data import as_blocks
from mercer.features import Concatenate, Rescale
from mercer.fitting import MapPlan, Passes, Sample, Survey, Targets
from mercer.fitting.map_plan import BLOCK_ROWS, rows_per_block


def _plan(kernel=None, n_features=20, given=None, **names):
    return MapPlan.of("Test", kernel, n_features, given, Gaussian(), **names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "rbf"}, "Test: kernel must be a kernel object, got the name 'rbf'"),
        ({"n_features": 0}, "Test: n_components must be an integer >= 1, got 0"),
        ({"n_features": 0, "width_name": "map_components"}, "Test: map_components must be an integer >= 1"),
        ({"given": 3}, "Test: features must be a feature map such as TensorSketch"),
        ({"given": 3, "given_name": "y_features"}, "Test: y_features must be a feature map"),
    ],
)
def test_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        _plan(**arguments)


def test_n_components_is_not_looked_at_where_a_map_is_given(rng):
    given = FourierFeatures(Laplacian(), n_components=8, random_state=0)
    X = rng.standard_normal((30, 2))
    plan = _plan(n_features=None, given=given)
    drawn = plan.draw(Sample(X, np.ones(30)), np.random.RandomState(0))
    assert drawn is not given
    np.testing.assert_array_equal(drawn.transform(X), given.fit(X).transform(X))


def test_the_map_is_that_of_the_resolved_kernel(rng):
    X, weight = rng.standard_normal((50, 3)), rng.rand(50)
    drawn = _plan(Gaussian(gamma="scale")).draw(Sample(X, weight), np.random.RandomState(5))
    seed = np.random.RandomState(5).randint(2**31 - 1)
    kernel = Gaussian(gamma="scale").resolve(X, weight)
    expected = feature_map(kernel, 20, random_state=seed).fit(X)
    np.testing.assert_array_equal(drawn.transform(X), expected.transform(X))
    assert drawn.kernel_ == kernel


def test_wide_maps_are_fitted_on_more_rows():
    assert _plan(n_features=20).sample_rows == 4096
    assert _plan(n_features=2000).sample_rows == 8000
    assert _plan(n_features=None, given=FourierFeatures()).sample_rows == 4096


def test_features_beyond_memory_are_refused_before_a_row_is_read():
    with config_context(memory="1MB"), pytest.raises(MemoryError, match=r"Test: map_components=1000000 needs.*Lower"):
        _plan(n_features=10**6, width_name="map_components").check_size(3, 8)
    with config_context(memory="1MB"):
        _plan(n_features=10).check_size(3, 8)


def test_blocks_shrink_with_the_features_and_with_a_budget():
    assert rows_per_block(100, 5, 8) == BLOCK_ROWS
    assert rows_per_block(2**20, 5, 8) == 8
    with config_context(memory="1MB", threads=1):
        few = rows_per_block(100, 5, 8)
    assert few == 10**6 // (4 * 3 * 8 * 105)


def test_a_map_says_how_many_rows_it_wants():
    assert _plan(given=Nystroem(n_components=6000)).sample_rows == 24_000
    assert _plan(given=Rescale(Nystroem(n_components=6000))).sample_rows == 24_000
    assert _plan(given=Concatenate([FourierFeatures(), Nystroem(n_components=5000)])).sample_rows == 20_000
    assert _plan(given=FourierFeatures(n_components=6000)).sample_rows == 4096
    assert _plan(given=Nystroem(n_components="many")).sample_rows == 4096  # refused by the map itself, in its words
    assert (_plan(n_features=30).width, _plan(given=Nystroem(n_components=70)).width) == (30, 70)


def test_a_learner_gives_nystroem_as_many_landmarks_as_it_asks_for(rng):
    X = rng.standard_normal((9000, 2)).astype(np.float32)
    model = KernelRidge(
        features=Nystroem(Gaussian(), n_components=4500, landmarks="uniform", random_state=0), alpha=1.0
    )
    survey = Survey.of(as_blocks(X), Targets("Test"), Passes("Test"), size=model._map_plan().sample_rows, seed=0)
    assert survey.sample.rows.shape[0] == 9000
