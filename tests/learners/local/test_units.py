"""Units of errors: each target of its own, or one of all classes."""

import numpy as np

from mercer.fitting import Classes, HeldTargets, Numbers
from mercer.learners.local.units import error_units


def test_numbers_have_their_variances(rng):
    Y = rng.standard_normal((50, 2)) * [1.0, 10.0]
    np.testing.assert_allclose(error_units(HeldTargets.of(Numbers("test"), Y, None)), Y.var(axis=0))


def test_a_class_of_two_rows_counts_as_two_rows():
    codes = np.repeat([0, 1, 2], [500, 498, 2])
    Y = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    targets = Classes("test", classes=np.arange(3))
    units = error_units(HeldTargets(targets, Y, codes, np.ones(1000), np.ones(1000)))
    np.testing.assert_allclose(units, np.full(3, Y.var(axis=0).mean()))
    unseen = np.where(np.arange(3) == 2, Y + 1.0, 0.0)  # residuals of a model that never predicts the third class
    assert np.mean((unseen**2).mean(axis=0) / units) < 0.01
