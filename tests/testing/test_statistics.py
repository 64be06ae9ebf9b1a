"""The kit refuses statistics that break its laws."""

import pytest

from mercer.stats import Gradient
from mercer.testing import check_statistic


class _KeepsTheLast(Gradient):
    def merge(self, other):
        self.vector = other.vector.copy()
        return self


class _CountsUpdates(Gradient):
    def update(self, Z, residuals, loss=0.0):
        return super().update(Z, residuals, loss + 1)


@pytest.mark.parametrize("wrong", [_KeepsTheLast, _CountsUpdates])
def test_the_kit_refuses_a_wrong_statistic(rng, wrong):
    rows = (rng.standard_normal((9, 2)), rng.standard_normal((9, 1)))
    with pytest.raises(AssertionError, match=r"identity|cuts change"):
        check_statistic(wrong.of(2, 1), rows, [3, 5])
