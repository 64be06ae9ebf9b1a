"""However a CSR matrix is stored, its rows are those of the dense one: for every kernel, map, learner and operator."""

from contextlib import contextmanager

import numpy as np
import pytest
from public import ESTIMATORS, KERNELS, LEARNERS, MAPS, OPERATORS, agree, make, off_margin, results, rows, target
from scipy import sparse

import mercer
from mercer import Gaussian, as_blocks
from mercer.data import reservoir
from mercer.testing.estimators import public_classes

X = rows()
CLEAN = sparse.csr_array(X)


def twice(S):
    """Store every entry in two parts."""
    part = np.where(np.arange(S.nnz) % 3 == 0, 2.0, 0.25) * S.data  # a part may be larger than the entry
    data = np.stack([part, S.data - part], axis=1).ravel()
    return sparse.csr_array((data, np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)


def backwards(S):
    """Store the entries of each row from right to left."""
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(S.indptr[:-1], S.indptr[1:], strict=True)])
    return sparse.csr_array((S.data[order], S.indices[order], S.indptr), shape=S.shape)


def with_zeros(S):
    """Store every zero."""
    n, d = S.shape
    return sparse.csr_array((S.toarray().ravel(), np.tile(np.arange(d), n), d * np.arange(n + 1)), shape=S.shape)


def wide(S):
    """Number columns by 64-bit integers."""
    S = S.copy()
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def slack(S):
    """Leave memory unused behind the last entry."""
    data, indices = np.append(S.data, [5.0, 7.0]), np.append(S.indices, [0, 0])
    loose = sparse.csr_array(S.shape)
    loose.data, loose.indices, loose.indptr = data, indices.astype(S.indices.dtype), S.indptr
    return loose


STORED = {
    "duplicates": twice,
    "backwards": backwards,
    "zeros": with_zeros,
    "int64": wide,
    "slack": slack,
    "all": lambda S: wide(slack(backwards(twice(with_zeros(S))))),
    "matrix": lambda S: sparse.csr_matrix(twice(S)),
}


@contextmanager
def untouched(kind):
    """Give a matrix, and check in the end that nobody has changed it."""
    S = STORED[kind](CLEAN)
    parts = [part.copy() for part in (S.data, S.indices, S.indptr)]
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    yield S
    for part, before in zip((S.data, S.indices, S.indptr), parts, strict=True):
        assert part.dtype == before.dtype
        np.testing.assert_array_equal(part, before)


@pytest.fixture(params=STORED, scope="module")
def stored(request):
    with untouched(request.param) as S:
        yield S


@pytest.fixture(params=["all", "matrix"], scope="module")
def worst(request):
    with untouched(request.param) as S:
        yield S


def same(found, expected, message=""):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max(), err_msg=message)


def test_every_public_kernel_is_here():
    of_functions_and_matrices = {"ExpectedProduct", "FunctionKernel", "PrecomputedKernel"}
    assert set(public_classes(mercer.Kernel)) - of_functions_and_matrices == set(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, stored):
    kernel, K = KERNELS[name], KERNELS[name](X)
    same(kernel(stored), K)
    same(kernel(stored, X), K)
    same(kernel(X, stored), K)
    same(kernel.diag(stored), kernel.diag(X))


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("kind", [mercer.Gaussian, mercer.Laplacian])
def test_bandwidths_found_in_the_rows(kind, rule, stored):
    same(kind(gamma=rule).resolve(stored).gamma, kind(gamma=rule).resolve(X).gamma)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name, worst):
    """Fitted on the same rows worst otherwise, or used on them, an estimator says the same."""
    estimator = make(name)
    y = target(estimator, X)
    expected = results(estimator.fit(CLEAN, y), X)
    for what, values in results(estimator, worst).items():
        agree(values, expected[what], f"{what} of {name}")
    expected, found = off_margin(estimator, expected, results(make(name).fit(worst, y), X))
    for what, values in found.items():
        agree(*comparable(what, values, expected[what]), f"{what} of {name} fitted so")


def comparable(what, *found):
    """Return what does not depend on the signs of eigenvectors: of features, their inner products."""
    return [Z @ Z.T for Z in found] if what == "transform" else found


@pytest.mark.parametrize("name", LEARNERS)
def test_streams(name, worst):
    estimator = make(name)
    y = target(estimator, X)
    expected = results(estimator.fit(CLEAN, y), X)

    def blocks(S):
        bounds = [(0, 7), (7, 40), (40, len(X))]
        return as_blocks(lambda: (S[a:b] if y is None else (S[a:b], y[a:b]) for a, b in bounds))

    if hasattr(estimator, "predict"):
        agree(estimator.predict(as_blocks(worst)), expected["predict"], f"{name} of a stream")
    expected, found = off_margin(estimator, expected, results(make(name).fit(blocks(worst)), X))
    for what, values in found.items():
        agree(*comparable(what, values, expected[what]), f"{what} of {name} fitted on a stream")


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, stored):
    def operator(S):
        if name == "MEKA":
            return make(name, kernel=Gaussian(gamma=2.0)).fit(S)
        if name == "ExactGram":
            return mercer.ExactGram(Gaussian(gamma=2.0), S)
        if name == "BlockGram":
            return mercer.gram.BlockGram(Gaussian(gamma=2.0), S, n_clusters=3, random_state=0)
        return mercer.LowRankGram(S)

    expected, found = operator(CLEAN), operator(stored)
    same(found.rows(slice(0, len(X))), expected.rows(slice(0, len(X))))
    same(found @ X, expected @ X)
    if name != "LowRankGram":
        assert abs(expected.frobenius_error(stored) - expected.frobenius_error(X)) < 1e-12


@pytest.mark.parametrize("name", MAPS)
def test_variances(name, worst, monkeypatch):
    monkeypatch.setattr(mercer.features.base, "_REDRAWS", 2)  # the same two for both, where there is no closed form
    estimator = make(name).fit(X)
    agree(estimator.variance(worst[:5]), estimator.variance(X[:5]), name)


def test_samples_of_streams(stored):
    sample, numbers = reservoir([stored[:30], stored[30:]], 20, np.random.RandomState(0))
    same(sample.toarray(), X[numbers])


def test_measured_errors(stored):
    features = mercer.FourierFeatures(Gaussian(gamma=2.0), n_components=24, random_state=0).fit(X)
    found, expected = (mercer.approximation_error(features, S) for S in (stored, X))
    same(found.frobenius.value, expected.frobenius.value)
