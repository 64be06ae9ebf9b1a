"""The kit refuses estimators whose outputs change after fit."""

import pytest

from mercer import KernelRidge, LinearFeatures
from mercer.testing import (
    check_fitted,
)


class _ReadsAParameter(LinearFeatures):
    def largest_feature(self, norm, X):
        return float(self.n_components) * super().largest_feature(norm, X)


class _KeepsTheRows(LinearFeatures):
    def _draw(self, kernel, X, n_components, rng):
        self.rows_ = X
        return super()._draw(kernel, X, n_components, rng)

    def writer(self, X):
        write = super().writer(X)

        def shifted(rows, out):
            write(rows, out)
            out += self.rows_.sum()

        return shifted


class _AsksWhetherNone(KernelRidge):
    def predict(self, X):
        return super().predict(X) + (self.random_state is None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (_ReadsAParameter(), "with another n_components after fit is read after fit"),
        (_KeepsTheRows(), "with X overwritten after fit"),
        (_AsksWhetherNone(n_components=8), "with another random_state after fit: predict"),
    ],
)
def test_what_changes_after_fit_is_refused(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_fitted(wrong)
