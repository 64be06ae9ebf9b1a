"""Fast transforms: their sizes, their values by matrices, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import hadamard

import mercer
from mercer.features.fourier.structured import HadamardProjections, check_structured, padded_size
from mercer.testing import sample_rows


def test_transforms_have_a_power_of_two_of_at_least_8():
    assert [padded_size(n) for n in (1, 8, 9, 64, 65)] == [8, 8, 16, 64, 128]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_phases_are_those_of_matrices(layout):
    X, rng = sample_rows(9), np.random.RandomState(0)
    signs = 2.0 * rng.randint(2, size=(3, 1, 8)) - 1
    turns = rng.random_sample(8)
    projections = HadamardProjections(signs, np.empty((0, 0), dtype=np.int32), turns)
    out = np.empty((9, 16))
    projections.writer(layout(X), np.empty(0), 0.5)(slice(0, 9), out)
    V = np.zeros((9, 8))
    V[:, :5] = X
    for diagonal in signs[:, 0]:
        V = (V * diagonal) @ hadamard(8)
    phases = 2 * np.pi * turns * V
    np.testing.assert_allclose(out, 0.5 * np.hstack([np.cos(phases), np.sin(phases)]), atol=1e-12)


def test_transforms_beyond_memory_are_refused():
    with (
        mercer.config_context(memory="1MB"),
        pytest.raises(MemoryError, match=r"transforms of 65536 columns and their signs"),
    ):
        check_structured("Owner", 100, 0, 2**16, 2)
