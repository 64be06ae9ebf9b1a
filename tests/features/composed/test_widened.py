"""A map that finds how many features an error needs."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Gaussian,
    KernelRidge,
    Laplacian,
    Linear,
    Polynomial,
    TensorSketch,
    approximation_error,
    config_context,
    feature_map,
)
from mercer.features import AdditiveFeatures, Concatenate, LinearFeatures, PartFeatures, Widened
from mercer.kernels import Chi2, Spectrum
from mercer.testing import check_feature_map


@parametrize_with_checks([Widened(error=0.5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("member", [LinearFeatures(), TensorSketch(Polynomial(2), n_components=16)], ids=repr)
def test_the_laws_of_a_map_hold_at_a_given_width(member):
    check_feature_map(Widened(member, error=None), sklearn_checks=False)


def test_refits_and_draws():
    check_feature_map(
        Widened(TensorSketch(Polynomial(2)), error=0.3), sklearn_checks=False, unbiased=False, variance=False
    )


@pytest.mark.parametrize("method", ["auto", "fourier", "nystroem"])
@pytest.mark.parametrize("error", [0.2, 0.02])
def test_the_error_of_the_sample_is_the_one_asked_for(method, error, rng):
    X = rng.standard_normal((200, 3))  # fewer than the sample: the error is exact
    z = feature_map(Gaussian(gamma=0.5), "auto", error=error, method=method, random_state=0).fit(X)
    assert z.errors_[-1] <= error
    assert z.errors_[-1] == pytest.approx(approximation_error(z.map_, X, n_samples=200).frobenius.value, rel=1e-6)
    assert z.widths_[-1] == z.n_features_out_ == z.map_.n_features_out_
    assert (z.errors_[:-1] > error).all()


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Laplacian(gamma=0.3)], ids=repr)
def test_rows_of_the_same_kind_have_the_error_too(kernel):
    """A map has the error on other rows too, on average over 20 seeds, with a false-alarm rate of 1e-6."""
    rng = np.random.RandomState(0)
    X, other = rng.standard_normal((2, 1500, 4))
    errors = []
    for seed in range(20):
        z = feature_map(kernel, "auto", error=0.1, random_state=seed).fit(X)
        errors.append(approximation_error(z.map_, other, n_samples=300).frobenius.value)
    spread = np.std(errors) / len(errors) ** 0.5
    assert np.mean(errors) < 0.1 + 4.9 * spread
    assert np.mean(errors) > 0.03  # and no more features than the error needs


def test_the_number_of_features_follows_the_error(rng):
    X = rng.standard_normal((300, 5))
    few, many = (feature_map(Gaussian(gamma=0.2), "auto", error=e, random_state=0).fit(X) for e in (0.2, 0.05))
    assert 4 < many.n_features_out_ / few.n_features_out_ < 64  # 16 by the rule of the square root


def test_targets_that_cannot_be_met_are_refused_in_words(rng):
    X = rng.rand(100, 4)
    with config_context(memory="50MB"), pytest.raises(MemoryError, match=r"error=0\.001 needs .*Raise error, or take"):
        feature_map(Gaussian(), "auto", error=1e-3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"features .*: too many\. Raise error"):
        feature_map(Gaussian(), "auto", error=1e-12, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"the error of AdditiveFeatures stays .* that it can use"):
        _Saturated(AdditiveFeatures(Chi2()), error=1e-6).fit(X)


class _Saturated(Widened):
    def members(self):
        (member,) = super().members()
        member.set_width = lambda n_components: None
        return [member]


def test_exact_maps_need_one_try(rng):
    X = rng.standard_normal((50, 4))
    z = feature_map(Linear(), "auto", error=1e-9, random_state=0).fit(X)
    assert z.n_features_out_ == 4
    assert len(z.errors_) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_components": "wide"}, "n_components must be 'auto' or an integer >= 1, got 'wide'"),
        ({"n_components": 10, "error": 0.1}, "error=0.1 chooses the number of features, and n_components=10 gives it"),
    ],
)
def test_arguments_that_contradict_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        feature_map(Gaussian(), **arguments)


def test_parameters_are_refused(rng):
    with pytest.raises(ValueError, match="Widened: error must be a finite number > 0, got 0"):
        Widened(error=0).fit(rng.rand(5, 2))
    with pytest.raises(ValueError, match="PartFeatures"):
        Widened(PartFeatures(Spectrum(2))).fit(["abc", "abd"])


def test_it_is_a_map_like_others(rng):
    X = rng.standard_normal((80, 3))
    z = feature_map(Gaussian(gamma=0.5), "auto", error=0.1, random_state=0)
    assert KernelRidge(features=z, random_state=0).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
    shared = Concatenate([z, LinearFeatures()], n_components=40, random_state=0).fit(X)
    assert shared.n_features_out_ == 40  # a share takes the place of the error
