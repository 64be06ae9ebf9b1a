"""What a pass finds in y."""

import numpy as np
import pytest

from mercer.stats import ClassTotals, TargetMeans
from mercer.testing import check_statistic


@pytest.mark.parametrize("labels", [["b", "a", "c", "a"] * 5, [3, 1, 2, 1] * 5, [True, False] * 10], ids=str)
def test_classes_and_totals(labels):
    labels, weight = np.array(labels), np.arange(20.0)
    parts = ClassTotals()
    for rows in (slice(0, 0), slice(0, 1), slice(1, 9), slice(9, 20)):
        parts.merge(ClassTotals().update(labels[rows], weight[rows]))
    assert parts.classes.tolist() == sorted(set(labels.tolist()))
    np.testing.assert_array_equal(parts.totals, [weight[labels == label].sum() for label in parts.classes])
    np.testing.assert_array_equal(ClassTotals().merge(parts).totals, parts.totals)


def test_labels_of_different_lengths_are_kept_whole():
    found = (
        ClassTotals().update(np.array(["a"]), np.ones(1)).merge(ClassTotals().update(np.array(["long"]), np.ones(1)))
    )
    assert found.classes.tolist() == ["a", "long"]


@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 3)])
def test_means(shape):
    rng = np.random.RandomState(0)
    y, weight = 1e8 + rng.standard_normal(shape), rng.exponential(size=50)
    weight[:7] = 0
    check_statistic(TargetMeans(), [y, weight], [3, 3, 20])
    found = TargetMeans().update(y, weight)
    assert found.n_dims == len(shape)
    np.testing.assert_allclose(found.mean, np.average(y.reshape(50, -1), axis=0, weights=weight), rtol=1e-15)
