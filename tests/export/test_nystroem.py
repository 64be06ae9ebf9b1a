"""Nystroem features in ONNX."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Laplacian, Matern, Nystroem, Polynomial


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.05), Laplacian(gamma=0.02), Matern(1.5, length_scale=3.0)])
@pytest.mark.parametrize("rank", [None, 15])
def test_features_are_those_of_the_map(run, close, digits, kernel, rank):
    X = digits[0][:300]
    feature_map = Nystroem(kernel, n_components=40, rank=rank, random_state=0).fit(X)
    close(run(feature_map, X)["features"], feature_map.transform(X))


def test_small_eigenvalues_cost_no_digits(run, digits):
    X = digits[0][:300].astype(np.float32)  # so that float32 input is exact
    feature_map = Nystroem(Gaussian(gamma=1e-5), n_components=200, random_state=0).fit(X.astype(np.float64))
    assert feature_map.eigenvalues_[-1] < 1e-9 * feature_map.eigenvalues_[0]
    found, expected = run(feature_map, X)["features"], feature_map.transform(X.astype(np.float64))
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-5)


def test_landmarks_of_sparse_rows_and_of_precomputed_kernels(run, close, digits):
    X = digits[0][:100]
    on_csr = Nystroem(Polynomial(2), n_components=20, random_state=0).fit(sparse.csr_array(X))
    close(run(on_csr, X)["features"], on_csr.transform(X))
    K = Gaussian(gamma=0.05)(X)
    precomputed = Nystroem("precomputed", n_components=20, random_state=0).fit(K)
    close(run(precomputed, K)["features"], precomputed.transform(K))


def test_a_function_of_ones_own_is_refused_in_words(run, digits):
    feature_map = Nystroem(lambda A, B: A @ B.T, n_components=5, random_state=0).fit(digits[0])
    with pytest.raises(ValueError, match=r"own function .* Take a kernel of mercer"):
        run(feature_map, digits[0])
