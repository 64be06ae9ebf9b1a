"""Accuracy and R^2 as statistics: the laws of a statistic, and the numbers of scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

from mercer.stats import Accuracy, Determination
from mercer.testing import check_statistic


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_r2(rng, weighted, n_targets):
    shape = (200,) if n_targets == 1 else (200, n_targets)
    y = 3.0 + rng.standard_normal(shape)
    predicted, weight = y + 0.5 * rng.standard_normal(shape), rng.randint(0, 4, 200).astype(float)
    rows = [y, predicted, weight] if weighted else [y, predicted]
    check_statistic(Determination(), rows, [1, 50, 51, 130])
    expected = r2_score(y, predicted, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(Determination().update(*rows).value, expected, rtol=1e-12)
    far = Determination().update(y[:90] + 1e6, predicted[:90] + 1e6, *[part[:90] for part in rows[2:]])
    far.update(y[90:] + 1e6, predicted[90:] + 1e6, *[part[90:] for part in rows[2:]])
    np.testing.assert_allclose(far.value, expected, rtol=1e-8)  # a mean of 1e6 takes 6 of 16 digits


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [str, int, object])
def test_accuracy(rng, weighted, kind):
    y, predicted = (rng.randint(0, 3, 200).astype(str if kind is str else int).astype(kind) for _ in range(2))
    weight = rng.rand(200)
    codes = [np.unique(part.astype(str), return_inverse=True)[1] for part in (y, predicted)]
    rows = [*codes, weight] if weighted else codes
    check_statistic(Accuracy(), rows, [1, 50, 51, 130])
    given = [y, predicted, weight] if weighted else [y, predicted]
    expected = accuracy_score(y.astype(str), predicted.astype(str), sample_weight=weight if weighted else None)
    np.testing.assert_allclose(Accuracy().update(*given).value, expected, rtol=1e-12)


def test_a_column_of_labels_is_no_table_of_comparisons():
    assert Accuracy().update(np.array([[1], [2]]), np.array([1, 3])).value == 0.5


def test_constant_targets_and_too_few_rows():
    one = np.ones(3)
    assert Determination().update(one, one).value == 1.0
    assert Determination().update(one, one + 1).value == 0.0
    assert np.isnan(Determination().update(one[:1], one[:1]).value)
    assert np.isnan(Accuracy().value)


def test_rows_without_weight_change_nothing(rng):
    y, predicted = rng.rand(10), rng.rand(10)
    total = Determination().update(y[:4], predicted[:4], np.zeros(4)).update(y[4:], predicted[4:])
    np.testing.assert_allclose(total.value, r2_score(y[4:], predicted[4:]), rtol=1e-12)
