"""Drifting streams: labels follow the probabilities that are claimed, changes come when and as they should."""

import numpy as np
import pytest

from mercer.datasets import abrupt_drift, gradual_drift, rotating_drift
from mercer.testing import assert_mean_close

N_ROWS = 40_000
STREAMS = {
    "abrupt": lambda **more: abrupt_drift(N_ROWS, 3, n_changes=3, flip=0.2, random_state=0, **more),
    "gradual": lambda **more: gradual_drift(N_ROWS, 3, width=0.5, flip=0.2, random_state=0, **more),
    "rotating": lambda **more: rotating_drift(N_ROWS, 3, turns=2, flip=0.2, random_state=0, **more),
}


@pytest.mark.parametrize("name", STREAMS)
def test_labels_have_the_probabilities_that_are_claimed(name):
    """In each of eight parts of the stream, and apart for every probability: a false alarm in 1e-6 of the runs."""
    stream = STREAMS[name]()
    for part in np.array_split(np.arange(N_ROWS), 8):
        y, probability = stream.y[part], stream.probability[part]
        assert_mean_close(y - probability, 0.0)
        for likely in (probability < 0.4, probability > 0.6):
            assert_mean_close((y - probability)[likely], 0.0)
        best = (probability > 0.5).astype(int)
        assert_mean_close((best != y) - stream.bayes_error[part], 0.0)


def test_the_concept_turns_at_once():
    stream = abrupt_drift(N_ROWS, n_changes=1, turn=np.pi / 4, flip=0.0, random_state=0)
    half, direction = N_ROWS // 2, np.arctan2(stream.X[:, 1], stream.X[:, 0])
    assert set(stream.angle[:half]) == {0.0}
    assert set(stream.angle[half:]) == {np.pi / 4}
    np.testing.assert_array_equal(stream.y[:half], np.cos(2 * direction[:half]) > 0)
    changed = stream.y[half:] != (np.cos(2 * direction[half:]) > 0)
    assert_mean_close(changed.astype(float), 0.5, detect=0.05)  # 2 turn / pi of the rows


def test_a_gradual_change_mixes_two_concepts():
    stream = gradual_drift(N_ROWS, width=0.5, turn=np.pi / 2, flip=0.0, random_state=0)
    quarter = N_ROWS // 4
    assert (stream.bayes_error[:quarter] == 0).all()
    assert (stream.bayes_error[3 * quarter :] == 0).all()
    middle = stream.bayes_error[quarter : 3 * quarter]
    # the concepts are opposite, so that the error rises to 1/2 and falls again
    np.testing.assert_allclose(middle[len(middle) // 2], 0.5, atol=1e-3)
    np.testing.assert_allclose(middle.mean(), 0.25, atol=1e-3)
    sudden = gradual_drift(10, width=0.0, flip=0.0, random_state=0)
    assert (sudden.bayes_error == 0).all()
    assert len(set(sudden.angle[:5])) == len(set(sudden.angle[5:])) == 1


def test_a_rotating_concept_comes_back_after_half_a_turn():
    stream = rotating_drift(N_ROWS, turns=1.0, flip=0.0, random_state=0)
    np.testing.assert_allclose(np.diff(stream.angle), 2 * np.pi / N_ROWS)
    opposite = np.arctan2(stream.X[:, 1], stream.X[:, 0]) - (stream.angle + np.pi)
    assert np.mean(stream.y == (np.cos(2 * opposite) > 0)) > 0.9999


@pytest.mark.parametrize("name", STREAMS)
def test_one_seed_one_stream_as_arrays_and_as_blocks(name):
    one, other = STREAMS[name](), STREAMS[name]()
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    blocks = list(one.blocks(3000).labelled())
    assert [block.n_rows for block in blocks] == [3000] * 13 + [1000]
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), one.y)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: abrupt_drift(0), "abrupt_drift: n_samples must be an integer >= 1"),
        (lambda: abrupt_drift(10, 1), "abrupt_drift: n_features must be an integer >= 2"),
        (lambda: abrupt_drift(10, flip=0.6), r"abrupt_drift: flip must be at most 0\.5, got 0\.6"),
        (lambda: gradual_drift(10, width=-1), "gradual_drift: width must be a finite number >= 0"),
        (lambda: gradual_drift(10, width=2), "gradual_drift: width must be at most 1, got 2"),
        (lambda: rotating_drift(10, turns=np.inf), "rotating_drift: turns must be a finite number"),
    ],
)
def test_bad_parameters_are_refused_by_name(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
