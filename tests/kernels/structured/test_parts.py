"""Sums, multiples and normalised ones of part kernels stay sums over keys; other algebra follows the values."""

import numpy as np
import pytest

from mercer import Composed, Gaussian, Linear, Normalized, Polynomial
from mercer.kernels import GappedKmers, ShortestPath, Spectrum, WeisfeilerLehman
from mercer.kernels.structured.parts import PartDraw, counted_parts, is_keyed, key_matrix, samples_parts
from mercer.structures import Strings

X = Strings(["acgtac", "gta", "", "aaaa"])
KEYED = [
    Spectrum(2),
    2.0 * Spectrum(2),
    Spectrum(2) + 0.5 * Spectrum(1),
    Spectrum(2) + Spectrum(2),
    Normalized(Spectrum(2)) + Normalized(Spectrum(1) + GappedKmers(3, 1)),
]


@pytest.mark.parametrize("kernel", KEYED, ids=repr)
def test_keys_of_an_expression_multiply_to_its_values(kernel):
    counted = counted_parts(kernel, X)
    Z = key_matrix(counted, np.unique(counted.keys))
    np.testing.assert_allclose((Z @ Z.T).toarray(), kernel(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(counted.squares, kernel.diag(X), rtol=1e-12)
    assert is_keyed(kernel)
    assert kernel.domain == "strings"


def test_other_algebra_follows_the_values():
    K = Spectrum(2)(X)
    np.testing.assert_allclose((Spectrum(2) * Spectrum(1))(X), K * Spectrum(1)(X))
    np.testing.assert_allclose(Composed(Polynomial(2, coef0=1.0), Spectrum(2))(X), (K + 1) ** 2)
    assert Composed(Polynomial(2), Spectrum(2)).domain == "strings"
    assert not is_keyed(Spectrum(2) * Spectrum(1))


def test_two_domains_do_not_mix():
    for mix in (
        lambda: Spectrum(2) + WeisfeilerLehman(2),
        lambda: ShortestPath() * Gaussian(),
        lambda: Linear() + Spectrum(1),
    ):
        with pytest.raises(ValueError, match="must compare the same kind of objects"):
            mix()


def test_normalised_values_of_empty_objects_are_0():
    K = Normalized(Spectrum(3))(X)
    np.testing.assert_allclose(np.diag(K), [1, 1, 0, 1])
    assert not K[2].any()


def test_drawn_masks_leave_the_length_exact():
    kernel = Normalized(GappedKmers(3, 1))
    assert samples_parts(kernel)
    values = [counted_parts(kernel, X, PartDraw(seed, 1)).squares for seed in range(1, 200)]
    np.testing.assert_allclose(np.mean(values, axis=0), [1, 1, 0, 1], atol=0.1)


def test_text_given_to_a_graph_kernel_and_numbers_to_a_string_kernel():
    with pytest.raises(ValueError, match=r"WeisfeilerLehman: X\[0\] must be a graph"):
        WeisfeilerLehman(1)(["CCO"])
    with pytest.raises(ValueError, match=r"Spectrum: X\[0\] must be text"):
        Spectrum(1)(np.ones((2, 2)))


def test_rows_of_another_domain_are_refused_in_words():
    # A forged model file may bring a kernel and rows together that no check of a domain has seen.
    with pytest.raises(ValueError, match="WeisfeilerLehman: rows must be Ragged, got ndarray"):
        WeisfeilerLehman(2).evaluate(np.eye(2), np.eye(2))
