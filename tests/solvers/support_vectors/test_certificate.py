"""The certificate of support vector problems: weights of duals, true gaps, the best of all points seen."""

import numpy as np
import pytest
from scipy import sparse

from mercer import config_context
from mercer.solvers import BoxProblems
from mercer.solvers.support_vectors.certificate import Certificate
from mercer.solvers.support_vectors.svm_dual import LOSSES


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


def _problem(rng, loss, n=50, d=4, k=2):
    Z = rng.standard_normal((n, d))
    targets = np.sign(rng.standard_normal((n, k))) if "hinge" in loss else rng.standard_normal((n, k))
    problems = BoxProblems.of(loss, targets, 0.1 + rng.random_sample(n), epsilon=0.2, constant=0.7)
    return Z, problems, problems.clipped(rng.standard_normal((n, k)))


def _primal_and_dual(Z, problems, value, duals):
    full = np.hstack([Z, np.full((len(Z), 1), problems.constant)])
    primal = 0.5 * (value**2).sum(axis=1) + problems.losses(slice(None), full @ value.T).sum(axis=0)
    of_duals = duals.T @ full
    dual = -0.5 * (of_duals**2).sum(axis=1) - problems.conjugates(slice(None), duals).sum(axis=0)
    return primal, dual


def test_before_any_duals_the_point_is_zero(rng, loss):
    Z, problems, _ = _problem(rng, loss)
    certificate = Certificate(Z, problems)
    at_zero = problems.losses(slice(None), np.zeros_like(problems.targets)).sum(axis=0)
    np.testing.assert_allclose(certificate.objectives, at_zero)
    np.testing.assert_allclose(certificate.gaps, at_zero)
    assert not certificate.value.any()
    assert not certificate.duals.any()


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_weights_are_sums_of_rows(rng, loss, layout):
    Z, problems, duals = _problem(rng, loss)
    full = np.hstack([Z, np.full((len(Z), 1), problems.constant)])
    np.testing.assert_allclose(Certificate(layout(Z), problems).weights(duals), duals.T @ full, atol=1e-12)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_the_gap_is_primal_minus_dual(rng, loss, layout):
    """Also where the weights are not those of the duals."""
    Z, problems, duals = _problem(rng, loss)
    certificate = Certificate(layout(Z), problems)
    for value in (certificate.weights(duals), 0.3 * rng.standard_normal((2, 5))):
        fresh = Certificate(layout(Z), problems)
        fresh.objectives[:], fresh.gaps[:] = np.inf, np.inf  # so that any point is kept
        fresh.measure(duals, value)
        primal, dual = _primal_and_dual(Z, problems, value, duals)
        np.testing.assert_allclose(fresh.objectives, primal, rtol=1e-10)
        np.testing.assert_allclose(fresh.gaps, primal - dual, rtol=1e-10)


def test_a_worse_point_changes_nothing(rng, loss):
    Z, problems, duals = _problem(rng, loss)
    certificate = Certificate(Z, problems)
    certificate.measure(0.01 * duals)
    kept = [certificate.value.copy(), certificate.duals.copy(), certificate.gaps.copy(), certificate.objectives.copy()]
    certificate.measure(np.zeros_like(duals), np.full((2, 5), 1e3))
    for now, before in zip(
        [certificate.value, certificate.duals, certificate.gaps, certificate.objectives], kept, strict=True
    ):
        np.testing.assert_array_equal(now, before)


def test_only_chosen_problems_are_kept(rng, loss):
    Z, problems, duals = _problem(rng, loss)
    certificate = Certificate(Z, problems)
    certificate.measure(1e-3 * duals, chosen=np.array([False, True]))
    assert not certificate.value[0].any()
    assert not certificate.duals[:, 0].any()


def test_float64_products_of_float32_rows(rng):
    """Duals that cancel: in float32 the weights are rounding, in float64 they are right."""
    Z = np.repeat(rng.standard_normal((1, 3)), 2, axis=0).astype(np.float32)
    problems = BoxProblems.of("epsilon_insensitive", np.zeros((2, 1)), np.full(2, 1e12))
    duals = np.array([[1e9 + 1.0], [-1e9]])
    certificate = Certificate(Z, problems)
    certificate.is_precise = True
    np.testing.assert_allclose(certificate.weights(duals)[0, :-1], Z[0], rtol=1e-6)


def test_threads_change_no_bit(rng):
    Z, problems, duals = _problem(rng, "hinge", n=9000, d=600)
    found = []
    for threads in (1, 2):
        with config_context(threads=threads):
            certificate = Certificate(Z, problems)
            certificate.measure(1e-4 * duals)
            found.append((certificate.value, certificate.gaps))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
