"""The rows to choose among: arrays, objects and streams, and the diagonal of the kernel on them."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Linear
from mercer.data import as_blocks
from mercer.features.nystroem import candidates, landmarks
from mercer.features.nystroem.candidates import Candidates, rows_of
from mercer.kernels import FunctionKernel
from mercer.testing import assert_mean_close, sample_rows

KERNEL = Gaussian(gamma=1.0)


def test_a_stream_is_sampled_when_it_is_long(monkeypatch):
    monkeypatch.setattr(candidates, "_RESERVOIR_ROWS", 20)
    monkeypatch.setattr(candidates, "_RESERVOIR_PER_LANDMARK", 1)
    X = sample_rows(300)
    seen = [
        landmarks.uniform(KERNEL, as_blocks(X, block_rows=32), 10, random_state=seed).indices for seed in range(400)
    ]
    assert_mean_close([np.mean(numbers) for numbers in seen], 149.5)
    np.testing.assert_array_equal(
        landmarks.uniform(KERNEL, as_blocks(X), 10, random_state=0).points,
        X[landmarks.uniform(KERNEL, as_blocks(X), 10, random_state=0).indices],
    )


def test_rows_objects_and_lists_of_numbers_are_told_apart():
    rng = np.random.RandomState(0)
    numbers, sampled = rows_of("test", [[1, 2], [3, 4]], 2, rng)
    np.testing.assert_array_equal(numbers, [[1.0, 2.0], [3.0, 4.0]])
    assert sampled is None
    for objects in (["abc", "d"], [[1, 2], [3]]):
        found, _ = rows_of("test", objects, 2, rng)
        assert (found.dtype, list(found)) == (object, objects)


def test_landmarks_of_a_stream_have_their_numbers_in_it():
    X = sample_rows(50)
    rows = Candidates.of("test", iter([X[:20], X[20:]]), 5, 0)
    chosen = rows.landmarks(np.array([3, 1]), residual_trace=2.0, residual_trace_error=0.5)
    np.testing.assert_array_equal(chosen.points, X[chosen.indices])
    assert (chosen.scale, chosen.residual_trace, chosen.residual_trace_error) == (None, 2.0, 0.5)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_the_diagonal_is_float64_in_either_precision(layout):
    X = sample_rows(6).astype(np.float32)
    diagonal = Candidates.of("test", layout(X), 2, 0).diagonal(Linear())
    assert diagonal.dtype == np.float64
    np.testing.assert_allclose(diagonal, np.square(X.astype(np.float64)).sum(axis=1), rtol=1e-15)


def test_a_diagonal_that_no_kernel_has_is_refused():
    negative = FunctionKernel(lambda A, B: -np.ones((len(A), len(B))))
    with pytest.raises(ValueError, match=r"is not positive semi-definite: k\(x, x\) = -1 at row 0"):
        Candidates.of("test", sample_rows(3), 2, 0).diagonal(negative)
    with pytest.raises(ValueError, match=r"Linear\(\) is zero on every row of X"):
        Candidates.of("test", np.zeros((3, 2)), 2, 0).diagonal(Linear())
