"""Keys, counts and hashes: the compiled core equals NumPy, and both the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _core, reference
from mercer.reference.hashing import PRIME, bucket_and_sign, joined, mixed64, times_mod
from mercer.structures import Graphs, Strings, Trees

BASE, SEED = 1234567890123456789 % int(PRIME), 2**64 - 59
CODES = np.full(256, 255, dtype=np.uint8)
CODES[np.frombuffer(b"acgt", np.uint8)] = np.arange(4)
COMPLEMENT = np.zeros(256, dtype=np.uint8)
COMPLEMENT[:4] = [3, 2, 1, 0]
NOBODY = np.empty(0, dtype=np.uint8)

texts = st.lists(st.text("acgtn", max_size=12), min_size=1, max_size=4).map(Strings)


@st.composite
def graphs(draw):
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(0, 6))
        pairs = st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, max(n - 1, 0)))
        edges = list({tuple(sorted(e)): None for e in draw(st.lists(pairs, max_size=8))}) if n else []
        labels = draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))
        parts.append((edges, labels, draw(st.lists(st.integers(0, 1), min_size=len(edges), max_size=len(edges)))))
    return Graphs(parts)


@st.composite
def trees(draw):
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(1, 7))
        labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        parts.append((labels, [-1, *(draw(st.integers(0, v - 1)) for v in range(1, n))]))
    return Trees(parts)


def both(name, given, *outs):
    """Run the compiled function and its twin on copies of the results' arrays; return the results of each."""
    results = []
    for module in (_core, reference):
        filled = [out.copy() for out in outs]
        number = getattr(module, name)(*given, *filled)
        results.append([number, *filled])
    return results


def assert_same(results, n_used=None):
    (n, *got), (expected_n, *expected) = results
    assert n == expected_n
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a[:n_used], b[:n_used])


def assert_same_counts(results):
    """Compare pointers, keys, values and squares; the compiled loop may leave other numbers behind the last key."""
    (_, *got), (_, *expected) = results
    end = expected[0][-1]
    for place, (a, b) in enumerate(zip(got, expected, strict=True)):
        n_used = end if place in (1, 2) else None
        np.testing.assert_array_equal(a[:n_used], b[:n_used])


@settings(max_examples=20)
@given(texts, st.integers(1, 3), st.integers(0, 2), st.sampled_from([0, 2, 8]), st.booleans())
def test_string_keys(X, least, more, bits, placed):
    outs = [np.zeros(len(X) + 1, np.int64), np.zeros(200, np.uint64), np.zeros(200, np.uint8)]
    given = (X.text, X.pointers(), CODES, least, least + more, bits, BASE, placed)
    assert_same(both("string_keys", given, *outs))


@settings(max_examples=30)
@given(texts, st.integers(1, 3), st.integers(0, 3), st.sampled_from([2, 8]))
def test_count_substrings(X, least, more, bits):
    """Runs shorter than the longest length, and letters that end a run, are counted as the keys one by one are."""
    outs = [np.zeros(len(X) + 1, np.int64), np.zeros(200, np.uint64), np.zeros(200), np.zeros(len(X))]
    given = (X.text, X.pointers(), CODES, least, least + more, bits)
    results = both("count_substrings", given, *outs)
    assert_same_counts(results)
    pointers, keys = np.zeros(len(X) + 1, np.int64), np.zeros(200, np.uint64)
    n = _core.string_keys(*given, BASE, False, pointers, keys, NOBODY)
    _core.count_keys(pointers, keys[:n], np.empty(0), 0, *outs)
    np.testing.assert_array_equal(results[0][1], outs[0])
    np.testing.assert_array_equal(results[0][4], outs[3])
    for a, b in zip(outs[0][:-1], outs[0][1:], strict=True):
        one, other = np.argsort(results[0][2][a:b]), np.argsort(outs[1][a:b])
        np.testing.assert_array_equal(results[0][2][a:b][one], outs[1][a:b][other])
        np.testing.assert_array_equal(results[0][3][a:b][one], outs[2][a:b][other])


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(-(2**40), 2**40), max_size=6), min_size=1, max_size=4), st.integers(1, 3))
def test_token_keys(rows, length):
    tokens = np.array([token for row in rows for token in row], dtype=np.int64)
    offsets = np.cumsum([0] + [len(row) for row in rows])
    outs = [np.zeros(len(rows) + 1, np.int64), np.zeros(80, np.uint64)]
    assert_same(both("token_keys", (tokens, offsets, 1, length, BASE), *outs))


@settings(max_examples=20)
@given(texts, st.sampled_from([0, 2]), st.booleans())
def test_masked_keys(X, bits, both_strands):
    masks = np.array([[0, 1], [0, 2], [2, 3]], dtype=np.int32)
    outs = [np.zeros(len(X) + 1, np.int64), np.zeros(400, np.uint64)]
    complement = COMPLEMENT if both_strands else NOBODY
    assert_same(both("masked_keys", (X.text, X.pointers(), CODES, masks, 4, bits, BASE, complement), *outs))


@settings(max_examples=20)
@given(texts, st.booleans())
def test_agreement_sums(X, both_strands):
    given = (X.text, X.pointers(), CODES, COMPLEMENT if both_strands else NOBODY, np.array([0.0, 1.0, 10.0, 100.0]))
    assert_same(both("agreement_sums", given, np.zeros(len(X))))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(-1, 7), st.integers(0, 7)), max_size=12), st.lists(st.integers(0, 3), max_size=4))
def test_adjacency(edges, sizes):
    """Repeated edges, loops, edges between graphs, and edges to nodes that are not there."""
    starts = np.cumsum([0, *sizes])
    given = np.array(edges, dtype=np.int64).reshape(-1, 2)
    outs = [np.zeros(starts[-1], np.int32), np.zeros(2 * len(edges), np.int32)]
    (n, *got), (expected_n, *expected) = both("adjacency", (given, starts), *outs)
    assert n == expected_n
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a[: max(n, 0)], b[: max(n, 0)])
    whole = np.zeros((starts[-1],) * 2, dtype=bool)
    if n >= 0:
        whole[given[:, 0], given[:, 1]] = whole[given[:, 1], given[:, 0]] = True
        np.testing.assert_array_equal(got[0], whole.sum(axis=1))


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12),
    st.integers(0, 1),
    st.booleans(),
    st.booleans(),
)
def test_adjacency_of_edges_in_order(edges, column, one_way, swapped):
    """Edges in the order of one column, in both directions or, for one of them, not; graphs in order or not."""
    pairs = sorted({e for u, v in edges for e in ((u, v), (v, u))}, key=lambda e: (e[column], e[1 - column]))
    given = np.array(pairs[: len(pairs) - one_way], dtype=np.int64).reshape(-1, 2)
    given = np.concatenate([given, given + 6])
    if swapped:
        given = np.concatenate([given[len(given) // 2 :], given[: len(given) // 2]])
    outs = [np.zeros(12, np.int32), np.zeros(2 * len(given), np.int32)]
    (n, *got), (expected_n, *expected) = both("adjacency", (given, np.array([0, 6, 12])), *outs)
    assert n == expected_n
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1][:n], expected[1][:n])


@settings(max_examples=20)
@given(graphs(), st.integers(0, 3), st.booleans())
def test_refine_and_path_keys(X, depth, labelled):
    arrays = (X.pointers(), X.node_pointers, X.neighbours, X.labels)
    of_edges = X.edge_labels if labelled and X.edge_labels is not None else np.empty(0, np.int64)
    assert_same(both("refine", (*arrays, of_edges, depth, SEED), np.zeros(100, np.uint64)))
    assert_same(both("path_keys", (*arrays, SEED), np.zeros(len(X) + 1, np.int64), np.zeros(100, np.uint64)))


def _random_graph(n, n_labels, n_extra, rng):
    """A random tree of n nodes, which a path joins, with some edges more and one node apart."""
    edges = [(int(rng.integers(v)), v) for v in range(1, n - 1)]
    edges += [tuple(map(int, rng.choice(n - 1, 2, replace=False))) for _ in range(n_extra)]
    return edges, rng.integers(-n_labels, n_labels, size=n).tolist()


@pytest.mark.parametrize("presence", [False, True])
def test_paths_of_graphs_of_one_word_and_of_more(presence):
    """Graphs of up to 64 nodes are searched by words; graphs of many labels have no small array of counts."""
    rng = np.random.default_rng(0)
    asked = [(2, 1, 0), (63, 2, 9), (64, 40, 5), (65, 2, 9), (90, 50, 30), (64, 1, 200)]
    X = Graphs([_random_graph(*one, rng) for one in asked] + [([], []), ([(0, 1)], [5, 5])])
    given = (X.pointers(), X.node_pointers, X.neighbours, X.labels, SEED)
    n_most = int((X.sizes * (X.sizes - 1)).sum())
    n, pointers, keys = both("path_keys", given, np.zeros(len(X) + 1, np.int64), np.zeros(n_most, np.uint64))[0]
    assert_same(both("path_keys", given, pointers, keys))
    outs = [np.zeros(len(X) + 1, np.int64), np.zeros(n_most, np.uint64), np.zeros(n_most), np.zeros(len(X))]
    results = both("count_paths", (*given, presence), *outs)
    assert_same_counts(results)
    counted = [out.copy() for out in outs]
    _core.count_keys(pointers, keys[:n], np.empty(0), int(presence), *counted)
    assert_same_counts([results[0], [None, *counted]])


@settings(max_examples=20)
@given(trees(), st.integers(1, 4), st.booleans())
def test_subtree_and_fragment_keys(X, max_size, leaves):
    arrays = (X.pointers(), X.labels, X.parents)
    assert_same(both("subtree_keys", (*arrays, SEED), np.zeros(30, np.uint64), np.zeros(30, np.int64)))
    nothing = [np.zeros(len(X) + 1, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.int64)]
    results = both("fragment_keys", (*arrays, max_size, leaves, SEED, 10**6), *nothing)
    assert_same(results)
    number = results[0][0]
    if number:
        outs = [np.zeros(len(X) + 1, np.int64), np.zeros(number, np.uint64), np.zeros(number, np.int64)]
        assert_same(both("fragment_keys", (*arrays, max_size, leaves, SEED, 10**6), *outs))
        for module in (_core, reference):
            assert module.fragment_keys(*arrays, max_size, leaves, SEED, number - 1, *nothing) == -1


def assert_close(results):
    """Compare results whose weights are products of real numbers, up to rounding."""
    (n, *got), (expected_n, *expected) = results
    assert n == expected_n
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12 if a.dtype.kind == "f" else 0)


@settings(max_examples=20)
@given(graphs(), st.integers(2, 5), st.sampled_from([0, 1, 3]), st.booleans())
def test_subgraph_keys(X, size, n_draws, labelled):
    of_edges = X.edge_labels if labelled and X.edge_labels is not None else np.empty(0, np.int64)
    arrays = (X.pointers(), X.node_pointers, X.neighbours, X.labels, of_edges)
    outs = [np.zeros(len(X) + 1, np.int64), np.zeros(200, np.uint64), np.zeros(200)]
    assert_close(both("subgraph_keys", (*arrays, size, n_draws, SEED, 10**6), *outs))
    nothing = [np.zeros(len(X) + 1, np.int64), np.zeros(0, np.uint64), np.zeros(0)]
    results = both("subgraph_keys", (*arrays, size, n_draws, SEED, 10**6), *nothing)
    assert_same(results)
    for module in (_core, reference) if results[0][0] else ():
        assert module.subgraph_keys(*arrays, size, n_draws, SEED, results[0][0] - 1, *nothing) == -1


@settings(max_examples=20)
@given(graphs(), st.integers(0, 3), st.booleans())
def test_walk_keys(X, length, labelled):
    of_edges = X.edge_labels if labelled and X.edge_labels is not None else np.empty(0, np.int64)
    arrays = (X.pointers(), X.node_pointers, X.neighbours, X.labels, of_edges)
    nothing = [np.zeros(len(X) + 1, np.int64), np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.int64)]
    results = both("walk_keys", (*arrays, length, SEED, 10**6), *nothing)
    assert_same(results)
    number = results[0][0]
    if number:
        outs = [nothing[0], np.zeros(number, np.uint64), np.zeros(number), np.zeros(number, np.int64)]
        assert_same(both("walk_keys", (*arrays, length, SEED, 10**6), *outs))
        for module in (_core, reference):
            assert module.walk_keys(*arrays, length, SEED, number - 1, *nothing) == -1


@settings(max_examples=20)
@given(trees(), trees(), st.integers(1, 5), st.booleans())
def test_partial_trees(X, Y, max_size, paired):
    arrays = (X.pointers(), X.labels, X.parents)
    nothing = [np.zeros(len(X) + 1, np.int64), np.zeros(0, np.uint64), np.zeros((0, 3), np.int32)]
    results = both("partial_tree_keys", (*arrays, max_size, SEED, 10**6), *nothing)
    assert_same(results)
    number = results[0][0]
    outs = [nothing[0], np.zeros(number, np.uint64), np.zeros((number, 3), np.int32)]
    assert_same(both("partial_tree_keys", (*arrays, max_size, SEED, 10**6), *outs))
    for module in (_core, reference):
        assert module.partial_tree_keys(*arrays, max_size, SEED, number - 1, *nothing) == -1
    other = arrays if paired else (Y.pointers(), Y.labels, Y.parents)
    out = np.zeros((len(X), 1 if paired else len(Y)))
    assert_close(both("partial_tree_values", (*arrays, *other, 0.4, 0.7, 2.0, paired), out))


keyed = st.lists(st.lists(st.integers(0, 6), max_size=8), min_size=1, max_size=4)


def rows_of(lists):
    keys = np.array([key for row in lists for key in row], dtype=np.uint64) * np.uint64(2**57 + 5)
    return np.cumsum([0] + [len(row) for row in lists]), keys


@settings(max_examples=20)
@given(keyed, st.integers(0, 2), st.booleans())
def test_count_keys(lists, counts, weighted):
    pointers, keys = rows_of(lists)
    weights = np.arange(len(keys), dtype=float) if weighted else np.empty(0)
    outs = [np.zeros(len(pointers), np.int64), np.zeros(40, np.uint64), np.zeros(40), np.zeros(len(lists))]
    assert_same_counts(both("count_keys", (pointers, keys, weights, counts), *outs))


@pytest.mark.parametrize("counts", [0, 1, 2])
@pytest.mark.parametrize("n_different", [3, 200, 10**6])
def test_count_keys_of_long_rows_of_any_length(counts, n_different):
    """Slots are never cleared: rows of other lengths, before and after, leave nothing behind.

    The longest row has more than 2^16 keys, whose places take four bytes and not two.
    """
    rng = np.random.default_rng(n_different)
    sizes = [500, 3, 0, 1, 2**16 + 100, 2**16, 40, 500]
    pointers = np.cumsum([0, *sizes])
    keys = rng.integers(n_different, size=pointers[-1], dtype=np.uint64) << np.uint64(rng.integers(0, 40))
    weights = rng.integers(1, 5, size=len(keys)).astype(float)
    outs = [
        np.zeros(len(pointers), np.int64),
        np.zeros(len(keys), np.uint64),
        np.zeros(len(keys)),
        np.zeros(len(sizes)),
    ]
    assert_same_counts(both("count_keys", (pointers, keys, weights, counts), *outs))


def test_count_keys_that_share_their_slots():
    """Keys with the same upper bits of their product with the first factor: each pass settles one of them."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    found = [(top * inverse) % 2**64 for top in range(1, 40)]  # products 1 to 39: the upper bits are all 0
    keys = np.array([*found, *found[::-1], *found[::3]], dtype=np.uint64)
    outs = [np.zeros(2, np.int64), np.zeros(len(keys), np.uint64), np.zeros(len(keys)), np.zeros(1)]
    for counts in (0, 1, 2):
        assert_same_counts(both("count_keys", (np.array([0, len(keys)]), keys, np.empty(0), counts), *outs))


@pytest.mark.parametrize("n_buckets", [1, 1000, 2**20, 2**31 - 1])
def test_hash_columns_at_every_level(level, n_buckets):
    """Lanes multiply halves of 32 bits: columns and signs are those of NumPy, for rows that lanes do not divide."""
    rng = np.random.default_rng(n_buckets)
    pointers = np.cumsum([0, 1, 3, 4, 0, 5, 203])
    keys = rng.integers(PRIME, size=pointers[-1], dtype=np.uint64)
    keys[:6] = [0, 1, int(PRIME) - 1, 2**32 - 1, 2**32, 2**60]
    for coefficients in (rng.integers(PRIME, size=4, dtype=np.uint64), np.full(4, PRIME - np.uint64(1))):
        outs = [np.zeros(len(pointers), np.int64), np.zeros(len(keys), np.int32), np.zeros(len(keys))]
        values = np.arange(1.0, len(keys) + 1)
        got, expected = both("hash_columns", (pointers, keys, values, coefficients, n_buckets), *outs)
        end = expected[1][-1]
        np.testing.assert_array_equal(got[1], expected[1])
        np.testing.assert_array_equal(got[2][:end], expected[2][:end])
        np.testing.assert_array_equal(got[3][:end], expected[3][:end])


def test_hash_values_at_the_ends_of_their_range(level):
    """Sums are reduced once, at the end: the largest coefficients and keys do not overflow."""
    top = int(PRIME)
    keys = np.array([0, 1, top - 1, top, top + 1, 2**61 - 1, 2**60], dtype=np.uint64)
    coefficients = np.array([top - 1] * 4, dtype=np.uint64)
    outs = [np.zeros(2, np.int64), np.zeros(len(keys), np.int32), np.zeros(len(keys))]
    given = (np.array([0, len(keys)]), keys, np.arange(1.0, 8.0), coefficients, 2**31 - 1)
    got, expected = both("hash_columns", given, *outs)
    end = expected[1][-1]
    assert got[1].tolist() == expected[1].tolist()
    assert got[2][:end].tolist() == expected[2][:end].tolist()
    assert got[3][:end].tolist() == expected[3][:end].tolist()


@pytest.mark.parametrize("n_buckets", [1, 3, 4, 2**18, 2**31 - 1])
def test_hash_columns_and_sketch_keys(dtype, n_buckets):
    rng = np.random.default_rng(0)
    pointers, keys = np.array([0, 30, 30, 100]), rng.integers(2**61, size=100, dtype=np.uint64)
    values, coefficients = rng.normal(size=100), rng.integers(PRIME, size=4, dtype=np.uint64)
    outs = [np.zeros(4, np.int64), np.zeros(100, np.int32), np.zeros(100, dtype)]
    got, expected = both("hash_columns", (pointers, keys, values, coefficients, n_buckets), *outs)
    end = expected[1][-1]
    np.testing.assert_array_equal(got[1], expected[1])
    np.testing.assert_array_equal(got[2][:end], expected[2][:end])
    np.testing.assert_allclose(got[3][:end], expected[3][:end], rtol=0, atol=64 * np.finfo(dtype).eps)
    if n_buckets > 100:
        return
    a, b = both("sketch_keys", (pointers, keys, values, coefficients), np.zeros((3, n_buckets), dtype))
    np.testing.assert_allclose(a[1], b[1], atol=64 * np.finfo(dtype).eps)
    dense = np.zeros((3, n_buckets))
    for i, (start, stop) in enumerate(zip(got[1][:-1], got[1][1:], strict=True)):
        dense[i, got[2][start:stop]] = got[3][start:stop]
    np.testing.assert_allclose(a[1], dense, atol=64 * np.finfo(dtype).eps)


@pytest.mark.parametrize("n_buckets", [40, 900, 2**14, 2**26])
def test_hash_columns_of_long_rows(dtype, n_buckets):
    """Rows with many equal columns, few and none; the longest has more than 2^16 keys."""
    rng = np.random.default_rng(n_buckets)
    pointers = np.cumsum([0, 700, 3, 0, 2500, 1, 2**16 + 64])
    keys = rng.integers(2**61, size=pointers[-1], dtype=np.uint64)
    values, coefficients = (
        rng.integers(1, 9, size=len(keys)).astype(float),
        rng.integers(PRIME, size=4, dtype=np.uint64),
    )
    outs = [np.zeros(7, np.int64), np.zeros(len(keys), np.int32), np.zeros(len(keys), dtype)]
    got, expected = both("hash_columns", (pointers, keys, values, coefficients, n_buckets), *outs)
    end = expected[1][-1]
    for place in (1, 2, 3):
        np.testing.assert_array_equal(
            got[place][: end if place > 1 else None], expected[place][: end if place > 1 else None]
        )


def test_segment_sum(dtype):
    values = np.arange(12, dtype=dtype).reshape(4, 3)
    for module in (_core, reference):
        out = np.full((3, 3), np.nan, dtype=dtype)
        module.segment_sum(values, np.array([0, 3, 3, 4]), out)
        np.testing.assert_array_equal(out, [values[:3].sum(axis=0), np.zeros(3), values[3]])


def test_products_modulo_the_prime():
    rng = np.random.default_rng(1)
    a, b = rng.integers(2**61, size=(2, 200), dtype=np.uint64)
    expected = [int(x) * int(y) % int(PRIME) for x, y in zip(a, b, strict=True)]
    assert times_mod(a, b).tolist() == expected


def test_buckets_and_signs_are_uniform_over_the_draws():
    """Chi-square over buckets and signs of one key in 4,000 draws; false alarm 1e-6."""
    rng = np.random.default_rng(2)
    draws = rng.integers(PRIME, size=(4000, 4), dtype=np.uint64)
    buckets, signs = zip(*(bucket_and_sign(np.array([12345], np.uint64), c, 10) for c in draws), strict=True)
    cell = 2 * np.concatenate(buckets) + (np.concatenate(signs) > 0)
    counts = np.bincount(cell, minlength=20)
    assert ((counts - 200) ** 2 / 200).sum() < 66.3  # the 1 - 1e-6 quantile of chi-square with 19 degrees of freedom


def test_sums_of_mixed_labels_tell_multisets_with_equal_power_sums_apart():
    sums = [mixed64(np.array(s, np.uint64)).sum(dtype=np.uint64) for s in ([0, 4, 7, 11], [1, 2, 9, 10])]
    assert sums[0] != sums[1]
    assert joined(np.uint64(1), np.uint64(2)) != joined(np.uint64(2), np.uint64(1))


def test_hashed_keys_collide_as_often_as_chance_says():
    """Of m keys in D buckets, D (1 - (1 - 1/D)^m) buckets are used in the mean; false alarm below 1e-6."""
    m, n_buckets = 10**6, 2**20
    keys = np.arange(m, dtype=np.uint64)
    out = [np.zeros(2, np.int64), np.zeros(m, np.int32), np.zeros(m)]
    coefficients = np.random.default_rng(3).integers(PRIME, size=4, dtype=np.uint64)
    _core.hash_columns(np.array([0, m]), keys, np.ones(m), coefficients, n_buckets, *out)
    expected = n_buckets * (1 - (1 - 1 / n_buckets) ** m)
    # the number of used buckets has a variance below m e^(-m/D) (1 - e^(-m/D)) for independent buckets
    assert abs(out[0][1] - expected) < 5 * np.sqrt(m * 0.25)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("count_keys", (np.array([0, 3]), np.zeros(2, np.uint64), np.empty(0), 0), "pointers"),
        ("count_keys", (np.array([0, 2]), np.zeros(2, np.uint64), np.empty(0), 3), "counts must be"),
        ("count_keys", (np.array([0, 2]), np.zeros(2, np.uint64), np.ones(1), 0), "len\\(weights\\)"),
        ("count_keys", (np.array([2, 0]), np.zeros(2, np.uint64), np.empty(0), 0), "must not decrease"),
    ],
)
def test_bad_bounds_are_refused(name, arguments, words):
    outs = [np.zeros(2, np.int64), np.zeros(2, np.uint64), np.zeros(2), np.zeros(1)]
    with pytest.raises(ValueError, match=words):
        getattr(_core, name)(*arguments, *outs)


def test_bad_graphs_and_trees_are_refused():
    graph = (np.array([0, 2]), np.array([0, 1, 1]), np.array([2], np.int32), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="neighbours must be nodes"):
        _core.refine(*graph, np.empty(0, np.int64), 1, 0, np.zeros(4, np.uint64))
    tree = (np.array([0, 2]), np.zeros(2, np.int64), np.array([-1, 1], np.int32))
    with pytest.raises(ValueError, match="parents must come before"):
        _core.subtree_keys(*tree, 0, np.zeros(2, np.uint64), np.zeros(2, np.int64))
    text = np.zeros(3, np.uint8)
    with pytest.raises(ValueError, match="bits"):
        _core.string_keys(
            text, np.array([0, 3]), CODES, 1, 31, 2, 1, False, np.zeros(2, np.int64), np.zeros(9, np.uint64), text
        )
