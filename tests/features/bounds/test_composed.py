"""How many features for compositions and default maps: the numbers hold for the map that feature_map makes."""

import numpy as np
import pytest
from scipy import stats

from mercer import (
    Columns,
    Gaussian,
    Laplacian,
    Linear,
    LinearFeatures,
    Matern,
    Normalized,
    Polynomial,
    ScaledColumns,
    TensorSketch,
    components_for,
    feature_map,
)
from mercer.features import Concatenate
from mercer.features.composed.concatenate import shares
from mercer.testing import sample_rows

KERNELS = [
    Gaussian(gamma=1.0),
    Gaussian(gamma=0.3),
    Matern(1.5, length_scale=1.0),
    Laplacian(gamma=0.5),
    2 * Polynomial(2),
    Polynomial(2) + Linear(),
    Normalized(Polynomial(2)),
    Columns(Gaussian(gamma=1.0), (0, 1, 2)) + 3 * ScaledColumns(Laplacian(gamma=0.2), (1.0, 2.0, 3.0, 4.0, 5.0)),
    Normalized(Gaussian(gamma=1.0) + Polynomial(2, coef0=1.0)),
    Gaussian(gamma=1.0) * Polynomial(2, coef0=1.0),
    Normalized(Matern(0.5, length_scale=1.0) * Linear()),
]
ROWS = np.abs(sample_rows())
# The default map changes with the number of columns: quasi-random up to 4, structured from 64 on.
OTHER_WIDTHS = [(kernel, np.abs(sample_rows(6, d))) for d in (2, 70) for kernel in KERNELS[1:3]]


def errors_of(kernel, X, n_components, n_draws):
    """Return the errors of re-drawn maps on all pairs, one row per draw."""
    K = kernel.resolve(X)(X)
    upper = np.triu_indices(len(X))
    found = []
    for seed in range(n_draws):
        Z = feature_map(kernel.resolve(X), n_components, random_state=seed).fit_transform(X)
        found.append((Z @ Z.T - K)[upper])
    return np.array(found), np.abs(K[upper])


@pytest.mark.parametrize("kind", ["relative", "absolute"])
@pytest.mark.parametrize(
    ("kernel", "X"),
    [(kernel, ROWS) for kernel in KERNELS] + OTHER_WIDTHS,
    ids=lambda value: f"{value.shape[1]} columns" if isinstance(value, np.ndarray) else repr(value),
)
def test_the_error_is_met_as_often_as_promised(kernel, X, kind):
    """Per pair, misses of 100 maps against a binomial of 0.2, and mean squares against what Chebyshev allows.

    False alarms: 1e-6 for the counts of all pairs together, 1e-6 per pair for the mean squares (five standard errors).
    """
    needed = components_for(kernel, X, error=0.5, confidence=0.8, kind=kind)
    errors, K = errors_of(kernel, X, int(needed), 100)
    target = 0.5 * K if kind == "relative" else np.full_like(K, 0.5)
    most = stats.binom.isf(1e-6 / len(K), len(errors), 0.2)
    assert (np.abs(errors) > target).sum(axis=0).max() <= most
    if needed.inequality.startswith("Chebyshev"):
        squares = errors**2
        noise = 5 * squares.std(axis=0) / np.sqrt(len(squares))
        assert np.all(squares.mean(axis=0) <= 0.2 * target**2 + noise)


@pytest.mark.parametrize("kind", ["relative", "absolute"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_more_is_asked_for_less_error_and_more_confidence(kernel, kind):
    numbers = [
        components_for(kernel, ROWS, error=error, confidence=confidence, kind=kind).n_components
        for error, confidence in ((0.5, 0.8), (0.25, 0.8), (0.25, 0.99))
    ]
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[2]


def test_wrapping_changes_the_number_as_it_changes_the_error():
    """c k within eps is k within eps / c; columns that are left out, or scaled by 1, change nothing."""
    kernel = Polynomial(2, coef0=1.0)
    plain = components_for(kernel, ROWS, error=0.1, kind="absolute").n_components
    assert components_for(4 * kernel, ROWS, error=0.4, kind="absolute").n_components == plain
    assert components_for(ScaledColumns(kernel, (1.0,) * 5), ROWS, error=0.1, kind="absolute").n_components == plain
    wide = np.hstack([ROWS, 100 * ROWS])
    assert components_for(Columns(kernel, range(5)), wide, error=0.1, kind="absolute").n_components == plain
    relative = components_for(kernel, ROWS, error=0.1).n_components
    assert components_for(Normalized(4 * kernel), ROWS, error=0.1).n_components == relative
    scaled = Gaussian(gamma="scale").resolve(ROWS)
    assert components_for(Gaussian(), ROWS, error=0.1) == components_for(scaled, ROWS, error=0.1)
    assert components_for(Linear(), ROWS, error=1e-9, kind="uniform").n_components == 5


def test_members_of_a_sum_share_error_and_confidence():
    """At a high confidence the union bound over Hoeffding's inequalities asks for less than Chebyshev's inequality."""
    kernel = Laplacian(gamma=0.2) + Laplacian(gamma=0.5) + Linear()
    needed = components_for(kernel, ROWS, error=0.2, confidence=1 - 1e-6, kind="absolute")
    assert needed.inequality.startswith("union bound over the members (Hoeffding")
    # Two members that are not exact: eps / 2 and delta / 2 each, and five features for the third.
    each = 2 * int(np.ceil(2 * np.log(4 / 1e-6) / 0.1**2))
    assert needed.n_components == 2 * each + 5
    assert needed.alternatives[0].inequality.startswith("Chebyshev, sum of the members' variances")


def test_shares_are_those_of_the_sum():
    both = Concatenate([LinearFeatures(), TensorSketch(), TensorSketch()], n_components=52).fit(ROWS)
    assert [member.n_features_out_ for member in both.maps_] == shares([5, np.inf, np.inf], 52) == [5, 23, 24]
