"""Scores of new rows by a mean of models: blocks as arrays, files of results, missing values, refusals."""

import numpy as np
import pytest
from scipy import sparse

from mercer import TunedClassifier
from mercer.data import as_blocks


@pytest.fixture(scope="module")
def classifier(table):
    X, y = table
    labels = np.array(["low", "middle", "top"])[np.digitize(y, [-0.5, 0.5])]
    return TunedClassifier(random_state=0, leaf_rows=300, n_landmarks=50).fit(X[:500], labels[:500]), labels


def _close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)  # products round by the height of a block


def test_blocks_are_scored_as_arrays(table, regressor, classifier, monkeypatch):
    monkeypatch.setattr("mercer.learners.local.base.LocalLearner.most_rows_to_score", 64)
    X, y = table
    classes, labels = classifier
    new = X[600:]
    for blocks in (as_blocks(new, block_rows=70), as_blocks(sparse.csr_array(new))):
        _close(regressor.predict(blocks), regressor.predict(new))
        _close(regressor.predict(blocks, return_std=True), regressor.predict(new, return_std=True))
        _close(regressor.predict_interval(blocks, 0.8), regressor.predict_interval(new, 0.8))
        _close(classes.decision_function(blocks), classes.decision_function(new))
        _close(classes.predict_proba(blocks), classes.predict_proba(new))
        np.testing.assert_array_equal(classes.predict(blocks), classes.predict(new))
        np.testing.assert_array_equal(classes.predict_set(blocks, 0.8), classes.predict_set(new, 0.8))
    weight = np.arange(300.0)
    scored = as_blocks(new, y[600:], sample_weight=weight)
    assert regressor.score(scored) == pytest.approx(regressor.score(new, y[600:], weight))
    scored = as_blocks(new, labels[600:], sample_weight=weight)
    assert classes.score(scored) == pytest.approx(classes.score(new, labels[600:], weight))


def test_results_go_to_files(table, regressor, classifier, tmp_path):
    X, _ = table
    _close(regressor.predict(as_blocks(X), out=tmp_path / "y.npy"), regressor.predict(X))
    found = classifier[0].predict(as_blocks(X), out=tmp_path / "classes.npy")
    np.testing.assert_array_equal(found, classifier[0].predict(X))
    with pytest.raises(ValueError, match="out takes predictions alone"):
        regressor.predict(as_blocks(X), return_std=True, out=tmp_path / "y.npy")


def test_missing_values_of_blocks_are_those_of_arrays(table, regressor):
    X, y = table
    new = X[600:].copy()
    new[::7, 1] = np.nan
    _close(regressor.predict(as_blocks(new, block_rows=70)), regressor.predict(new))
    assert regressor.score(as_blocks(new, y[600:])) == pytest.approx(regressor.score(new, y[600:]))
    new[250, 3] = np.inf
    with pytest.raises(ValueError, match=r"TunedRegressor: X contains infinity \(inf\) at row 250, column 3"):
        regressor.predict(as_blocks(new))


def test_what_cannot_be_scored_says_so(table, regressor):
    X, y = table
    with pytest.raises(ValueError, match="X has 2 features, but TunedRegressor is expecting 5"):
        regressor.predict(as_blocks(X[:, :2]))
    for rows in (X, as_blocks(X)):
        with pytest.raises(ValueError, match="TunedRegressor: score needs y"):
            regressor.score(rows)
    with pytest.raises(ValueError, match="X is Blocks, which bring their own y"):
        regressor.score(as_blocks(X, y), y)
