"""Structured projections: compiled against reference, reference against explicit matrices."""

import numpy as np
import pytest
from oracle import assert_agrees, draw_rows, empty, strided
from scipy.linalg import hadamard

from mercer import _core, reference

# columns, frequencies: padding, several blocks, a cut last block, a folded transform, the recursion of large ones
SHAPES = [(1, 3), (5, 8), (8, 9), (12, 40), (64, 64), (123, 300), (600, 100), (3000, 50), (9000, 20)]


def _projection(rng, d, m, n_stages, permuted, dtype):
    size = max(8, 1 << (d - 1).bit_length())
    n_blocks = -(-m // size)
    diagonals = rng.choice([-1.0, 1.0], (n_stages, n_blocks, size)).astype(dtype)
    if permuted:
        diagonals[1] = rng.standard_normal((n_blocks, size))
        permutation = np.stack([rng.permutation(size) for _ in range(n_blocks)]).astype(np.int32)
    else:
        permutation = np.empty((0, 0), dtype=np.int32)
    lengths = (rng.uniform(0.1, 1, m) / size ** (n_stages / 2)).astype(dtype)
    return diagonals, permutation, lengths


@pytest.mark.parametrize(("d", "m"), SHAPES)
@pytest.mark.parametrize(("n_stages", "permuted"), [(3, False), (2, True), (1, False)])
def test_compiled_equals_reference(level, dtype, d, m, n_stages, permuted):
    rng = np.random.default_rng(d)
    for n, n_single in ((1, 0), (9, 1), (17, m)):
        parts = _projection(rng, d, m, n_stages, permuted, dtype)
        X, offsets = draw_rows(rng, n, d, dtype), rng.uniform(0, 1, n_single).astype(dtype)
        out, expected = strided(empty((n, 2 * m - n_single), dtype)), empty((n, 2 * m - n_single), np.float64)
        _core.hadamard_features(strided(X), *parts, offsets, 1.0, out)
        double = [part if part.dtype == np.int32 else part.astype(np.float64) for part in parts]
        reference.hadamard_features(X.astype(np.float64), *double, offsets.astype(np.float64), 1.0, expected)
        # The phase, of about |x| turns, is what rounds: 2 pi times that is the error of a cosine.
        terms = (2 * np.pi * np.linalg.norm(X, axis=1).max()) ** 2 * n_stages * np.log2(max(d, 8))
        assert_agrees(out, expected.astype(dtype), terms=terms)


@pytest.mark.parametrize("size", [1, 2, 8, 64, 256])
def test_the_reference_transform_is_the_sylvester_matrix(rng, size):
    X = rng.standard_normal((3, size))
    got = X.copy()
    reference.hadamard.hadamard(got)
    np.testing.assert_allclose(got, X @ hadamard(size), atol=1e-12)


@pytest.mark.parametrize("permuted", [False, True])
def test_the_reference_is_the_product_of_explicit_matrices(rng, permuted):
    d, m, size = 11, 40, 16
    X = rng.standard_normal((4, d))
    diagonals, permutation, lengths = _projection(rng, d, m, 2 + (not permuted), permuted, np.float64)
    H, blocks = hadamard(size), []
    for b in range(diagonals.shape[1]):
        V = H @ np.diag(diagonals[0, b])
        for stage in range(1, len(diagonals)):
            V = V[permutation[b]] if permuted and stage == 1 else V
            V = H @ np.diag(diagonals[stage, b]) @ V
        blocks.append(V[:, :d])
    phases = 2 * np.pi * X @ (np.vstack(blocks)[:m] * lengths[:, np.newaxis]).T
    out = np.empty((4, 2 * m))
    reference.hadamard_features(X, diagonals, permutation, lengths, np.empty(0), 0.5, out)
    np.testing.assert_allclose(out, 0.5 * np.hstack([np.cos(phases), np.sin(phases)]), atol=1e-12)


BAD = {
    "size": ({"diagonals": np.ones((2, 1, 12))}, r"diagonals.shape\[2\] must be a power of two from 8 on, got 12"),
    "columns": ({"X": np.ones((2, 17))}, r"X.shape\[1\] must be at most diagonals.shape\[2\] = 16, got 17"),
    "lengths": ({"lengths": np.ones(40)}, r"len\(lengths\) must be at most .* = 16, got 40"),
    "width": ({"out": np.empty((2, 8))}, r"out.shape\[1\] must be 2 \* len\(lengths\) - len\(offsets\) = 6, got 8"),
    "pairs": ({"out": np.empty((2, 7))}, r"out.shape\[1\] - len\(offsets\) must be even and not negative, got 7"),
    "gather": ({"permutation": np.full((1, 16), 16, np.int32)}, r"permutation must lie in \[0, .* = \[0, 16\)"),
    "layout": ({"diagonals": np.ones((2, 16, 1)).transpose(0, 2, 1)[:, :, ::-1]}, r"diagonals must be C-contiguous"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_named(name):
    arguments = {
        "X": np.ones((2, 9)),
        "diagonals": np.ones((2, 1, 16)),
        "permutation": np.arange(16, dtype=np.int32)[np.newaxis],
        "lengths": np.ones(3),
        "offsets": np.empty(0),
        "scale": 1.0,
        "out": np.empty((2, 6)),
    }
    _core.hadamard_features(**arguments)
    changes, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        _core.hadamard_features(**(arguments | changes))
