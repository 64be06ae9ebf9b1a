"""The leave-one-out error of a ridge on sampled rows, against fits that leave each row out."""

import numpy as np
import pytest

from mercer import FourierFeatures, Gaussian, LinearFeatures
from mercer.fitting import Classes, Numbers, Sample
from mercer.fitting.trial import _ALPHAS, left_out_error


def _brute_force(Z, Y, weight):
    """Fit without one copy of each row, for every penalty; a row of weight 2 is two rows."""
    errors = np.zeros(len(_ALPHAS))
    for i in range(len(Z)):
        w = weight.copy()
        w[i] -= min(w[i], 1.0)
        mean, centre = w @ Z / w.sum(), w @ Y / w.sum()
        gram = (Z - mean).T * w @ (Z - mean)
        cross = (Z - mean).T * w @ (Y - centre)
        for j, alpha in enumerate(_ALPHAS):
            coef = np.linalg.solve(gram + alpha * np.eye(Z.shape[1]), cross)
            errors[j] += weight[i] * np.sum((Y[i] - centre - (Z[i] - mean) @ coef) ** 2)
    return errors.min() / weight.sum()


def _numbers(y):
    return Numbers("Test", mean=y.reshape(len(y), -1).mean(axis=0), n_dims=y.ndim, checked=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_error_of_fits_without_each_row(rng, weighted):
    X = rng.standard_normal((40, 3))
    y = np.sin(X[:, :2]) + 0.3 * rng.standard_normal((40, 2))
    weight = rng.randint(0, 3, 40).astype(float) if weighted else np.ones(40)
    drawn = FourierFeatures(Gaussian(gamma=0.5), n_components=12, random_state=0).fit(X)
    found = left_out_error(drawn, Sample(X, weight, y=y), _numbers(y))
    assert found == pytest.approx(_brute_force(drawn.transform(X), y, weight), rel=1e-6)


def test_classes_are_signs(rng):
    X = rng.standard_normal((50, 2))
    y = np.array(["a", "b", "c"])[rng.randint(0, 3, 50)]
    targets = Classes("Test", classes=np.unique(y), checked=True)
    drawn = LinearFeatures().fit(X)
    signs = np.where(y[:, None] == targets.classes, 1.0, -1.0)
    found = left_out_error(drawn, Sample(X, np.ones(50), y=y), targets)
    assert found == pytest.approx(_brute_force(X, signs, np.ones(50)), rel=1e-6)


def test_features_that_overflow_have_no_error(rng):
    X, y = 1e200 * rng.standard_normal((20, 2)), rng.standard_normal(20)
    assert left_out_error(LinearFeatures().fit(X), Sample(X, np.ones(20), y=y), _numbers(y)) == np.inf
    X = rng.standard_normal((20, 2))
    assert left_out_error(LinearFeatures().fit(X), Sample(X, np.zeros(20), y=y), _numbers(y)) == np.inf
