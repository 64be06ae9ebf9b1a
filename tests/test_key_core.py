"""Parts of objects become keys, and keys are counted."""

import numpy as np

from mercer import key_core
from mercer.key_core import Alphabet, Keys
from mercer.structures import Graphs, Sequences, Strings, Trees

BYTES = Alphabet(np.arange(256, dtype=np.uint8), 8)


def test_the_number_of_parts():
    X = Strings(["abcd", "a", ""])
    keys, _ = key_core.substring_keys(X, BYTES, 1, 2, 7)
    assert np.diff(keys.pointers).tolist() == [7, 1, 0]
    assert np.diff(key_core.token_keys(Sequences([[1, 2, 3]]), 2, 2, 7).pointers).tolist() == [2]
    masks = np.array([[0], [1]], dtype=np.int32)
    none = np.empty(0, dtype=np.uint8)
    assert np.diff(key_core.masked_keys(X, BYTES, masks, 2, 7, none).pointers).tolist() == [6, 0, 0]
    assert key_core.agreement_sums(X, BYTES, none, np.array([0.0, 0.0, 1.0])).tolist() == [3, 0, 0]


def test_long_substrings_differ_too():
    X = Strings(["a" * 20 + "b", "a" * 20 + "c"])
    keys, lengths = key_core.substring_keys(X, BYTES, 21, 21, 2**40 + 1, placed=True)
    assert len(set(keys.keys.tolist())) == 2
    assert lengths.tolist() == [21, 21]


def test_counts_products_presence_and_intersection():
    parts = Keys(np.array([0, 4]), np.array([5, 6, 5, 5], dtype=np.uint64))
    product = key_core.count(parts)
    assert (product.keys.tolist(), product.values.tolist(), product.squares.tolist()) == ([5, 6], [3, 1], [10])
    assert key_core.count(parts, "presence").values.tolist() == [1, 1]
    unary = key_core.count(parts, "intersection")
    assert len(set(unary.keys.tolist())) == 4
    assert unary.squares.tolist() == [4]
    data, columns, pointers = key_core.hash_columns(product, np.array([1, 2, 3, 4], np.uint64), 1, np.float32)
    assert data.dtype == np.float32
    assert (columns.tolist(), pointers.tolist()) == ([0], [0, 1])


def test_graphs_and_trees():
    X = Graphs([([(0, 1), (1, 2)], 3), ([], 2)])
    assert np.diff(key_core.refined_keys(X, 2, 0).pointers).tolist() == [9, 6]
    assert np.diff(key_core.path_keys(X, 0).pointers).tolist() == [6, 0]
    trees = Trees(["(a b (c d))"])
    keys, sizes = key_core.subtree_keys(trees, 0)
    assert sizes.tolist() == [4, 1, 2, 1]
    assert key_core.fragment_keys(trees, 2, 0, leaves=True, most=2) is None
    keys, sizes = key_core.fragment_keys(trees, 1, 0, leaves=False, most=100)
    assert sizes.tolist() == [1, 1]
    assert len(set(keys.keys.tolist())) == 2


def test_segment_sums_and_sketches():
    out = np.empty((2, 2))
    key_core.segment_sum(np.ones((3, 2)), np.array([0, 0, 3]), out)
    assert out.tolist() == [[0, 0], [3, 3]]
    counted = key_core.count(Keys(np.array([0, 1]), np.array([5], dtype=np.uint64)))
    key_core.sketch_keys(counted, np.array([1, 2, 3, 4], np.uint64), out[:1])
    assert np.abs(out[0]).sum() == 1


def test_subsequences_of_pairs_and_sketches():
    X, one = Strings(["cat", "car", ""]), Strings(["cat"])
    values = key_core.subsequence_values(X, X, BYTES, 2, 0.5)
    np.testing.assert_allclose(values, [[0.140625, 0.0625, 0.0], [0.0625, 0.140625, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(key_core.subsequence_values(X, None, BYTES, 2, 0.5)[:, 0], np.diag(values))
    np.testing.assert_array_equal(key_core.subsequence_values(X, one, BYTES, 2, 0.5), values[:, :1])
    rng, out = np.random.RandomState(0), np.empty((3, 512))
    buckets, signs = rng.randint(512, size=(2, 256)).astype(np.int32), np.ones((2, 256), dtype=np.int8)
    hashes = key_core.LetterHashes(buckets, signs, np.full(3, 512))
    key_core.subsequence_sketch(X, BYTES, hashes, 0.5, out)
    np.testing.assert_allclose(out.sum(axis=1), [0.625, 0.625, 0.0])  # signs of 1: the sum of all weights
