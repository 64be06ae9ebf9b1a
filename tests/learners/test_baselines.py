"""The linear baseline against leave-one-out fits by hand."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mercer.learners import baselines
from mercer.learners.baselines import linear_score


def _by_hand(X, y, alpha):
    left = [
        Ridge(alpha=alpha).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[i : i + 1])[0] for i in range(len(y))
    ]
    return 1 - np.sum((y - left) ** 2) / np.sum((y - y.mean()) ** 2)


def test_the_score_is_that_of_leaving_each_row_out(rng, monkeypatch):
    X = rng.standard_normal((30, 4))
    y = X @ [1.0, -2.0, 0.0, 0.5] + rng.standard_normal(30)
    Z = X - X.mean(axis=0)
    monkeypatch.setattr(baselines, "_PENALTIES", np.array([0.05]))
    alpha = 0.05 * np.linalg.eigvalsh(Z.T @ Z).max()
    assert linear_score(X, y, is_classification=False) == pytest.approx(_by_hand(X, y, alpha), abs=1e-9)


def test_labels_are_scored_by_accuracy(rng):
    X = rng.standard_normal((200, 3))
    labels = np.array(["a", "b", "c"])[np.argmax(X, axis=1)]
    assert linear_score(X, labels, is_classification=True) > 0.8
    assert linear_score(np.zeros((4, 2)), np.array(["a", "b", "a", "a"]), is_classification=True) == 0.75
    assert linear_score(np.zeros((4, 2)), np.arange(4.0), is_classification=False) == 0.0


def test_noise_has_no_score(rng):
    assert linear_score(rng.standard_normal((100, 5)), rng.standard_normal(100), is_classification=False) < 0.2
