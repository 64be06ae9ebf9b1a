"""Features of categories: exact, or a count sketch where too many; unseen ones; multitask learning by the algebra."""

import numpy as np
import pytest
from scipy import sparse, stats

from mercer import CategoryFeatures, Columns, Gaussian, KernelRidge, SameCategory, feature_map
from mercer.testing import assert_mean_close, check_feature_map

CODES = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [0.0, 1.0], [3.0, 5.0], [7.0, 1.0]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("offset", [0.0, 0.7])
def test_the_kit_on_the_exact_map(offset):
    unseen = np.array([[0.0, 5.0], [9.0, 9.0]])  # two rows of such a category have a known error
    check_feature_map(CategoryFeatures(SameCategory(offset=offset)), CODES, outside=unseen, n_draws=3, unbiased=False)


@pytest.mark.parametrize("offset", [0.0, 0.7])
def test_the_kit_on_a_count_sketch(offset):
    """Buckets fewer than categories, at the width of the kit and at 4 times that."""
    many = np.random.RandomState(0).permutation(40)[:9, None].astype(float)
    rows = np.vstack([many[:3], many])
    feature_map = CategoryFeatures(SameCategory(offset=offset), n_components=2 + (offset > 0))
    check_feature_map(feature_map, rows, outside=many[3:5], sklearn_checks=False)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 2.0])
def test_features_are_exact_for_rows_of_fit_and_new_ones(rng, offset, make):
    kernel = SameCategory(offset=offset)
    X = rng.randint(4, size=(200, 3)).astype(float)
    new = rng.randint(6, size=(50, 3)).astype(float)
    fitted = CategoryFeatures(kernel).fit(make(X))
    Z = fitted.transform(make(X))
    assert Z.shape[1] == len(np.unique(X, axis=0)) + (offset > 0)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=1e-12)
    np.testing.assert_allclose(fitted.transform(make(new)) @ Z.T, kernel(new, X), atol=1e-12)


def test_feature_map_takes_the_exact_map_inside_products():
    kernel = Columns(SameCategory(offset=1.0), [0]) * Columns(Gaussian(gamma=0.5), [1, 2])
    X = np.column_stack([np.arange(9) % 3, np.random.RandomState(0).rand(9, 2)])
    fitted = feature_map(kernel, 64, random_state=0).fit(X)
    assert isinstance(fitted.maps_[0].map_, CategoryFeatures)
    assert fitted.maps_[0].n_features_out_ == 4
    assert fitted.kernel_ == kernel


def test_the_map_of_the_multitask_kernel_is_unbiased():
    X = np.column_stack([[0, 0, 1, 1, 2], np.random.RandomState(0).rand(5, 2)])
    kernel = Columns(SameCategory(offset=0.5), [0]) * Columns(Gaussian(gamma=0.5), [1, 2])
    outside = np.column_stack([[2, 0], np.random.RandomState(1).rand(2, 2)])
    check_feature_map(feature_map(kernel, 32), X, outside=outside, n_draws=200, sklearn_checks=False, variance=False)


def test_a_wrong_kernel():
    with pytest.raises(ValueError, match=r"CategoryFeatures: kernel must be SameCategory\(\), got Gaussian"):
        CategoryFeatures(Gaussian(gamma=1.0)).fit(CODES)


def test_one_feature_for_all_is_still_unbiased():
    feature_map = CategoryFeatures(SameCategory(offset=1.0), n_components=1).fit(CODES)
    assert feature_map.transform(CODES).shape == (6, 1)
    draws = [
        CategoryFeatures(SameCategory(offset=1.0), n_components=1, random_state=i).fit_transform(CODES)
        for i in range(500)
    ]
    assert_mean_close([Z @ Z.T for Z in draws], SameCategory(offset=1.0)(CODES), atol=1e-9)


N_TASKS, N_COLUMNS = 6, 3


def _tasks(rng, n_rows):
    """Draw tasks whose functions are one that all share plus one of their own, and rows of each."""
    frequencies, phases = rng.standard_normal((N_COLUMNS, 30)), rng.uniform(0, 2 * np.pi, 30)
    shared, own = rng.standard_normal(30) / 4, rng.standard_normal((N_TASKS, 30)) / 8

    def draw(n):
        task = np.repeat(np.arange(N_TASKS), n)
        X = rng.uniform(-1, 1, (N_TASKS * n, N_COLUMNS))
        waves = np.cos(X @ frequencies + phases)
        y = waves @ shared + np.sum(waves * own[task], axis=1) + 0.1 * rng.standard_normal(len(task))
        return np.column_stack([task, X]), y

    return draw(n_rows), draw(50)


def test_the_multitask_kernel_beats_pooled_and_separate_models():
    """Over 12 worlds with shared structure: one-sided paired t-tests of the log errors, false alarm 1e-3 each."""
    inner, rest = Gaussian(gamma=0.5), list(range(1, N_COLUMNS + 1))
    kernels = {
        "multitask": Columns(SameCategory(offset=2.0), [0]) * Columns(inner, rest),
        "pooled": Columns(inner, rest),
        "separate": Columns(SameCategory(), [0]) * Columns(inner, rest),
    }
    errors = {name: [] for name in kernels}
    for seed in range(12):
        (X, y), (X_new, y_new) = _tasks(np.random.RandomState(seed), 25)
        for name, kernel in kernels.items():
            model = KernelRidge(kernel, n_components=300, alpha="gcv", random_state=seed).fit(X, y)
            errors[name].append(np.log(np.mean(np.square(model.predict(X_new) - y_new))))
    for other in ("pooled", "separate"):
        worse = stats.ttest_rel(errors[other], errors["multitask"], alternative="greater")
        assert worse.pvalue < 1e-3, f"{other}: {worse}"
