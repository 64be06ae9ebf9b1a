"""Classes of online learners: those that come later in the stream, refused or learned."""

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import FOGDClassifier, Gaussian, NOGDClassifier

KERNEL = Gaussian(gamma=0.5)
KINDS = [FOGDClassifier, NOGDClassifier]
LOSSES = ["hinge", "squared_hinge", "logistic"]
UPDATES = ["newton", "adagrad", "gradient"]


def _stream(rng, n_rows=900):
    """Return rows around three centres; the third class, "b", comes in the last two thirds only."""
    labels = np.where(np.arange(n_rows) < n_rows // 3, rng.randint(2, size=n_rows), rng.randint(3, size=n_rows))
    centres = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 3.0]])
    return centres[labels] + 0.5 * rng.standard_normal((n_rows, 2)), np.array(["a", "c", "b"])[labels]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("n_components", [20, 2000])  # both phases of NOGD
def test_a_class_that_comes_later_is_learned(rng, kind, loss, update, n_components):
    X, y = _stream(rng)
    model = kind(KERNEL, n_components=min(n_components, 500), loss=loss, update=update, new_classes="learn")
    model.set_params(random_state=0).partial_fit(X[:300], y[:300])
    before = model.predict(X[:300])
    assert model.classes_.tolist() == ["a", "c"]
    model.partial_fit(X[300:], y[300:])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.coef_.shape[0] == 3
    assert np.mean(before == y[:300]) > 0.97
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_block_may_bring_a_class_that_the_call_did_not_name(rng, kind):
    X, y = _stream(rng)
    named = kind(KERNEL, n_components=20, new_classes="learn", random_state=0).partial_fit(X, y, classes=["a", "c"])
    found = kind(KERNEL, n_components=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(named.coef_, found.coef_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("n_known", [2, 3])
def test_known_classes_keep_their_scores_when_one_is_added(rng, kind, loss, update, n_known):
    """Differences of scores, which decide, stay; and no row is given to a class that was never seen."""
    X, y = (rows[:300] if n_known == 2 else rows[300:] for rows in _stream(rng))
    model = kind(KERNEL, n_components=8, loss=loss, update=update, random_state=0).fit(X, y)
    old = model.decision_function(X)
    weights = model.state_.with_classes(loss, n_known + 1, np.arange(1, n_known + 1)).coef  # the new class is the first
    new = model.feature_map_.transform(X) @ weights[:, :-1].T + weights[:, -1]
    expected = old * (2 if loss == "squared_hinge" else 1) if n_known == 2 else old[:, 1] - old[:, 0]
    np.testing.assert_allclose(new[:, 2] - new[:, 1], expected, atol=1e-10)
    n_taken = np.count_nonzero(new.argmax(axis=1) == 0)
    # the steps of AdaGrad differ by class, so that scores of a row do not sum to 0
    assert n_taken == 0 or (update == "adagrad" and n_taken < 0.05 * len(X))


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_keeps_the_classes_of_whole_blocks(rng, kind):
    """The third class comes in the second block of 4096 rows; the fourth in the third, which is interrupted."""
    X, y = rng.standard_normal((12_288, 2)), np.repeat([0, 2, 3], 4096)
    y[::2] = 1

    def source():
        for block in range(3):
            if block == 2 and interrupted:
                raise KeyboardInterrupt
            yield X[4096 * block : 4096 * (block + 1)], y[4096 * block : 4096 * (block + 1)]

    model = kind(KERNEL, n_components=20, new_classes="learn", decay=0.999, random_state=0)
    model.partial_fit(X[:4096], y[:4096])
    expected = clone(model).partial_fit(X[:4096], y[:4096]).partial_fit(X[:8192], y[:8192])
    interrupted = False
    stream = mercer.as_blocks(source)
    _ = stream.dtype
    interrupted = True
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(stream)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.n_seen_ == 3 * 4096
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_a_saved_model_has_its_new_classes(rng, tmp_path):
    X, y = _stream(rng)
    model = FOGDClassifier(KERNEL, n_components=20, new_classes="learn", random_state=0).partial_fit(X[:300], y[:300])
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    for one in (model, again):
        one.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(again.coef_, model.coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_that_cannot_be_added_are_named_and_the_model_stays(rng, kind):
    X, y = _stream(rng)
    model = kind(KERNEL, n_components=20, new_classes="learn", random_state=0).partial_fit(X[:300], y[:300])
    coef = model.coef_.copy()
    with pytest.raises(ValueError, match=r"a new class must be text where the classes are text.*got 1"):
        model.partial_fit(X[:2], [1, 2])
    with pytest.raises(ValueError, match=r"new_classes must be one of \['error', 'learn'\], got 'add'"):
        kind(new_classes="add").fit(X, y)
    with pytest.raises(ValueError, match="y must hold at least 2 classes, got 1 class: 'a'"):
        kind(new_classes="learn").partial_fit(X[:2], ["a", "a"])
    with pytest.raises(ValueError, match=r"y holds 'b' at row 3\d\d of the stream.*set new_classes='learn'"):
        model.set_params(new_classes="error").partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(model.coef_, coef)
    model.set_params(new_classes="learn").partial_fit(X[:2], ["a", "c"], classes=["d", "e"])
    assert model.classes_.tolist() == ["a", "c", "d", "e"]
