"""The primitives of structured data in force: parts of objects become keys, keys are counted, counts are hashed.

Compiled where the core was built, plain NumPy otherwise. All keys are whole numbers of 61 bits, so that both give the
same bits on every machine.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from mercer import core, reference
from mercer._typing import Array
from mercer.recycling import empty
from mercer.structures import Graphs, Sequences, Strings, Trees

if core.COMPILED:
    import mercer._core as _core  # noqa: PLR0402 - as in mercer.core

# How counts enter a kernel: by their products, as presence alone, or by the smaller count of the two objects.
COUNTS = ("product", "presence", "intersection")
_primitives: ModuleType = _core if core.COMPILED else reference
_NONE = np.empty(0)
# Bits of the letters of a substring up to which its key is these letters.
_MOST_PACKED = 60


class Keys(NamedTuple):
    """The keys of the parts of n objects: object i has those from pointers[i] to pointers[i + 1]."""

    pointers: Array  # (n + 1,) int64
    keys: Array  # uint64
    weights: Array | None = None  # float64; None: every part weighs 1


class Counted(NamedTuple):
    """The distinct keys of n objects, with a value for each and the sum of squares of an object's values."""

    pointers: Array  # (n + 1,) int64
    keys: Array  # uint64
    values: Array  # float64
    squares: Array  # (n,) float64


class Alphabet(NamedTuple):
    """Numbers of letters: 256 codes from 0 on, 255 for a byte that ends every window."""

    codes: Array
    bits: int  # that a code takes


class LetterHashes(NamedTuple):
    """Buckets and signs (p, 256) of letters at each place of a subsequence, and how many buckets j letters take."""

    buckets: Array  # int32
    signs: Array  # int8
    widths: Array  # (p + 1,) int64


def substring_keys(
    X: Strings, alphabet: Alphabet, least: int, longest: int, base: int, *, placed: bool = False
) -> tuple[Keys, Array]:
    """Return the keys of all substrings of ``least`` to ``longest`` letters, and the length of each where ``placed``.

    Keys are packed letters, different for different substrings, where these take at most 60 bits; else polynomials in
    ``base`` mod 2^61 - 1.
    """
    n_most = _most_substrings(X, least, longest)
    pointers, keys = np.empty(len(X) + 1, dtype=np.int64), empty((n_most,), np.uint64)
    lengths = np.empty(n_most if placed else 0, dtype=np.uint8)
    bits = alphabet.bits if alphabet.bits * longest <= _MOST_PACKED else 0
    found = _primitives.string_keys(
        X.text, X.pointers(), alphabet.codes, least, longest, bits, base, placed, pointers, keys, lengths
    )
    return Keys(pointers, keys[:found]), lengths[:found]


def _most_substrings(X: Strings | Sequences, least: int, longest: int) -> int:
    sizes = X.sizes
    return int(sum(np.maximum(sizes - length + 1, 0).sum() for length in range(least, longest + 1)))


def count_substrings(X: Strings, alphabet: Alphabet, least: int, longest: int, counts: str) -> Counted | None:
    """Return the counts of the keys of ``substring_keys``; None where they are not packed, or are intersected.

    It looks up fewer keys than there are substrings: the counts of shorter ones are sums over longer ones.
    """
    if alphabet.bits * longest > _MOST_PACKED or counts == "intersection":
        return None
    n_most = _most_substrings(X, least, longest)
    pointers, keys = np.empty(len(X) + 1, dtype=np.int64), empty((n_most,), np.uint64)
    values, squares = empty((n_most,), np.float64), np.empty(len(X))
    given = (X.text, X.pointers(), alphabet.codes, least, longest, alphabet.bits)
    _primitives.count_substrings(*given, pointers, keys, values, squares)
    end = int(pointers[-1])
    if counts == "presence":
        values[:end], squares = 1.0, np.diff(pointers).astype(np.float64)
    return Counted(pointers, keys[:end], values[:end], squares)


def token_keys(X: Sequences, least: int, longest: int, base: int) -> Keys:
    """Return the keys of all runs of ``least`` to ``longest`` tokens."""
    pointers = np.empty(len(X) + 1, dtype=np.int64)
    keys = empty((_most_substrings(X, least, longest),), np.uint64)
    _primitives.token_keys(X.tokens, X.pointers(), least, longest, base, pointers, keys)
    return Keys(pointers, keys)


def masked_keys(X: Strings, alphabet: Alphabet, masks: Array, length: int, base: int, complement: Array) -> Keys:
    """Return the keys of all windows of ``length`` letters seen through masks (m, kept) of places, int32.

    With ``complement`` (256,), of codes, the reverse complements of the windows are windows too; without, it is empty.
    """
    n_windows = int(np.maximum(X.sizes - length + 1, 0).sum()) * (2 if len(complement) else 1)
    room = alphabet.bits * length + len(masks).bit_length() <= 60
    pointers, keys = np.empty(len(X) + 1, dtype=np.int64), empty((n_windows * len(masks),), np.uint64)
    bits = alphabet.bits if room else 0
    found = _primitives.masked_keys(
        X.text, X.pointers(), alphabet.codes, masks, length, bits, base, complement, pointers, keys
    )
    return Keys(pointers, keys[:found])


def agreement_sums(X: Strings, alphabet: Alphabet, complement: Array, values: Array) -> Array:
    """Return for each string the sum of values[agreements] over all pairs of its windows of len(values) - 1 letters."""
    out = np.empty(len(X))
    _primitives.agreement_sums(X.text, X.pointers(), alphabet.codes, complement, values, out)
    return out


def subsequence_values(X: Strings, Y: Strings | None, alphabet: Alphabet, length: int, decay: float) -> Array:
    """Return the subsequence kernel of all pairs of strings, (n, m); without ``Y`` of each with itself, (n, 1)."""
    out = np.empty((len(X), 1 if Y is None else len(Y)))
    other = X if Y is None else Y
    if Y is not None and out.shape[1] == 1 and len(X) > 1:  # one column stands for pairs: give the other side alone
        return np.concatenate([subsequence_values(X[i : i + 1], Y, alphabet, length, decay) for i in range(len(X))])
    given = (X.text, X.pointers(), other.text, other.pointers(), alphabet.codes)
    _primitives.subsequence_values(*given, length, decay, out)
    return out


def subsequence_sketch(X: Strings, alphabet: Alphabet, hashes: LetterHashes, decay: float, out: Array) -> None:
    """Overwrite ``out`` (n, D) with the sums of the hashed subsequences of each string."""
    _primitives.subsequence_sketch(X.text, X.pointers(), alphabet.codes, *hashes, decay, out)


def refined_keys(X: Graphs, depth: int, seed: int) -> Keys:
    """Return the Weisfeiler-Lehman labels of all nodes in rounds 0 to ``depth``, as keys."""
    keys = empty(((depth + 1) * len(X.labels),), np.uint64)
    _primitives.refine(*_labelled(X), depth, seed, keys)
    return Keys((depth + 1) * X.pointers(), keys)


def _labelled(X: Graphs) -> tuple[Array, ...]:
    """Return the arrays of graphs that primitives take."""
    edge_labels = np.empty(0, dtype=np.int64) if X.edge_labels is None else X.edge_labels
    return X.pointers(), X.node_pointers, X.neighbours, X.labels, edge_labels


def subgraph_keys(X: Graphs, size: int, n_draws: int | None, seed: int, *, most: int) -> Keys | None:
    """Return the keys of the connected subgraphs of ``size`` nodes; None if they exceed ``most``.

    A graph with more than ``n_draws`` has this many drawn ones, whose weights make the counts unbiased. The keys of
    one graph do not depend on the other graphs.
    """
    pointers, draws = np.zeros(len(X) + 1, dtype=np.int64), n_draws or 0
    given = (*_labelled(X), size, draws, seed, most)
    number = _primitives.subgraph_keys(*given, pointers, np.empty(0, dtype=np.uint64), np.empty(0))
    if number < 0:
        return None
    keys, weights = np.empty(number, dtype=np.uint64), np.empty(number)
    found = _primitives.subgraph_keys(*given, pointers, keys, weights) if number else 0
    return Keys(pointers, keys[:found], None if n_draws is None else weights[:found])


def walk_keys(X: Graphs, length: int, seed: int, *, most: int) -> tuple[Keys, Array, Array] | None:
    """Return keys of the labels along walks of 0 to ``length`` steps, how many walks have them, and their steps.

    None if they exceed ``most``.
    """
    pointers, given = np.zeros(len(X) + 1, dtype=np.int64), (*_labelled(X), length, seed, most)
    nothing = (np.empty(0, dtype=np.uint64), np.empty(0), np.empty(0, dtype=np.int64))
    number = _primitives.walk_keys(*given, pointers, *nothing)
    if number < 0:
        return None
    keys, counts, steps = np.empty(number, dtype=np.uint64), np.empty(number), np.empty(number, dtype=np.int64)
    if number:
        _primitives.walk_keys(*given, pointers, keys, counts, steps)
    return Keys(pointers, keys), counts, steps


def path_keys(X: Graphs, seed: int) -> Keys:
    """Return keys (label of u, label of v, distance) of all ordered pairs of nodes that a path joins."""
    sizes = X.sizes
    pointers = np.empty(len(X) + 1, dtype=np.int64)
    keys = np.empty(int((sizes * (sizes - 1)).sum()), dtype=np.uint64)
    found = _primitives.path_keys(X.pointers(), X.node_pointers, X.neighbours, X.labels, seed, pointers, keys)
    return Keys(pointers, keys[:found])


def count_paths(X: Graphs, seed: int, counts: str) -> Counted | None:
    """Return the counts of the keys of ``path_keys``; None where they are intersected.

    It hashes a key once per graph, and not once per pair of nodes.
    """
    if counts == "intersection":
        return None
    sizes = X.sizes
    n_most = int((sizes * (sizes - 1)).sum())
    pointers, keys = np.empty(len(X) + 1, dtype=np.int64), empty((n_most,), np.uint64)
    values, squares = empty((n_most,), np.float64), np.empty(len(X))
    given = (X.pointers(), X.node_pointers, X.neighbours, X.labels, seed, counts == "presence")
    _primitives.count_paths(*given, pointers, keys, values, squares)
    end = int(pointers[-1])
    return Counted(pointers, keys[:end], values[:end], squares)


def subtree_keys(X: Trees, seed: int) -> tuple[Keys, Array]:
    """Return the key of the complete subtree at each node, and its number of nodes."""
    keys, sizes = np.empty(len(X.labels), dtype=np.uint64), np.empty(len(X.labels), dtype=np.int64)
    _primitives.subtree_keys(X.pointers(), X.labels, X.parents, seed, keys, sizes)
    return Keys(X.pointers(), keys), sizes


def fragment_keys(X: Trees, max_size: int, seed: int, *, leaves: bool, most: int) -> tuple[Keys, Array] | None:
    """Return the keys and sizes of all fragments of at most ``max_size`` productions; None if they exceed ``most``."""
    pointers = np.zeros(len(X) + 1, dtype=np.int64)
    given = (X.pointers(), X.labels, X.parents, max_size, leaves, seed, most)
    nothing = (np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))
    number = _primitives.fragment_keys(*given, pointers, *nothing)
    if number < 0:
        return None
    keys, sizes = np.empty(number, dtype=np.uint64), np.empty(number, dtype=np.int64)
    if number:
        _primitives.fragment_keys(*given, pointers, keys, sizes)
    return Keys(pointers, keys), sizes


def partial_tree_keys(X: Trees, max_size: int, seed: int, *, most: int) -> tuple[Keys, Array] | None:
    """Return the keys of all partial trees of at most ``max_size`` nodes, and their shapes; None if beyond ``most``.

    A shape is three numbers, int32: the nodes; the children left out between two that are kept, plus the nodes without
    children; and the leaves of the tree.
    """
    pointers = np.zeros(len(X) + 1, dtype=np.int64)
    given = (X.pointers(), X.labels, X.parents, max_size, seed, most)
    nothing = (np.empty(0, dtype=np.uint64), np.empty((0, 3), dtype=np.int32))
    number = _primitives.partial_tree_keys(*given, pointers, *nothing)
    if number < 0:
        return None
    keys, shapes = np.empty(number, dtype=np.uint64), np.empty((number, 3), dtype=np.int32)
    if number:
        _primitives.partial_tree_keys(*given, pointers, keys, shapes)
    return Keys(pointers, keys), shapes


def partial_tree_values(X: Trees, Y: Trees | None, decay: float, gap_decay: float, terminal: float) -> Array:
    """Return the kernel of partial trees of any size: of all pairs (n, m), or without ``Y`` of each with itself."""
    other = X if Y is None else Y
    out = np.empty((len(X), 1 if Y is None else len(Y)))
    given = (X.pointers(), X.labels, X.parents, other.pointers(), other.labels, other.parents)
    _primitives.partial_tree_values(*given, decay, gap_decay, terminal, Y is None, out)
    return out


def count(parts: Keys, counts: str = "product") -> Counted:
    """Count the keys of each object; ``counts`` is one of ``COUNTS``.

    With "intersection" the c-th time a key is met it is a key of its own, (key, c): the product of two objects is then
    the sum of the smaller counts.
    """
    pointers, keys = np.empty_like(parts.pointers), empty((len(parts.keys),), np.uint64)
    values, squares = empty((len(keys),), np.float64), np.empty(len(pointers) - 1)
    weights = _NONE if parts.weights is None else parts.weights
    given = (parts.pointers, parts.keys, weights, COUNTS.index(counts))
    _primitives.count_keys(*given, pointers, keys, values, squares)
    end = int(pointers[-1])
    return Counted(pointers, keys[:end], values[:end], squares)


def hash_columns(counted: Counted, coefficients: Array, n_buckets: int, dtype: DTypeLike) -> tuple[Array, Array, Array]:
    """Return the data, columns and pointers of CSR rows of ``n_buckets`` hashed columns, each column once per row.

    Bucket and sign of a key are a polynomial of degree 3 mod 2^61 - 1 with four drawn ``coefficients``, uint64.
    """
    pointers, columns = np.empty_like(counted.pointers), empty((len(counted.keys),), np.int32)
    data = empty((len(columns),), dtype)
    _primitives.hash_columns(*counted[:3], coefficients, n_buckets, pointers, columns, data)
    end = int(pointers[-1])
    return data[:end], columns[:end], pointers


def sketch_keys(counted: Counted, coefficients: Array, out: Array) -> None:
    """Overwrite ``out`` (n, D) with the same hashed columns, dense."""
    _primitives.sketch_keys(*counted[:3], coefficients, out)


def splitmix64(numbers: Array) -> Array:
    """Return 64 bits for each unsigned 64-bit number: those of splitmix64's mixture.

    References
    ----------
    G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

    >>> import numpy as np
    >>> hex(splitmix64(np.zeros(1, dtype=np.uint64))[0])
    '0xe220a8397b1dcdaf'
    """
    bits = numbers + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = bits ^ (bits >> np.uint64(31))
    return mixed


def segment_sum(values: Array, pointers: Array, out: Array) -> None:
    """Overwrite row i of ``out`` with the sum of the rows of values from pointers[i] to pointers[i + 1]."""
    _primitives.segment_sum(values, pointers, out)
