"""MEKA: exact where it should be, positive semi-definite, and a map out of sample."""

import os
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import MEKA, Gaussian, LowRankGram, Nystroem, config_context
from mercer.gram import meka as module
from mercer.gram.partition import nearest

KERNEL = Gaussian(gamma=1.0)
X = np.random.RandomState(0).standard_normal((150, 2))


@parametrize_with_checks([MEKA(), MEKA(n_clusters=1, rank=3, psd="shift")])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def test_one_cluster_is_nystroem():
    meka = MEKA(KERNEL, n_clusters=1, rank=12, random_state=0).fit(X)
    (cluster,) = meka.maps_
    nystroem = Nystroem(KERNEL, n_components=24, landmarks=cluster.landmark_indices_, rank=12).fit(
        X[meka.partition_.order]
    )
    Z = nystroem.transform(X)
    np.testing.assert_allclose(meka.to_dense(), Z @ Z.T, atol=1e-10)
    np.testing.assert_allclose(meka.link_, np.eye(12), atol=1e-12)
    assert meka.shift_ == 0


@pytest.mark.parametrize("psd", ["clip", "shift", None])
def test_at_the_rank_of_the_clusters_all_is_exact(psd):
    rows = X[:24]
    meka = MEKA(Gaussian(gamma=20.0), n_clusters=3, rank=24, psd=psd, random_state=0).fit(rows)
    K = Gaussian(gamma=20.0)(rows)
    labels = nearest(rows, meka.partition_.centres)
    same = labels[:, None] == labels[None, :]
    np.testing.assert_allclose(meka.to_dense()[same], K[same], atol=1e-7)
    np.testing.assert_allclose(meka.to_dense(), K, atol=1e-7)


def test_links_are_the_least_squares_of_the_sampled_blocks(monkeypatch):
    monkeypatch.setattr(module, "_LINK_ROWS", 1000)  # all rows: the fit is then to the whole block
    meka = MEKA(KERNEL, n_clusters=3, rank=6, psd=None, random_state=0).fit(X)
    parts = [meka.partition_.order[part] for part in meka.partition_.slices]
    for s in range(3):
        for t in range(3):
            if s != t:
                block = KERNEL(X[parts[s]], X[parts[t]])
                W, V = meka.features_[s], meka.features_[t]
                link = np.linalg.lstsq(W, np.linalg.lstsq(V, block.T, rcond=None)[0].T, rcond=None)[0]
                np.testing.assert_allclose(meka.link_[meka._places[s], meka._places[t]], link, atol=1e-6)


def test_the_link_matrix_is_made_positive_semi_definite_and_the_shift_reported():
    # A wide kernel on many clusters: the features of a cluster cannot carry what links it to the others.
    rows = np.random.RandomState(0).standard_normal((150, 4))
    wide = Gaussian(gamma=0.1)
    fits = {psd: MEKA(wide, n_clusters=8, rank=3, psd=psd, random_state=0).fit(rows) for psd in (None, "clip", "shift")}
    lowest = np.linalg.eigvalsh(fits[None].link_).min()
    assert lowest < -1e-3
    assert np.isnan(fits[None].shift_)
    for psd in ("clip", "shift"):
        assert fits[psd].shift_ == pytest.approx(-lowest, rel=1e-6)
        assert np.linalg.eigvalsh(fits[psd].link_).min() > -1e-9
        assert np.linalg.eigvalsh(fits[psd].to_dense()).min() > -1e-9
    np.testing.assert_allclose(
        fits["shift"].link_, fits[None].link_ - lowest * np.eye(len(fits[None].link_)), atol=1e-9
    )
    changes = {psd: np.linalg.norm(fits[psd].link_ - fits[None].link_) for psd in ("clip", "shift")}
    assert changes["clip"] < changes["shift"]


def test_features_are_those_of_the_operator_and_serve_out_of_sample():
    rows, new = X[:100], X[100:]
    meka = MEKA(KERNEL, n_clusters=3, rank=15, random_state=0).fit(rows)
    Z = meka.transform(rows)
    np.testing.assert_allclose(Z @ Z.T, meka.to_dense(), atol=1e-9)
    across = meka.transform(new) @ Z.T
    inside = meka.frobenius_error(rows)
    assert np.linalg.norm(across - KERNEL(new, rows)) / np.linalg.norm(KERNEL(new, rows)) < 5 * inside + 0.05
    assert meka.transform(new.astype(np.float32)).dtype == np.float32


def test_it_is_between_block_and_low_rank_in_memory_and_better_than_nystroem_of_equal_memory():
    rng = np.random.RandomState(0)
    rows = (rng.standard_normal((600, 4)) + 6 * rng.randint(0, 2, (600, 4))).astype(np.float32)
    kernel = Gaussian(gamma=0.5)
    meka = MEKA(kernel, n_clusters=8, rank=10, random_state=0).fit(rows)
    nystroem = LowRankGram.of(Nystroem(kernel, n_components=20, random_state=0).fit(rows), rows)
    links = 2 * 8 * meka.link_.size
    assert sum(W.nbytes for W in meka.features_) <= 600 * 10 * 4
    assert (
        meka.memory_bytes
        <= 600 * (10 * 4 + 8)
        + links
        + sum(
            cluster.landmarks_.nbytes + cluster.projection_.nbytes + cluster._inverse_root.nbytes
            for cluster in meka.maps_
        )
        + meka.partition_.centres.nbytes
        + meka.partition_.ends.nbytes
    )
    assert meka.frobenius_error(rows) < nystroem.frobenius_error(rows)


def test_it_is_seeded_cloned_and_pickled():
    meka = MEKA(KERNEL, n_clusters=3, rank=5, random_state=0).fit(X)
    K = meka.to_dense()
    np.testing.assert_array_equal(clone(meka).fit(X).to_dense(), K)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(meka)).to_dense(), K)
    with config_context(threads=1):
        np.testing.assert_array_equal(clone(meka).fit(X).to_dense(), K)
    assert meka.set_params(kernel__gamma=2.0).kernel == Gaussian(gamma=2.0)


def test_the_peak_of_a_fit_is_within_a_third_of_what_is_kept():
    rows = np.random.RandomState(0).standard_normal((20_000, 10)).astype(np.float32)
    meka = MEKA(Gaussian(gamma=0.1), n_clusters=5, rank=40, random_state=0)
    clone(meka).fit(rows[:1000])  # what is imported and cached on first use is not the fit's
    tracemalloc.start()
    try:
        with config_context(threads=1):  # each thread has scratch memory of its own
            meka.fit(rows)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 4 / 3 * meka.memory_bytes


class TestBadInput:
    def test_empty_clusters_are_dropped(self):
        rows = np.repeat(X[:2], 10, axis=0)
        meka = MEKA(KERNEL, n_clusters=6, rank=3, random_state=0).fit(rows)
        assert len(meka.maps_) == 2
        np.testing.assert_allclose(meka.to_dense(), KERNEL(rows), atol=1e-9)

    def test_one_row(self):
        np.testing.assert_allclose(MEKA(KERNEL).fit(X[:1]).to_dense(), [[1.0]])

    def test_parameters(self):
        with pytest.raises(ValueError, match="MEKA: rank must be an integer >= 1, got 0"):
            MEKA(KERNEL, rank=0).fit(X)
        with pytest.raises(ValueError, match="MEKA: psd must be 'clip', 'shift' or None, got 'fix'"):
            MEKA(KERNEL, psd="fix").fit(X)
        with pytest.raises(ValueError, match=r"Write Gaussian\(gamma=1.0\)"):
            MEKA("rbf").fit(X)
        unfixed = MEKA(KERNEL, psd=None, random_state=0).fit(X)
        with pytest.raises(ValueError, match="transform needs a positive semi-definite link matrix"):
            unfixed.transform(X)
        with pytest.raises(ValueError, match="solve needs a positive semi-definite link matrix"):
            unfixed.solve(X[:, 0], alpha=1.0)

    def test_the_memory_budget(self):
        with config_context(memory="3kB"), pytest.raises(MemoryError, match="MEKA: rank=20 needs"):
            MEKA(KERNEL).fit(X)


DATA = os.environ.get("MERCER_DATA")


@pytest.mark.skipif(not DATA, reason="MERCER_DATA does not name the folder of the real data sets")
def test_ijcnn1_reaches_the_reference_error():
    # The reference implementation (MATLAB) reports 0.0401 at gamma = 1 and rank 500.
    with np.load(Path(DATA) / "ijcnn1.npz") as data:
        rows = data["X_train"].astype(np.float32)
    meka = MEKA(KERNEL, n_clusters=10, rank=50, random_state=0).fit(rows)
    assert meka.frobenius_error(rows, n_sampled=200) <= 0.0401


def test_float32_rows_far_from_the_origin_lose_nothing():
    """Float32 features have their own rounding; clusters and landmarks are those of float64 rows."""
    rows = (np.random.RandomState(0).standard_normal((600, 3)) + 1e4).astype(np.float32)
    single, double = (
        MEKA(KERNEL, n_clusters=5, rank=10, random_state=0).fit(some) for some in (rows, rows.astype(float))
    )
    for one, other in zip(single.maps_, double.maps_, strict=True):
        np.testing.assert_array_equal(one.landmarks_, other.landmarks_)
    assert single.frobenius_error(rows) == pytest.approx(double.frobenius_error(rows), rel=1e-2)
    labels = nearest(rows, single.partition_.centres)
    np.testing.assert_array_equal(labels, nearest(rows.astype(float), double.partition_.centres))
