"""Structured data: seconds of explicit features and of the peers, and accuracies next to the published ones.

Both sides of a row say what they compute: ours makes features, GraKeL and strkernels a Gram matrix. Processor seconds
of all threads are compared: neighbours on the machine change them less than the time that passes, and a second thread
gains nothing. Needs ``MERCER_DATA``; GraKeL and strkernels are optional, and their rows are left out without them. The
accuracies are those of ``benchmarks.structured_accuracy``, with one draw of the folds.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from benchmarks import structured_accuracy
from benchmarks.measure import Row
from benchmarks.structured_data import load, tu_graphs
from mercer import Normalized
from mercer.features import PartFeatures, SubsequenceSketch
from mercer.kernels import GappedKmers, Kernel, ShortestPath, Spectrum, Subsequence, WeisfeilerLehman
from mercer.structures import Graphs, Strings

_TEXT_BYTES = 4_000_000


def _seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the least processor seconds of some runs, of all threads together."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def text() -> Iterator[Row]:
    data = load("newsgroups20")
    n = int(np.searchsorted(data["offsets"], _TEXT_BYTES))
    X = Strings.of_arrays(data["text"][: data["offsets"][n]], data["offsets"][: n + 1])
    texts = [one.decode("latin-1") for one in X]
    peer = HashingVectorizer(analyzer="char", ngram_range=(3, 5), n_features=2**20, norm=None, lowercase=False)
    ours = PartFeatures(Spectrum(5, least=3), n_components=2**20, random_state=0).fit(X)
    few = X[:20]
    Z, K = ours.transform(few.astype(np.float64)), ours.kernel_(few)
    assert np.abs((Z @ Z.T).toarray() - K).max() < 8 * np.sqrt(ours.variance(few).max()) + 1e-9
    seconds = _seconds(lambda: ours.transform(X), 3), _seconds(lambda: peer.transform(texts), 1)
    yield Row(f"character 3-5-grams, 2^20 columns, {n} texts", "HashingVectorizer", *seconds, 30)


def _for_grakel(data: dict[str, Any]) -> list[Any]:
    graph = data["graph_indicator"]
    starts = np.searchsorted(graph, np.arange(graph.max() + 2))
    edges: list[dict[int, list[int]]] = [{} for _ in starts[:-1]]
    for u, v in data["edges"].tolist():
        edges[graph[u]].setdefault(u, []).append(v)
    labels = [{v: int(data["node_labels"][v]) for v in range(a, b)} for a, b in pairwise(starts)]
    return [(edges[i], labels[i]) for i in range(len(labels))]


def _packed_features(ours: PartFeatures, pack: Callable[[], Graphs]) -> object:
    return ours.transform(pack())


def graphs() -> Iterator[Row]:
    if find_spec("grakel") is None:
        return
    from grakel.kernels import ShortestPath as PeerPaths  # noqa: PLC0415 - optional
    from grakel.kernels import VertexHistogram, WeisfeilerLehmanOptimalAssignment  # noqa: PLC0415
    from grakel.kernels import WeisfeilerLehman as PeerRefinement  # noqa: PLC0415

    works: list[tuple[str, Kernel, Any, float]] = [
        ("nci1", WeisfeilerLehman(5), PeerRefinement(n_iter=5, base_graph_kernel=VertexHistogram), 300),
        ("enzymes", WeisfeilerLehman(5, counts="intersection"), WeisfeilerLehmanOptimalAssignment(n_iter=5), 700),
        ("nci1", ShortestPath(), PeerPaths(), 150),
    ]
    for name, kernel, peer, at_least in works:
        data, pack = tu_graphs(name)
        given, X = _for_grakel(data), pack()
        few = [i for i in range(60) if X.degrees[X.pointers()[i] : X.pointers()[i + 1]].all()][:30]
        np.testing.assert_array_equal(kernel(X[few]), peer.fit_transform([given[i] for i in few]))
        ours = PartFeatures(kernel, random_state=0).fit(X)
        seconds = _seconds(partial(_packed_features, ours, pack), 5), _seconds(partial(peer.fit_transform, given), 1)
        yield Row(f"{kernel!r} of {name}, edges to CSR", "GraKeL's Gram matrix", *seconds, at_least)


def gapped() -> Iterator[Row]:
    """Gapped 13-mers through 50 masks of 4000 sequences, against the seconds that our design has for FastSK.

    FastSK builds on old Pythons only: its 19.8 processor seconds were measured once, on another day.
    """
    dna = load("fastsk_dna")
    parts = [Strings.of_arrays(dna[f"CTCF_{part}_text"], dna[f"CTCF_{part}_offsets"]) for part in ("train", "test")]
    X = Strings.stack(parts)[:4000]
    ours = PartFeatures(GappedKmers(13, 7, alphabet="ACGT", fold_case=True), random_state=0).fit(X)
    few = X[:5]
    Z, K = ours.transform(few.astype(np.float64)), ours.kernel_(few)
    assert np.abs((Z @ Z.T).toarray() - K).max() < 0.2 * K.max()
    seconds = _seconds(lambda: ours.transform(X), 3)
    yield Row(f"gapped 13-mers, {len(X)} sequences", "FastSK's Gram, one stored run", seconds, 19.8, 50)


def subsequences() -> Iterator[Row]:
    """Features of 2000 random strings; Gram matrices of 60 of them, times the share of all pairs.

    strkernels computes the normalised sum over lengths 1 to 4; our features are those of length 4.
    """
    rng = np.random.RandomState(0)
    texts = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), size=100)) for _ in range(2000)]
    X, kernel, pairs = Strings(texts), Subsequence(4, 0.5), (2000 / 60) ** 2
    ours = SubsequenceSketch(kernel, n_components=1024, random_state=0).fit(X)
    few = X[:20].astype(np.float64)
    Z, K = ours.transform(few), kernel(few)
    # the mean squared error, relative to k(x, x) k(y, y), is at most its bound on average: 8 times that is a fault
    assert np.mean((Z @ Z.T - K) ** 2 / np.outer(np.diag(K), np.diag(K))) < 8 * (30 / 1024 + 100 / 1024**2)
    seconds = _seconds(lambda: ours.transform(X), 3)
    what = "subsequences of 4 letters, 2000 strings"
    yield Row(what, "our exact Gram, scaled", seconds, pairs * _seconds(lambda: kernel(X[:60]), 1), 1)
    if find_spec("strkernels") is None:
        return
    from strkernels import SubsequenceStringKernel  # noqa: PLC0415 - optional

    peer, some = SubsequenceStringKernel(maxlen=4, ssk_lambda=0.5), np.array(texts[:60])
    whole = Normalized(Subsequence(1, 0.5) + Subsequence(2, 0.5) + Subsequence(3, 0.5) + kernel)
    np.testing.assert_allclose(peer(some[:5], some[:5]), whole(X[:5]), rtol=1e-6)
    yield Row(what, "strkernels' Gram, scaled", seconds, pairs * _seconds(lambda: peer(some, some), 1), 2500)


def growth() -> Iterator[Row]:
    """Ten times the graphs take ten times the seconds, within 15 %."""
    _, pack = tu_graphs("nci1")
    X = pack()
    few, many = X[:400], X[:4000]
    ours = PartFeatures(WeisfeilerLehman(5), random_state=0).fit(few)
    seconds = _seconds(lambda: ours.transform(many), 20), 10 * _seconds(lambda: ours.transform(few), 50)
    yield Row("WeisfeilerLehman(5), 4000 graphs of nci1", "ten times the seconds of 400", *seconds, 1 / 1.15)


def rows() -> Iterator[Row]:
    yield from text()
    yield from graphs()
    yield from gapped()
    yield from subsequences()
    yield from growth()
    yield from structured_accuracy.rows()
