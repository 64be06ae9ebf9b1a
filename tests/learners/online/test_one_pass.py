"""One pass over a stream: whole blocks are kept, recorded and continued, by online and by budget learners alike."""

import numpy as np
import pytest

from mercer import FOGDClassifier, Gaussian, as_blocks, config_context
from mercer.learners import BudgetClassifier
from mercer.learners.online.one_pass import learned_state

rng = np.random.RandomState(0)
X = rng.standard_normal((12_288, 3)).astype(np.float32)  # three blocks of 4096 rows
Y = (X[:, 0] > X[:, 1]).astype(int)

MAKERS = {
    "online": lambda: FOGDClassifier(Gaussian(gamma=0.5), n_components=32, random_state=0),
    "budget": lambda: BudgetClassifier(Gaussian(gamma=0.5), budget=20, random_state=0),
}


def interrupted_after(n_rows):
    """Return rows whose reading is interrupted after some of them."""

    def pieces():
        for start in range(0, len(X), 4096):
            if start >= n_rows:
                raise KeyboardInterrupt
            yield X[start : start + 4096], Y[start : start + 4096]

    return as_blocks(pieces)


@pytest.mark.parametrize("kind", MAKERS)
def test_an_interruption_keeps_the_whole_blocks_so_far(kind):
    model = MAKERS[kind]()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(interrupted_after(8192), classes=[0, 1])
    expected = MAKERS[kind]().partial_fit(X[:8192], Y[:8192], classes=[0, 1])
    assert model.n_seen_ == 8192
    np.testing.assert_array_equal(model.decision_function(X[:50]), expected.decision_function(X[:50]))


@pytest.mark.parametrize("kind", MAKERS)
def test_a_checkpoint_continues_after_its_last_block(kind, tmp_path):
    whole, model = MAKERS[kind]().fit(X, Y), MAKERS[kind]()
    seen = []

    def end_in_the_middle(state):
        seen.append(state)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        config_context(checkpoint=tmp_path / "record", every=0, callback=end_in_the_middle),
    ):
        model.fit(X, Y)
    with config_context(checkpoint=tmp_path / "record", every=0):
        model.fit(X, Y)
    assert model.n_seen_ == len(X)
    np.testing.assert_array_equal(model.decision_function(X[:50]), whole.decision_function(X[:50]))


@pytest.mark.parametrize("kind", MAKERS)
def test_learned_state_has_neither_parameters_nor_listeners(kind):
    model = MAKERS[kind]().fit(X[:500], Y[:500])
    model.listener = print
    found = learned_state(model)
    assert found["n_seen_"] == 500
    assert "listener" not in found
    assert not set(found) & set(model.get_params(deep=False))
