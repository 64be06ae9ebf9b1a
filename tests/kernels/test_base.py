"""The algebra of kernels, their text, their parameters, and how they refuse bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer
from mercer import Gaussian, Laplacian, Linear, Polynomial
from mercer.kernels import Product, Scaled, Sum
from mercer.structures import Strings
from mercer.testing import check_kernel

leaves = st.one_of(
    st.just(Linear()),
    st.builds(Polynomial, st.integers(1, 4), gamma=st.floats(0.1, 3), coef0=st.floats(0, 2)),
    st.builds(Gaussian, gamma=st.floats(0.1, 3)),
    st.builds(Laplacian, gamma=st.floats(0.1, 3)),
)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda c, a: c * a, st.floats(0.1, 5), inner),
    ),
    max_leaves=5,
)


@given(kernel=expressions)
def test_an_expression_is_evaluated_part_by_part(kernel):
    X = np.random.RandomState(0).standard_normal((4, 3)) / 2
    np.testing.assert_allclose(kernel(X), _by_hand(kernel, X), rtol=1e-10)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-10)


def _by_hand(kernel, X):
    if isinstance(kernel, Sum):
        return sum(_by_hand(term, X) for term in kernel.terms)
    if isinstance(kernel, Product):
        return np.prod([_by_hand(term, X) for term in kernel.terms], axis=0)
    if isinstance(kernel, Scaled):
        return kernel.scale * _by_hand(kernel.kernel, X)
    return kernel(X)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear() + 0.5 * Polynomial(2) * Gaussian(gamma=1.0),
        2.0 * (Linear() + Gaussian(gamma=2.0)),
        (Linear() + Polynomial(2)) * Laplacian(gamma=0.5),
    ],
    ids=repr,
)
def test_the_laws_hold_for_expressions(kernel):
    check_kernel(kernel)


def test_sums_and_products_are_flat_and_scalars_come_first():
    a, b, c = Linear(), Polynomial(2), Gaussian(gamma=1.0)
    assert a + (b + c) == Sum((a, b, c))
    assert (2 * a) * (3 * b) == Scaled(6.0, Product((a, b)))
    assert 2 * (3 * a) == Scaled(6.0, a)
    assert np.float64(2) * a == a * 2 == Scaled(2.0, a)
    assert 1.0 * a == a


@pytest.mark.parametrize("scale", [-1.0, 0.0, np.inf, np.nan])
def test_a_scalar_that_is_not_positive_is_refused(scale):
    with pytest.raises(ValueError, match=r"scale must be a finite number > 0, got .*not positive definite"):
        scale * Linear()


@pytest.mark.parametrize("operation", [lambda k: k + 1, lambda k: k * "a", lambda k: k - k])
def test_other_operations_are_type_errors(operation):
    with pytest.raises(TypeError):
        operation(Linear())


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[1.0, np.nan]], None, r"Linear: X contains NaN at row 0, column 1"),
        ([[1.0, 2.0]], [[0.0, 1.0], [-np.inf, 1.0]], r"Linear: Y contains infinity \(inf\) at row 1, column 0"),
        (sparse.csr_array([[0.0, 0.0], [0.0, np.nan]]), None, r"X contains NaN at row 1, column 1"),
        ([[1.0, 2.0]], [[1.0]], r"X has 2 columns and Y has 1"),
        ([1.0, 2.0], None, r"Expected 2D array, got 1D array instead"),
        (np.zeros((0, 3)), None, r"0 sample\(s\)"),
        ([["a", "b"]], None, r"X holds text \(<U1\); it must hold numbers"),
        ([[1j, 2.0]], None, r"Complex data not supported"),
    ],
)
def test_bad_input_is_named(X, Y, message):
    with pytest.raises(ValueError, match=message):
        Linear()(X, Y)


def test_overflow_is_an_error_not_inf():
    X = np.full((2, 3), 1e30, dtype=np.float32)
    with pytest.raises(ValueError, match=r"Polynomial\(3\) overflows float32 on these rows"):
        Polynomial(3)(X)
    with pytest.raises(ValueError, match="overflows float32"):
        Polynomial(3).diag(X)


def test_a_gram_matrix_beyond_the_budget_is_refused():
    with (
        mercer.config_context(memory="1MB"),
        pytest.raises(MemoryError, match=r"needs .* GiB for the Gram matrix"),
    ):
        Linear()(np.ones((1000, 2)))


def test_tiles_do_not_change_the_result(monkeypatch, rng):
    X, Y = rng.standard_normal((40, 5)), rng.standard_normal((30, 5))
    kernel = Polynomial(3, coef0=1.0) + Gaussian(gamma=0.3)
    whole = kernel(X, Y)
    monkeypatch.setattr("mercer.kernels.base._TILE_ENTRIES", 64)
    np.testing.assert_allclose(kernel(X, Y), whole, rtol=1e-12)


def test_kernels_of_rows_have_their_domain_and_refuse_objects():
    assert (Linear() + 2.0 * Polynomial(2)).domain == "rows"
    with pytest.raises(ValueError, match=r"Linear: X is Strings.*compares rows of numbers"):
        Linear()(Strings(["a"]))


@given(kernel=expressions)
def test_an_expression_prints_as_what_makes_it(kernel):
    assert eval(repr(kernel), vars(mercer) | {name: getattr(mercer, name) for name in dir(mercer)}) == kernel
