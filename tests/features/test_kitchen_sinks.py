"""Random kitchen sinks: ready functions with their kernels, and a user's own."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import ArcCosine, Gaussian, KitchenSinks, Laplacian, Polynomial, feature_map
from mercer.kernels import ExpectedProduct
from mercer.testing import check_feature_map, sample_rows

X = 2 * sample_rows(5)


@parametrize_with_checks([KitchenSinks(), KitchenSinks("relu"), KitchenSinks(np.tanh)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("sinks", "kernel", "variance"),
    [
        (KitchenSinks("cosine", Laplacian(gamma=0.4), n_components=10), Laplacian(gamma=0.4), True),
        (KitchenSinks("step", n_components=10), ArcCosine(0), True),
        (KitchenSinks("relu", n_components=10), ArcCosine(1), True),
        (KitchenSinks("squared_relu", n_components=40), ArcCosine(2), False),
    ],
    ids=repr,
)
def test_the_laws(sinks, kernel, variance):
    check_feature_map(sinks, X, sklearn_checks=False, variance=variance)
    assert sinks.fit(X).kernel_ == kernel


@pytest.mark.parametrize("sinks", [KitchenSinks("sigmoid"), KitchenSinks(np.tanh, Gaussian(gamma=1.0))], ids=repr)
def test_functions_whose_kernel_has_no_closed_form(sinks):
    check_feature_map(sinks, X, sklearn_checks=False, unbiased=False, variance=False)
    kernel = sinks.fit(X).kernel_
    assert isinstance(kernel, ExpectedProduct)
    with pytest.raises(ValueError, match=r"has no closed form. Compare with the features of a larger map"):
        kernel(X)
    again = feature_map(kernel, 10)
    assert (again.phi, again.n_components) == (sinks.phi, 10)


def test_bounds_are_known():
    assert KitchenSinks("sigmoid").fit(X).bound_ == 1.0
    assert KitchenSinks("relu").fit(X).bound_ == np.inf
    assert np.isnan(KitchenSinks(np.tanh).fit(X).bound_)


def test_a_users_law():
    def signs(rng, n_components, n_features):
        return 2.0 * rng.randint(2, size=(n_features, n_components)) - 1, np.arange(n_components) / 7

    sinks = KitchenSinks(np.tanh, signs, n_components=30, random_state=0).fit(X)
    expected = np.tanh(X @ sinks.weights_ + np.arange(30) / 7) / 30**0.5
    np.testing.assert_allclose(sinks.transform(X), expected, atol=1e-14)
    assert set(np.unique(sinks.weights_)) == {-1.0, 1.0}


@pytest.mark.parametrize(
    ("sinks", "message"),
    [
        (
            KitchenSinks(lambda t: t[:, :1]),
            r"phi must return an array of the shape of its argument, \(5, 100\), got \(5, 1\)",
        ),
        (KitchenSinks(lambda t: np.where(t > 0, t, np.nan)), r"phi must return finite numbers, and phi\(-.*\) is nan"),
        (KitchenSinks("swish"), r"phi must be a function of an array or one of \['cosine', .*\], got 'swish'"),
        (KitchenSinks("cosine", Polynomial(2)), r"KitchenSinks: kernel must be shift-invariant"),
        (KitchenSinks("step", 3.0), r"distribution must be a shift-invariant kernel, a function .* got 3.0"),
        (KitchenSinks("step", lambda r, n, d: np.ones((n, d))), r"distribution must return W of shape \(5, 100\)"),
        (KitchenSinks("step", lambda r, n, d: np.full((d, n), np.inf)), r"distribution must return finite numbers"),
    ],
)
def test_bad_arguments_are_named_in_fit(sinks, message):
    with pytest.raises(ValueError, match=message):
        sinks.fit(X)


def test_a_function_that_fails_on_later_rows_is_named_in_transform():
    sinks = KitchenSinks(np.sqrt, lambda rng, n, d: np.ones((d, n)), n_components=3).fit(np.abs(X))
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=r"phi must return finite numbers, and phi\(-"):
        sinks.transform(-np.abs(X))
