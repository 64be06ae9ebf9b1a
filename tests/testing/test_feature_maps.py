"""The kit refuses maps whose features or claimed errors are wrong."""

import numpy as np
import pytest

from mercer import Gaussian, Polynomial, SplitSketch, TensorSketch
from mercer.features import KernelMap
from mercer.features.sketches.hashes import draw_hashes
from mercer.testing import (
    check_feature_map,
    sample_rows,
)


class _Biased(TensorSketch):
    """One table for all factors: the classic mistake."""

    def _draw(self, kernel, X, n_components, rng):
        super()._draw(kernel, X, n_components, rng)
        self.index_[:, 1:], self.sign_[:, 1:] = self.index_[:, :1], self.sign_[:, :1]
        return n_components


class _TooOptimistic(TensorSketch):
    def exact_variance(self, X, Y):
        return 0.5 * super().exact_variance(X, Y)


class _Forgetful(TensorSketch):
    """Draws anew at each transform."""

    def writer(self, X):
        self.index_, self.sign_ = draw_hashes(np.random.RandomState(), self.n_components, self.index_.shape)
        return super().writer(X)


@pytest.mark.parametrize("wrong", [_Biased, _TooOptimistic, _Forgetful])
def test_a_wrong_map_is_refused(wrong):
    with pytest.raises(AssertionError):
        check_feature_map(wrong(Polynomial(2), n_components=16), sklearn_checks=False)


class _CountsNoBias(TensorSketch):
    """Leaves out what the dropped degrees lose."""

    def bias(self, X, Y):
        return 0.0


class _Relearns(SplitSketch):
    """Finds its direction anew on the rows of a re-draw."""

    def exact_variance(self, X, Y):
        return None

    def redrawn(self, rng):
        return KernelMap.redrawn(self, rng)


@pytest.mark.parametrize(
    ("wrong", "others"),
    [
        (_CountsNoBias(Gaussian(gamma=2.0), n_components=20), {"n_sketches": []}),
        (_Relearns(n_components=12), {}),
    ],
    ids=["no bias", "learned anew"],
)
def test_an_error_that_is_not_the_one_claimed_is_refused(wrong, others):
    """On rows far from their anchor, where it matters."""
    with pytest.raises(AssertionError, match=r"standard errors|without spread"):
        check_feature_map(
            wrong,
            1 + sample_rows(),
            n_draws=150,
            sklearn_checks=False,
            unbiased=False,
            data_dependent=True,
            others=others,
        )
