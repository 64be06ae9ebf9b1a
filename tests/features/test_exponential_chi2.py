"""Fourier features of the additive map: a small bias, and CSR rows with few non-zeros."""

import numpy as np
import pytest
from scipy import sparse

from mercer import ExponentialChi2, FourierFeatures
from mercer.features import ExponentialChi2Features

X = np.random.RandomState(0).dirichlet(np.full(6, 0.5), size=20)
X[X < 0.02] = 0


@pytest.mark.parametrize("sigma", [0.4, 1.0])
def test_exponential_chi2_has_a_bias_below_a_hundredth(sigma):
    kernel = ExponentialChi2(sigma=sigma)
    estimates = []
    for seed in range(200):
        Z = ExponentialChi2Features(kernel, n_components=400, random_state=seed).fit_transform(X)
        estimates.append((Z @ Z.T)[np.triu_indices(20, 1)])
    error = np.mean(estimates, axis=0) - kernel(X)[np.triu_indices(20, 1)]
    noise = np.std(estimates, axis=0).max() / 200**0.5
    assert np.abs(error).max() < 0.01 + 5 * noise


def test_exponential_chi2_reads_few_non_zeros():
    S = sparse.random_array((20, 30_000), density=20 / 30_000, format="csr", rng=np.random.default_rng(0))
    by_entries = ExponentialChi2Features(ExponentialChi2(sigma=3.0), n_components=64, random_state=0, order=1).fit(S)
    assert isinstance(by_entries.fourier_, FourierFeatures)
    np.testing.assert_allclose(by_entries.transform(S), by_entries.transform(S.toarray()), atol=1e-10)
    S.data[5] = -1
    row = int(np.searchsorted(S.indptr, 5, side="right")) - 1
    with pytest.raises(ValueError, match=f"Negative values in data: X holds -1 at row {row}"):
        by_entries.transform(S)
