"""The risk of bounded weights: its value, gradient and Hessian against the definition, and bounds of phi."""

import numpy as np
import pytest

from mercer import KitchenSinks
from mercer.data import as_blocks
from mercer.fitting import Classes, Numbers, Passes
from mercer.fitting.empirical_risk import EmpiricalRisk

LOSSES = {
    "squared": lambda s, y: 0.5 * (s - y) ** 2,
    "squared_hinge": lambda s, y: 0.5 * np.maximum(1 - y * s, 0) ** 2,
    "logistic": lambda s, y: np.logaddexp(0, -y * s),
}


def _risk(rng, loss, phi="cosine", weight=None):
    X = rng.standard_normal((300, 3))
    y = np.array(["a", "b", "c"])[np.arange(300) % 3]
    targets = Classes("Test", classes=np.array(["a", "b", "c"]))
    sinks = KitchenSinks(phi, n_components=10, random_state=0).fit(X)
    blocks = as_blocks(X, y, sample_weight=weight, block_rows=64)
    return EmpiricalRisk(sinks, blocks, targets, Passes("Test"), loss), sinks.transform(X), y


@pytest.mark.parametrize("loss", LOSSES)
def test_the_expansion_is_that_of_the_mean_loss(rng, loss):
    risk, Z, y = _risk(rng, loss)
    signs = np.where(y[:, None] == np.array(["a", "b", "c"]), 1.0, -1.0)
    phi = Z * (10**0.5 / risk.bound)
    alpha = rng.standard_normal((10, 3))

    def value(alpha):
        return LOSSES[loss](phi @ alpha, signs).mean(axis=0)

    expand = risk.expansion()
    found = expand(alpha)
    np.testing.assert_allclose(found.values, value(alpha), rtol=1e-12)
    step = 1e-6 * np.eye(10)[:, :, None]
    slopes = np.array([(value(alpha + s) - value(alpha - s)) / 2e-6 for s in step])
    np.testing.assert_allclose(found.gradients, slopes, atol=1e-8)
    curves = np.array([(expand(alpha + s).gradients - expand(alpha - s).gradients) / 2e-6 for s in step])
    np.testing.assert_allclose(
        found.hessians, np.moveaxis(curves, 2, 0), atol=2e-2 if loss == "squared_hinge" else 1e-7
    )


def test_an_unknown_bound_is_the_largest_value_on_the_rows(rng):
    risk, Z, _ = _risk(rng, "squared", phi="relu")
    assert risk.bound == pytest.approx(np.abs(Z).max() * 10**0.5)


def test_weights_are_refused(rng):
    with pytest.raises(ValueError, match="Test: the empirical risk has no sample_weight"):
        _risk(rng, "squared", weight=np.ones(300))[0].expansion()


def test_numbers_are_one_column(rng):
    X = rng.standard_normal((50, 2))
    sinks = KitchenSinks(n_components=5, random_state=0).fit(X)
    targets = Numbers("Test", several=False)
    risk = EmpiricalRisk(sinks, as_blocks(X, X[:, 0]), targets, Passes("Test"), "squared")
    assert risk.expansion()(np.zeros((5, 1))).values == pytest.approx([0.5 * np.mean(X[:, 0] ** 2)])
