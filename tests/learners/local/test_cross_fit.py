"""Boosted trees by folds: predictions of rows that trees have not seen, and what stops the trees."""

from dataclasses import replace
from threading import Event
from threading import enumerate as enumerate_threads
from time import monotonic, sleep

import numpy as np
import pytest

from mercer import config_context
from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local import cross_fit
from mercer.learners.local.cross_fit import CrossFit, _Fold
from mercer.solvers.local.boosting_losses import LogisticLoss


def held(Y, weight=None):
    return HeldTargets.of(Numbers("test"), Y, weight)


@pytest.fixture
def boxes(rng):
    X = rng.uniform(size=(1200, 4))
    y = 3.0 * (X[:, 0] > 0.3) * (X[:, 1] < 0.6) + 5.0 + 0.3 * rng.standard_normal(1200)
    return X, y[:, None]


def test_the_model_predicts_and_no_row_sees_its_own_fold(boxes, rng):
    X, Y = boxes
    trees, predicted, _ = CrossFit(X, held(Y), 0).fit()
    fitted = Y - trees.scores(X)
    assert np.mean((Y - predicted) ** 2) < 0.1 * Y.var()
    assert np.mean(fitted**2) < np.mean((Y - predicted) ** 2)
    noise = rng.standard_normal(Y.shape)
    _, of_noise, _ = CrossFit(X, held(noise), 0).fit()
    # Predictions of noise are independent of it: 4.9 standard errors of a correlation, a false alarm in 1e-6 runs.
    assert abs(np.corrcoef(of_noise.ravel(), noise.ravel())[0, 1]) < 4.9 / 1200**0.5


def test_the_surplus_is_what_the_mean_of_the_folds_is_better_than_one_fold(rng):
    """Seen on new rows: the errors of single folds, less those of their mean."""
    X = rng.uniform(size=(8000, 4))
    Y = (3.0 * (X[:, 0] > 0.3) * (X[:, 1] < 0.6) + 2 * rng.standard_normal(8000))[:, None]
    trees, predicted, surplus = CrossFit(X[:2000], held(Y[:2000]), 0).fit()
    single, mean = np.mean((Y[:2000] - predicted) ** 2), np.mean((Y[2000:] - trees.scores(X[2000:])) ** 2)
    assert single - surplus[0] < single
    # Both are means of squares of noise of variance 4, whose squares have variance 32: five standard errors.
    assert abs(single - surplus[0] - mean) < 5 * (32 / 2000 + 32 / 6000) ** 0.5
    # The variance itself, from the trees of the six folds: that of 125 rows has an error of a quarter at most.
    n_trees = trees.n_trees // cross_fit._FOLDS
    folds = [
        replace(
            trees,
            columns=trees.columns[f * n_trees : (f + 1) * n_trees],
            thresholds=trees.thresholds[f * n_trees : (f + 1) * n_trees],
            values=cross_fit._FOLDS * trees.values[f * n_trees : (f + 1) * n_trees],
        ).scores(X[2000:])
        for f in range(cross_fit._FOLDS)
    ]
    assert surplus[0] == pytest.approx(np.var(folds, axis=0).mean(), rel=0.25)


def test_several_classes_have_no_surplus(boxes):
    X, Y = boxes
    signs = np.sign(Y - Y.mean())
    assert CrossFit(X, held(signs), 0, LogisticLoss()).fit().surplus > 0
    several = np.hstack([signs, -signs])
    np.testing.assert_array_equal(CrossFit(X, held(several), 0, LogisticLoss()).fit().surplus, 0.0)


def test_threads_change_no_bit(boxes):
    X, Y = boxes
    found = []
    for threads in (1, 3):
        with config_context(threads=threads):
            trees, predicted, surplus = CrossFit(X, held(Y), 0).fit()
            found.append((trees.thresholds, trees.values, predicted, surplus))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_units_of_y_change_nothing_but_units(boxes):
    X, Y = boxes
    _, one, _ = CrossFit(X, held(Y), 0).fit()
    _, other, _ = CrossFit(X, held(1024 * Y), 0).fit()
    np.testing.assert_allclose(other, 1024 * one, rtol=1e-9)


class Known:
    """A rival that is told how far trees are behind it, and whether they help, and knows what it was asked about."""

    def __init__(self, multiple, gains=True):
        self.least, self.has_gain, self.asked = multiple, gains, []

    def multiple(self, rows, predicted):
        self.asked.append(len(rows))
        assert predicted.shape == (len(rows), 1)
        return self.least

    def gains(self, rows, predicted):
        return self.has_gain


@pytest.mark.parametrize("rival", [Known(1e4), Known(cross_fit._NEAR + 0.1), Known(0.5, gains=False)])
def test_trees_far_behind_a_rival_or_of_no_gain_are_left_out(boxes, rival):
    X, Y = boxes
    assert CrossFit(X, held(Y), 0).fit(rival) is None
    assert set(rival.asked) <= {200}
    assert len(rival.asked) >= 1


def test_trees_that_help_stay_and_those_without_time_do_not(boxes):
    X, Y = boxes
    assert CrossFit(X, held(Y), 0).fit(Known(cross_fit._NEAR - 0.1)) is not None
    assert CrossFit(X, held(Y), 0).fit(deadline=0.0) is None


def test_trees_of_little_hope_end_early(boxes, monkeypatch):
    X, Y = boxes
    monkeypatch.setattr(cross_fit, "_EARLY", 10)
    with config_context(threads=1):
        cross = CrossFit(X, held(Y), 0)
        assert cross.fit(Known(1e4)) is None
        assert [len(fold.trees) for fold in cross._folds.values()] == [10]


def test_a_constant_table_has_trees_without_levels():
    trees, predicted, _ = CrossFit(np.ones((600, 2)), held(np.arange(600.0)[:, None]), 0).fit()
    assert np.isfinite(predicted).all()
    assert np.ptp(trees.scores(np.ones((3, 2)))) == 0


@pytest.mark.parametrize("f", [0, 1, 3])
def test_folds_that_grow_in_the_background_change_no_bit(boxes, f, monkeypatch):
    """``fit`` goes on with the fold that has grown until then: the first one, or a later one."""
    X, Y = boxes
    with config_context(threads=1):
        expected = CrossFit(X, held(Y), 0).fit()
    grown, own = Event(), _Fold.grow

    def grow(self):
        own(self)
        if cross._folds.get(f) is self:
            grown.set()

    monkeypatch.setattr(_Fold, "grow", grow)
    monkeypatch.setattr(cross_fit, "_EARLY", 10)
    cross, rival = CrossFit(X, held(Y), 0), Known(1.0)
    with config_context(threads=2), cross.growing():
        assert grown.wait(60)
        found = cross.fit(rival)
    assert rival.asked == [200, 200]  # after the early trees, and at the end
    np.testing.assert_array_equal(found[0].values, expected[0].values)
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("multiple", [1e8, 1e3])
def test_folds_that_grow_in_the_background_end_once_the_rival_is_known(boxes, multiple):
    X, Y = boxes
    cross = CrossFit(X, held(Y), 0)
    with config_context(threads=2), cross.growing():
        assert cross.fit(Known(multiple)) is None


def test_folds_that_have_grown_end_by_their_early_trees_like_folds_that_grow(boxes, monkeypatch):
    """What ends the folds does not depend on how far they have grown before the rival is known."""
    X, Y = boxes
    monkeypatch.setattr(cross_fit, "_EARLY", 10)
    monkeypatch.setattr(cross_fit, "_NEAR", np.inf)
    for least in (1.0, 2.0, 4.0, 8.0, 1e3):
        ended = []
        for threads in (1, 2):
            cross = CrossFit(X, held(Y), 0)
            with config_context(threads=threads), cross.growing():
                if threads == 2:
                    _until_the_background_ends(lambda: None)
                ended.append(cross.fit(Known(least)) is None)
        assert ended[0] == ended[1]


def _until_the_background_ends(work):
    """Call ``work`` once no thread grows folds any more, which must be soon."""
    limit = monotonic() + 60
    while any(thread.name == "mercer-background" for thread in enumerate_threads()):
        assert monotonic() < limit
        sleep(0.01)
    return work()


@pytest.mark.parametrize(("known", "most"), [(1e-9, 0), (0.02, 1)])
def test_folds_far_behind_what_is_known_wait_until_they_are_asked_for(boxes, known, most, monkeypatch):
    """The first fold ends after some trees, or the second one does not begin; the result is the same."""
    X, Y = boxes
    monkeypatch.setattr(cross_fit, "_EARLY", 10)
    with config_context(threads=1):
        expected = CrossFit(X, held(Y), 0).fit()
    cross = CrossFit(X, held(Y), 0)
    with config_context(threads=2), cross.growing(lambda: known):
        assert _until_the_background_ends(lambda: len(cross._folds)) == 1
        assert cross._folds[0].is_grown == (most == 1)
        assert len(cross._folds[0].trees) >= 10
        found = cross.fit(Known(1.0))
    np.testing.assert_array_equal(found[1], expected[1])


def test_a_later_fold_waits_once_it_is_known_that_trees_are_far_behind(boxes):
    X, Y = boxes
    with config_context(threads=1):
        expected = CrossFit(X, held(Y), 0).fit()
    cross = CrossFit(X, held(Y), 0)

    def known():
        return 1e-9 if 1 in cross._folds and len(cross._folds[1].trees) > 3 else np.inf

    with config_context(threads=2), cross.growing(known):
        assert _until_the_background_ends(lambda: len(cross._folds[1].trees)) == 4
        found = cross.fit(Known(1.0))
    np.testing.assert_array_equal(found[1], expected[1])


def test_folds_end_with_the_block_and_with_its_exception(boxes, monkeypatch):
    X, Y = boxes
    monkeypatch.setattr(cross_fit, "_MOST_TREES", 10**9)
    monkeypatch.setattr(cross_fit, "_PATIENCE", 10**9)
    with config_context(threads=2):
        with CrossFit(X, held(Y), 0).growing():
            pass
        with pytest.raises(KeyError, match="other"), CrossFit(X, held(Y), 0).growing():
            raise KeyError("other")


def test_with_one_thread_nothing_grows_before_it_is_asked_for(boxes, monkeypatch):
    X, Y = boxes
    cross = CrossFit(X, held(Y), 0)
    monkeypatch.setattr(_Fold, "grow", lambda self: pytest.fail("a fold grows"))
    with config_context(threads=1), cross.growing():
        pass
