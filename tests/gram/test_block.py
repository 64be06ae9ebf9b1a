"""The block approximation and its partition."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, config_context
from mercer.gram import BlockGram
from mercer.gram.partition import Partition, nearest

KERNEL = Gaussian(gamma=1.0)
X = np.random.RandomState(0).standard_normal((70, 2))


def test_exact_within_clusters_and_zero_between():
    operator = BlockGram(KERNEL, X, n_clusters=5, random_state=0)
    labels = nearest(X, operator.partition_.centres)
    K = operator.to_dense()
    same = labels[:, None] == labels[None, :]
    np.testing.assert_allclose(K[same], KERNEL(X)[same], atol=1e-12)
    assert not K[~same].any()


def test_memory_is_that_of_the_blocks():
    operator = BlockGram(KERNEL, X, n_clusters=5, random_state=0)
    sizes = np.bincount(nearest(X, operator.partition_.centres))
    assert operator.memory_bytes == 8 * (sizes**2).sum() + operator.partition_.memory_bytes
    with config_context(memory="2kB"), pytest.raises(MemoryError, match="BlockGram: n_clusters=1 needs"):
        BlockGram(KERNEL, X, n_clusters=1)


def test_one_cluster_is_the_exact_matrix():
    np.testing.assert_allclose(BlockGram(KERNEL, X, n_clusters=1).to_dense(), KERNEL(X), atol=1e-12)


def test_as_many_clusters_as_rows_is_the_diagonal():
    np.testing.assert_allclose(BlockGram(KERNEL, X, n_clusters=200).to_dense(), np.eye(70))


def test_a_partition_covers_every_row_once():
    partition = Partition.of(X, 6, np.random.RandomState(0))
    assert sorted(partition.order) == list(range(70))
    assert len(partition) == len(partition.slices) == 6
    labels = nearest(X, partition.centres)
    for s, part in enumerate(partition.slices):
        assert set(labels[partition.order[part]]) == {s}


def test_nearest_is_nearest():
    centres = np.random.RandomState(1).standard_normal((4, 2))
    distances = ((X[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest(X, centres), distances.argmin(axis=1))


def test_empty_clusters_are_dropped():
    rows = np.repeat([[0.0], [1.0]], 10, axis=0)
    operator = BlockGram(KERNEL, rows, n_clusters=5, random_state=0)
    assert len(operator.blocks_) == 2
    np.testing.assert_allclose(operator.solve(operator @ np.ones(20) + np.ones(20), alpha=1.0), np.ones(20))


def test_one_row():
    operator = BlockGram(KERNEL, [[1.0, 2.0]], n_clusters=3)
    np.testing.assert_allclose(operator.to_dense(), [[1.0]])


def test_bad_input():
    with pytest.raises(ValueError, match="BlockGram: n_clusters must be an integer >= 1, got 0"):
        BlockGram(KERNEL, X, n_clusters=0)
    with pytest.raises(ValueError, match="BlockGram: X contains NaN at row 0, column 0"):
        BlockGram(KERNEL, [[np.nan]], n_clusters=1)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_partition_does_not_depend_on_precision_layout_or_origin(make, dtype):
    """The rows at 10,000 have values that float32 holds, so that all are the same rows but for the offset."""
    rows = (np.random.RandomState(0).standard_normal((500, 3)) + 1e4).astype(np.float32)
    expected = Partition.of(rows.astype(np.float64) - 1e4, 5, np.random.RandomState(0))
    found = Partition.of(make(rows.astype(dtype)), 5, np.random.RandomState(0))
    np.testing.assert_array_equal(found.order, expected.order)
    np.testing.assert_array_equal(found.ends, expected.ends)
    np.testing.assert_allclose(found.centres, expected.centres + 1e4, rtol=1e-9)


def test_float32_rows_far_from_the_origin_lose_nothing():
    rows = (np.random.RandomState(0).standard_normal((400, 3)) + 1e4).astype(np.float32)
    errors = [
        BlockGram(KERNEL, some, n_clusters=5, random_state=0).frobenius_error(some)
        for some in (rows, rows.astype(np.float64))
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-5)
