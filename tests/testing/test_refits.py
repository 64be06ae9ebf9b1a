"""The kit refuses estimators that remember an earlier fit."""

import pytest

from mercer import FourierFeatures, Gaussian
from mercer.testing import (
    check_feature_map,
    check_refits,
)


class _LeavesATrace(FourierFeatures):
    """A fit of its own, which forgets to forget."""

    def fit(self, X, y=None):
        trace = getattr(self, "trace_", None)
        super().fit(X, y)
        if trace is not None or X.shape[1] > 64:
            self.trace_ = X.shape[1]
        return self


class _BreaksWhenRefused(FourierFeatures):
    def fit(self, X, y=None):
        self.offsets_ = None
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (_LeavesATrace, r"fitted more columns and then as it is: the earlier fit has left \['trace_'\]"),
        (_BreaksWhenRefused, r"the refused fit has changed \['offsets_'\]"),
    ],
)
def test_a_map_that_remembers_is_refused(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_refits(wrong(n_components=8))
    with pytest.raises(AssertionError, match=message):
        check_feature_map(wrong(Gaussian(gamma=1.0), n_components=8), sklearn_checks=False)
