"""Frozen values: how they print, and how parameters are read and replaced."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone

from mercer import Columns, Gaussian, Linear, Polynomial, ScaledColumns


def test_kernels_are_frozen_values():
    kernel = Polynomial(2)
    with pytest.raises(FrozenInstanceError):
        kernel.degree = 3
    assert len({Polynomial(2), Polynomial(2, gamma=1.0), Polynomial(3)}) == 2
    assert Polynomial(2, gamma=np.float32(0.5)) == Polynomial(2, gamma=0.5)
    assert type(Polynomial(np.int64(2)).degree) is int


def test_parameters_are_reached_by_name():
    kernel = Linear() + 2.0 * Polynomial(2)
    assert kernel.get_params()["terms_1__kernel__degree"] == 2
    assert kernel.with_params(terms_1__kernel__degree=3, terms_1__scale=4.0) == Linear() + 4.0 * Polynomial(3)
    assert kernel.with_params(terms_0=Gaussian(gamma=1.0)) == Gaussian(gamma=1.0) + 2.0 * Polynomial(2)
    with pytest.raises(ValueError, match="no parameter 'terms_5__degree'"):
        kernel.with_params(terms_5__degree=3)
    with pytest.raises(ValueError, match="no parameter 'sigma'"):
        Gaussian(gamma=1.0).with_params(sigma=2.0)


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Gaussian(), "Gaussian()"),
        (Gaussian(gamma=2.0), "Gaussian(gamma=2.0)"),
        (Polynomial(2, coef0=1.0), "Polynomial(2, coef0=1.0)"),
        (Columns(Linear(), [1, 0]), "Columns(Linear(), (1, 0))"),
    ],
)
def test_a_value_prints_its_fields_and_leaves_defaults_out(kernel, text):
    assert repr(kernel) == text


def test_inner_values_are_found_in_fields_and_in_tuples():
    kernel = Columns(Gaussian(gamma=1.0), [0]) + Linear()
    assert dict(kernel.inner_values()) == {"terms_0": kernel.terms[0], "terms_1": Linear()}
    assert dict(kernel.terms[0].inner_values()) == {"kernel": Gaussian(gamma=1.0)}
    assert list(ScaledColumns(Linear(), [2.0]).kernel.inner_values()) == []


def test_shallow_parameters_are_the_fields():
    kernel = Linear() + Polynomial(3)
    assert kernel.get_params(deep=False) == {"terms": (Linear(), Polynomial(3))}
    assert clone(kernel) is kernel
