"""Nearest centres, by heads and by candidates: compiled against reference, and both against all distances."""

import numpy as np
import pytest
from oracle import strided

from mercer import _core, core, reference
from mercer.core import ClusterChanges, ClusterDoubts, ClusterHeads, ClusterRows, ClusterScale

SHAPES = [(1, 1, 1), (5, 2, 3), (13, 4, 8), (40, 7, 19), (100, 10, 33), (50, 70, 12), (30, 130, 9)]  # rows, k, features


def draw(n, k, d, dtype, n_labelled):
    rng = np.random.default_rng([n, k, d])
    Z, centres = rng.standard_normal((n, d)).astype(dtype), rng.standard_normal((k, d)).astype(dtype)
    labels = np.where(np.arange(n) < n_labelled, rng.integers(k, size=n), -1).astype(np.int32)
    norms = np.where(labels < 0, np.nan, np.square(Z.astype(float)).sum(axis=1))
    return rng, Z, centres, labels, norms, rng.random(n).astype(np.float32)


def words(possible):
    """Bits of rows (down) by centres (across), 64 to a word."""
    n_words = -(-possible.shape[1] // 64)
    padded = np.zeros((len(possible), n_words * 64), dtype=np.uint64)
    padded[:, : possible.shape[1]] = possible
    bits = padded.reshape(len(possible), n_words, 64) << np.arange(64, dtype=np.uint64)
    return bits.sum(axis=2, dtype=np.uint64)


@pytest.mark.parametrize(("n", "k", "d"), SHAPES)
@pytest.mark.parametrize("gathered", [False, True], ids=["of all rows", "of the rows"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by", ["products", "candidates"])
def test_nearest_centres(level, dtype, n, k, d, gathered, weighted, by):
    rng, Z, centres, labels, norms, margins = draw(n, k, d, dtype, n // 2 if by == "products" else n)
    rows = np.flatnonzero(rng.random(n) < 0.8) if n > 1 else np.arange(1)
    weight = rng.random(n) if weighted else np.zeros(0)
    slack, longest = 8 * np.finfo(dtype).eps * d**0.5, np.square(centres.astype(float)).sum(axis=1).max()
    exact = np.square(Z[rows, None].astype(float) - centres).sum(axis=2)
    possible = exact <= exact.min(axis=1)[:, None] + rng.choice([0, 5, 50], size=(len(rows), 1))
    candidates = words(possible) if by == "candidates" else np.zeros((len(rows), 0), np.uint64)
    products = np.zeros((len(rows), 0), dtype) if by == "candidates" else Z[rows] @ centres.T
    results = []
    for primitives in (core, reference):
        state = ClusterRows(norms.copy(), labels.copy(), margins.copy())
        changes = ClusterChanges(weight, np.zeros((k, d)), np.zeros(k))
        features = Z[rows] if gathered else Z
        if primitives is core:
            features, products = strided(features), strided(products)
        doubts, scale = ClusterDoubts(rows, candidates), ClusterScale(slack, longest)
        moves = primitives.nearest_centres(features, doubts, products, centres, scale, state, changes)
        results.append((moves, *state, *changes[1:]))
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][2], results[1][2])
    eps = np.finfo(dtype).eps
    for got, expected in zip(results[0][1:], results[1][1:], strict=True):
        # margins are differences of squares: rounding of these is what may be off
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=64 * d * eps)
    np.testing.assert_array_equal(results[0][2][rows], exact.argmin(axis=1))
    member = np.zeros((k, n))
    member[results[0][2][rows], rows] += weight[rows] if weighted else 1.0
    known = rows[labels[rows] >= 0]
    member[labels[known], known] -= weight[known] if weighted else 1.0
    np.testing.assert_allclose(results[0][4], member @ Z.astype(float), atol=1e-12)
    np.testing.assert_allclose(results[0][5], member.sum(axis=1), atol=1e-13)
    several = possible.sum(axis=1) > 1 if by == "candidates" else np.ones(len(rows), dtype=bool)
    np.testing.assert_array_equal(results[0][3][rows[~several]], margins[rows[~several]])
    if k > 1:
        distances = np.sort(np.sqrt(np.where(possible, exact, np.inf) if by == "candidates" else exact), axis=1)
        assert (results[0][3][rows] <= distances[:, 1] - distances[:, 0])[several].all()


def cut(vectors, h):
    """Heads on the first h axes, and the rests."""
    heads, rests = vectors[:, :h].astype(np.float32), vectors.copy()
    rests[:, :h] = 0
    return heads, rests


def of_centres(centres, h):
    heads, rests = cut(centres, h)
    spreads = np.linalg.norm(rests - rests.mean(axis=0), axis=1)
    sizes = np.vstack([np.square(centres).sum(axis=1), np.linalg.norm(rests, axis=1), spreads])
    apart = np.linalg.norm(rests[:, None] - rests, axis=2)
    return heads, (sizes * (1 + 1e-6)).astype(np.float32), (apart * (1 + 1e-6)).astype(np.float32)


@pytest.mark.parametrize(
    ("n", "k", "h"), [(1, 1, 1), (7, 3, 4), (100, 6, 8), (333, 11, 19), (200, 70, 40), (64, 130, 9)]
)
@pytest.mark.parametrize("rest", [0.0, 0.02, 0.2, 2.0])
def test_rows_in_doubt(level, n, k, h, rest):
    rng = np.random.default_rng([n, k, h])
    scale = np.where(np.arange(h + 5) < h, 1.0, rest)
    Z, centres = scale * rng.standard_normal((n, h + 5)), scale * rng.standard_normal((k, h + 5))
    exact = np.square(Z[:, None] - centres).sum(axis=2)
    labels = np.where(rng.random(n) < 0.7, exact.argmin(axis=1), rng.integers(k, size=n)).astype(np.int32)
    moved = rng.random(k).astype(np.float32)
    margins = np.where(rng.random(n) < 0.3, 2.0, 0.0).astype(np.float32)
    heads, rests = cut(Z, h)
    rests = (np.linalg.norm(rests, axis=1) * (1 + 1e-6)).astype(np.float32)
    norms, longest = np.square(Z).sum(axis=1), np.square(centres).sum(axis=1).max()
    slack = 8 * np.finfo(np.float32).eps * (h + 5) ** 0.5
    results = []
    for primitives in (core, reference):
        state = ClusterRows(norms, labels, margins.copy())
        doubts = ClusterDoubts(np.full(n, -1), np.zeros((n, -(-k // 64)), np.uint64))
        table = ClusterHeads(strided(heads) if primitives is core else heads, rests, *of_centres(centres, h))
        count = primitives.rows_in_doubt(moved, table, ClusterScale(slack, longest), state, doubts)
        results.append((state.margins, doubts.rows[:count], doubts.candidates[:count]))
    np.testing.assert_array_equal(results[0][1], results[1][1])
    np.testing.assert_array_equal(results[0][2], results[1][2])
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-4, atol=2e-5 * longest)
    n_several = _check_candidates(*results[0], exact, labels, margins - moved[labels])
    if n > 50 and rest == 0:
        assert n_several < n / 20
    if n > 50 and rest == 2:
        assert n_several > n / 4


def _check_candidates(found, doubt, bits, exact, labels, left):
    """Check margins and candidates against all squared distances; return how many rows have several candidates."""
    (n, k), kept = exact.shape, left > 0
    np.testing.assert_allclose(found[kept], left[kept], rtol=1e-6)
    assert not kept[doubt].any()
    chosen = np.zeros((n, k), dtype=bool)
    chosen[~kept, labels[~kept]] = True
    number = np.arange(k, dtype=np.uint64)
    chosen[doubt] = bits[:, number // 64] >> number % 64 & np.uint64(1)
    judged = np.flatnonzero(~kept)
    assert chosen[judged, exact[judged].argmin(axis=1)].all()  # never without the nearest
    single = judged[chosen[judged].sum(axis=1) == 1]
    several = judged[chosen[judged].sum(axis=1) > 1]
    if k > 1:
        distances = np.sort(np.sqrt(exact[single]), axis=1)
        assert (found[single] <= distances[:, 1] - distances[:, 0]).all()
        assert (found[single] > 0).all()
    own = exact[several].min(axis=1)
    others = np.where(chosen[several], np.inf, exact[several]).min(axis=1)
    assert (found[several] <= others - own).all()
    return len(several)


def test_without_heads_rows_without_a_margin_are_in_doubt(level):
    margins, doubt = np.array([1.0, 0.1, 0.3], np.float32), np.zeros(3, dtype=np.int64)
    empty, sizes = np.zeros((3, 0), np.float32), np.zeros((3, 2), np.float32)
    for primitives in (core, reference):
        count = primitives.rows_in_doubt(
            np.array([0.2, 0.4], np.float32),
            ClusterHeads(empty, np.zeros(3, np.float32), empty[:2], sizes, empty[:0]),
            ClusterScale(0.0, 1.0),
            ClusterRows(np.ones(3), np.array([1, 0, 1], np.int32), margins.copy()),
            ClusterDoubts(doubt, np.zeros((3, 0), np.uint64)),
        )
        assert doubt[:count].tolist() == [1, 2]


def _arguments():
    _, Z, centres, labels, norms, margins = draw(6, 3, 4, np.float64, 3)
    return {
        "Z": Z,
        "rows": np.arange(6),
        "candidates": np.ones((6, 1), np.uint64),
        "products": np.zeros((6, 0)),
        "centres": centres,
        "slack": 0.0,
        "longest": 1.0,
        "weight": np.ones(6),
        "norms": norms,
        "labels": labels,
        "margins": margins,
        "sums": np.zeros((3, 4)),
        "totals": np.zeros(3),
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Z", np.zeros((5, 4)), r"Z.shape\[0\] must be len\(labels\) = 6, got 5"),
        ("rows", np.array([0, 1, 2, 3, 4, 6]), r"rows must lie in \[0, len\(labels\)\) = \[0, 6\)"),
        ("rows", np.array([0, 1, 2, 3, 4, -1]), "rows must lie in"),
        ("candidates", np.ones((5, 1), np.uint64), r"candidates.shape\[0\] must be len\(rows\) = 6, got 5"),
        ("candidates", np.ones((6, 2), np.uint64), r"candidates.shape\[1\] must be words of 64 centres = 1, got 2"),
        ("candidates", np.ones((6, 0), np.uint64), r"candidates.shape\[1\] must be words of 64 centres = 1, got 0"),
        ("products", np.zeros((5, 3)), r"products.shape\[0\] must be len\(rows\) = 6, got 5"),
        ("products", np.zeros((6, 2)), r"products.shape\[1\] must be centres.shape\[0\] = 3, got 2"),
        ("centres", np.zeros((3, 5)), r"centres.shape\[1\] must be Z.shape\[1\] = 4, got 5"),
        ("weight", np.ones(5), r"len\(weight\) must be len\(labels\) = 6, got 5"),
        ("norms", np.ones(5), r"len\(norms\) must be len\(labels\) = 6, got 5"),
        ("labels", np.full(6, 3, dtype=np.int32), r"labels must lie in \[-1, centres.shape\[0\]\)"),
        ("margins", np.zeros(5, dtype=np.float32), r"len\(margins\) must be len\(labels\) = 6, got 5"),
        ("sums", np.zeros((2, 4)), r"sums.shape\[0\] must be centres.shape\[0\] = 3, got 2"),
        ("sums", np.zeros((3, 5)), r"sums.shape\[1\] must be centres.shape\[1\] = 4, got 5"),
        ("totals", np.zeros(4), r"len\(totals\) must be centres.shape\[0\] = 3, got 4"),
    ],
)
def test_the_border_names_what_is_wrong(name, value, message):
    with pytest.raises(ValueError, match=message):
        _core.nearest_centres(**{**_arguments(), name: value})


def _doubtful():
    single = np.float32
    return {
        "moved": np.zeros(2, single),
        "heads": np.zeros((4, 3), single),
        "rests": np.zeros(4, single),
        "centre_heads": np.zeros((2, 3), single),
        "centre_sizes": np.zeros((3, 2), single),
        "apart": np.zeros((2, 2), single),
        "slack": 0.0,
        "longest": 1.0,
        "norms": np.zeros(4),
        "labels": np.zeros(4, np.int32),
        "margins": np.zeros(4, single),
        "doubt": np.zeros(4, np.int64),
        "candidates": np.zeros((4, 1), np.uint64),
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("heads", np.zeros((3, 3), np.float32), r"heads.shape\[0\] must be len\(labels\) = 4, got 3"),
        ("rests", np.zeros(3, np.float32), r"len\(rests\) must be len\(labels\) = 4, got 3"),
        ("centre_heads", np.zeros((3, 3), np.float32), r"centre_heads.shape\[0\] must be len\(moved\) = 2, got 3"),
        ("centre_heads", np.zeros((2, 4), np.float32), r"centre_heads.shape\[1\] must be heads.shape\[1\] = 3, got 4"),
        (
            "centre_sizes",
            np.zeros((2, 2), np.float32),
            r"centre_sizes.shape\[0\] must be lengths, rests and spreads",
        ),
        ("centre_sizes", np.zeros((3, 1), np.float32), r"centre_sizes.shape\[1\] must be len\(moved\) = 2, got 1"),
        ("apart", np.zeros((2, 3), np.float32), r"apart.shape\[1\] must be len\(moved\) = 2, got 3"),
        ("norms", np.zeros(3), r"len\(norms\) must be len\(labels\) = 4, got 3"),
        ("labels", np.full(4, 2, np.int32), r"labels must lie in \[0, len\(moved\)\) = \[0, 2\)"),
        ("labels", np.full(4, -1, np.int32), r"labels must lie in \[0, len\(moved\)\)"),
        ("margins", np.zeros(3, np.float32), r"len\(margins\) must be len\(labels\) = 4, got 3"),
        ("doubt", np.zeros(3, np.int64), r"len\(doubt\) must be len\(labels\) = 4, got 3"),
        ("candidates", np.zeros((3, 1), np.uint64), r"candidates.shape\[0\] must be len\(labels\) = 4, got 3"),
        ("candidates", np.zeros((4, 2), np.uint64), r"candidates.shape\[1\] must be words of 64 centres = 1, got 2"),
    ],
)
def test_the_border_of_doubts(name, value, message):
    with pytest.raises(ValueError, match=message):
        _core.rows_in_doubt(**{**_doubtful(), name: value})
