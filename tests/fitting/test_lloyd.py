"""Lloyd's iteration and mini-batches on rows of features, against the loop over all distances."""

import numpy as np
import pytest
from maps import Squares

from mercer import config_context
from mercer.data import as_blocks
from mercer.engines import Local
from mercer.fitting import Assignment, FeatureRows, Passes, Sample, Targets, lloyd, mini_batches
from mercer.solvers import Heads, NearestCentres, leading_directions


def _rows(X, weight=None, *, block_rows=64):
    blocks = as_blocks(X, sample_weight=weight, block_rows=block_rows)
    sample = Sample(X, np.ones(len(X)))
    return FeatureRows(Squares(), blocks, Targets("Test"), Passes("Test", Local()), sample)


def _blobs(rng, n_rows=600):
    return np.vstack([rng.normal(2 * i, 0.6, (n_rows // 3, 2)) for i in range(3)])


def _nearest(rows, n_clusters, *, with_heads=False):
    Z = np.hstack([rows.sample.rows, rows.sample.rows**2])
    heads = Heads(rows.n_rows, leading_directions(Z, 2)) if with_heads else None
    return NearestCentres(rows.n_rows, n_clusters, heads, rows.dtype)


def _by_hand(Z, weight, centres, n_passes):
    """Lloyd's algorithm over all distances: the centres, the labels, and the inertia after each pass."""
    inertia = []
    for _ in range(n_passes + 1):
        distances = ((Z[:, None, :] - centres) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        inertia.append(float(weight @ distances.min(axis=1)))
        last, members = centres, [labels == c for c in range(len(centres))]
        centres = np.array([np.average(Z[own], axis=0, weights=weight[own]) for own in members])
    return last, labels, inertia


@pytest.mark.parametrize("kept", ["nothing", "labels", "heads"])
@pytest.mark.parametrize("memory", [None, "10kB"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_pass_is_that_of_the_loop(rng, kept, memory, weighted):
    X = _blobs(rng)
    weight = rng.rand(len(X)) + 0.1 if weighted else None
    Z = np.hstack([X, X**2])
    centres, labels, inertia = _by_hand(Z, np.ones(len(X)) if weight is None else weight, Z[[0, 1, 500]], 3)
    with config_context(memory=memory):
        rows = _rows(X, weight)
        nearest = None if kept == "nothing" else _nearest(rows, 3, with_heads=kept == "heads")
        assignment = Assignment(rows, 3, nearest)
        solution = lloyd(assignment, Z[[0, 1, 500]], tol=0.0, max_iter=3)
    assert rows.holds == (memory is None and kept != "nothing")
    np.testing.assert_allclose(solution.value, centres, rtol=1e-10)
    np.testing.assert_allclose(solution.history, inertia, rtol=1e-10)
    if kept == "nothing":
        assert assignment.labels is None
    else:
        np.testing.assert_array_equal(assignment.labels, labels)


def test_it_ends_where_the_centres_settle(rng):
    X = _blobs(rng)
    Z = np.hstack([X, X**2])
    rows = _rows(X)
    solution = lloyd(Assignment(rows, 3, _nearest(rows, 3)), Z[[0, 300, 599]], tol=1e-4, max_iter=300)
    assert solution.success
    assert 0 < solution.iterations < 50
    assert solution.iterations == len(solution.history) - 1
    short = lloyd(Assignment(_rows(X), 3), Z[[0, 1, 2]], tol=0.0, max_iter=1)
    assert short.status == "iteration limit"
    assert "raise max_iter" in short.advice


def test_an_empty_cluster_begins_again_at_the_farthest_row(rng):
    X = np.vstack([_blobs(rng), [[30.0, 30.0]]])
    Z = np.hstack([X, X**2])
    far_away = np.vstack([Z[[0, 300]], np.full((1, 4), -1e6)])  # the last one is nearest to no row
    for kept in (False, True):
        rows = _rows(X)
        assignment = Assignment(rows, 3, _nearest(rows, 3) if kept else None)
        assignment.assign(far_away)
        assert assignment.sums.empty().tolist() == [2]
        np.testing.assert_allclose(assignment.means(far_away)[2], Z[-1])
        assert assignment.farthest(far_away, 2).distances[0] > assignment.farthest(far_away, 2).distances[1]


def test_mini_batches_move_each_centre_to_the_mean_of_its_rows(rng):
    X = _blobs(rng)
    Z = np.hstack([X, X**2])
    rows = _rows(X)
    centres, weight = Z[[0, 300, 599]].copy(), np.zeros(3)
    for start in range(0, 600, 50):
        batch = Z[start : start + 50]
        labels = ((batch[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
        for c in np.unique(labels):
            own = batch[labels == c]
            weight[c] += len(own)
            centres[c] += (own - centres[c]).sum(axis=0) / weight[c]
    assignment = Assignment(rows, 3, _nearest(rows, 3))
    solution = mini_batches(assignment, Z[[0, 300, 599]], batch_size=50, tol=0.0, max_iter=1)
    np.testing.assert_allclose(solution.value, centres, rtol=1e-10)
    np.testing.assert_array_equal(assignment.labels, ((Z[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1))


def test_a_first_pass_that_runs_out_of_memory_begins_again(rng):
    """Rows that were assigned before the failure are assigned once, on features that are no longer held."""
    X = _blobs(rng)
    Z = np.hstack([X, X**2])
    expected = Assignment(_rows(X), 3)
    expected.assign(Z[[0, 300, 599]])
    for fails_at in (None, 200):
        rows = _rows(X)
        assignment = Assignment(rows, 3, _nearest(rows, 3, with_heads=True))
        rows.feature_map.n_made, rows.feature_map.fails_at = 0, fails_at
        assignment.assign(Z[[0, 300, 599]])
        assert rows.holds == (fails_at is None)
        np.testing.assert_allclose(assignment.sums.sums, expected.sums.sums, rtol=1e-12)
        np.testing.assert_array_equal(assignment.sums.weight, expected.sums.weight)
        labels = ((Z[:, None, :] - Z[[0, 300, 599]]) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(assignment.labels, labels)
