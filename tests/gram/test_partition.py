"""Rows in clusters: labels, empty clusters, and rows far from the origin."""

import numpy as np
import pytest
from scipy import sparse

from mercer.gram.partition import Partition, nearest
from mercer.testing import sample_rows


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_nearest_centre_is_that_of_all_distances(layout, offset):
    X, centres = sample_rows(50) + offset, sample_rows(4, seed=1) + offset
    expected = np.square(X[:, np.newaxis] - centres).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest(layout(X), centres), expected)


def test_every_row_is_in_one_cluster_with_the_nearest_centre():
    X = sample_rows(60)
    partition = Partition.of(X, 5, np.random.RandomState(0))
    assert (partition.n_rows, partition.n_columns) == (60, 5)
    np.testing.assert_array_equal(np.sort(partition.order), np.arange(60))
    labels = nearest(X, partition.centres)
    for number, place in enumerate(partition.slices):
        np.testing.assert_array_equal(labels[partition.order[place]], number)


def test_one_cluster_has_the_mean_and_more_clusters_than_distinct_rows_are_dropped():
    X = sample_rows(20)
    np.testing.assert_allclose(Partition.of(X, 1, np.random.RandomState(0)).centres, [X.mean(axis=0)])
    repeated = np.repeat(np.eye(2), 8, axis=0)
    assert len(Partition.of(repeated, 5, np.random.RandomState(0))) == 2
