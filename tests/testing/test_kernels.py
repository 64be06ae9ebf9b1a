"""The kit refuses kernels that break its laws."""

import pytest

from mercer import Linear
from mercer.kernels import DotProductKernel
from mercer.testing import (
    check_kernel,
)


class _NotPositive(DotProductKernel):
    def profile(self, t):
        return -t

    def coefficient(self, n):
        return -float(n == 1)


def test_a_wrong_kernel_is_refused():
    check_kernel(Linear())
    with pytest.raises(AssertionError, match="not positive semi-definite"):
        check_kernel(_NotPositive())
