"""Sobol frequencies: unbiased, and closer than independent ones in few dimensions."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    ExponentialPower,
    FourierFeatures,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    QuasiRandomFeatures,
    RationalQuadratic,
)
from mercer.testing import check_feature_map, sample_rows


@parametrize_with_checks([QuasiRandomFeatures()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(gamma=0.7),
        Laplacian(gamma=0.5),
        Matern(1.5, length_scale=1.0) * Gaussian(gamma=0.2),
        ExponentialPower(1.2, length_scale=0.7),
        RationalQuadratic(0.8, length_scale=1.0),
    ],
    ids=repr,
)
def test_the_laws(kernel):
    check_feature_map(
        QuasiRandomFeatures(kernel, n_components=15), 2 * sample_rows(5, 3), sklearn_checks=False, variance=False
    )


@pytest.mark.parametrize(("n_features", "share"), [(1, 0.05), (2, 0.2), (4, 0.8)])
def test_less_error_than_independent_frequencies_in_few_dimensions(n_features, share):
    rows = 3 * sample_rows(20, n_features)
    kernel = Gaussian(gamma=1.0)

    def mean_square(kind):
        errors = []
        for seed in range(20):
            Z = kind(kernel, n_components=512, random_state=seed).fit_transform(rows)
            errors.append(np.mean((Z @ Z.T - kernel(rows)) ** 2))
        return np.mean(errors)

    assert mean_square(QuasiRandomFeatures) < share * mean_square(FourierFeatures)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="QuasiRandomFeatures: kernel must be shift-invariant"):
        QuasiRandomFeatures(Polynomial(2)).fit(np.eye(3))
    with pytest.raises(ValueError, match=r"needs 30000 coordinates of the Sobol sequence, which has 21201. Use Orth"):
        QuasiRandomFeatures(Gaussian(gamma=1.0)).fit(np.ones((2, 30_000)))
