"""From what fit is given to blocks of rows: arrays are checked once, streams in the first pass."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mercer.data import as_blocks
from mercer.fitting import Classes, Numbers, Targets
from mercer.learners.training_rows import training_rows


class Estimator(BaseEstimator):
    """An estimator of no kind."""


X, Y = np.arange(12.0).reshape(6, 2), np.array(["a", "b", "a", "b", "a", "b"])


def test_an_array_is_checked_whole():
    estimator = Estimator()
    blocks, targets = training_rows(estimator, X.tolist(), Y, np.ones(6), Classes("Test"))
    assert targets.checked
    assert (blocks.n_rows, blocks.width, estimator.n_features_in_) == (6, 2, 2)
    with pytest.raises(ValueError, match="Unknown label type"):
        training_rows(estimator, X, np.linspace(0, 1, 6), None, Classes("Test"))
    with pytest.raises(ValueError, match=r"Estimator: sample_weight must hold finite numbers >= 0, got -1.0"):
        training_rows(estimator, X, Y, -np.ones(6), Classes("Test"))


def test_the_y_of_a_stream_is_checked_when_it_is_read():
    estimator = Estimator()
    given = as_blocks(lambda: [(X, np.linspace(0, 1, 6))])
    blocks, targets = training_rows(estimator, given, None, None, Classes("Test"))
    assert blocks is given
    assert not targets.checked
    assert estimator.n_features_in_ == 2


def test_y_is_ignored_where_it_means_nothing():
    blocks, _ = training_rows(Estimator(), X, Y, None, Targets("Test"))
    assert not blocks.is_labelled
    assert training_rows(Estimator(), as_blocks(X), Y, None, Targets("Test"))[0].n_rows == 6


@pytest.mark.parametrize(
    ("source", "y", "weight", "message"),
    [
        (X, None, None, "Estimator requires y to be passed, but the target y is None"),
        (as_blocks(X), None, None, "Estimator requires y to be passed: make the blocks with as_blocks"),
        (as_blocks(X, Y), Y, None, "Estimator: X is Blocks, which bring their own y and weights"),
        (as_blocks(X, Y), None, np.ones(6), "Estimator: X is Blocks, which bring their own y and weights"),
        (X, np.ones(5), None, "X has 6 rows and y has 5: inconsistent numbers of samples"),
    ],
)
def test_what_does_not_fit_together_is_refused(source, y, weight, message):
    with pytest.raises(ValueError, match=message):
        training_rows(Estimator(), source, y, weight, Numbers("Test"))


def test_later_rows_must_have_the_columns_of_the_first():
    estimator = Estimator()
    training_rows(estimator, X, Y, None, Classes("Test"))
    for wide, labels in ((np.ones((6, 3)), Y), (as_blocks(np.ones((6, 3)), Y), None)):
        with pytest.raises(ValueError, match="X has 3 features, but Estimator is expecting 2 features"):
            training_rows(estimator, wide, labels, None, Classes("Test"), reset=False)
    assert training_rows(estimator, X[:3], Y[:3], None, Classes("Test"), reset=False)[0].n_rows == 3


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    estimator = Estimator()
    training_rows(estimator, as_blocks(pandas.DataFrame(X, columns=["p", "q"]), Y), None, None, Classes("Test"))
    assert estimator.feature_names_in_.tolist() == ["p", "q"]
