"""The sketch of subsequences: exact for few letters, else unbiased, within its bound."""

import numpy as np
import pytest

from mercer import Normalized, feature_map
from mercer.features import Concatenate, Normalize, SubsequenceSketch
from mercer.kernels import Spectrum, Subsequence
from mercer.storage import dumps, loads
from mercer.structures import Strings
from mercer.testing import assert_mean_close, check_feature_map

RNG = np.random.RandomState(0)
TEXTS = Strings(["".join(RNG.choice(list("acgt"), size=n)) for n in (8, 12, 0, 1, 9)])
OTHERS = Strings(["acgtac", "gg", "xyzxy"])


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_for_each_subsequence_is_exact(length, dtype):
    kernel, X = Subsequence(length, 0.6, alphabet="acgt"), TEXTS.astype(dtype)
    fitted = SubsequenceSketch(kernel, n_components=4**length).fit(X)
    Z = fitted.transform(X)
    assert fitted.is_exact_
    assert not fitted.is_random
    assert Z.shape == (5, 4**length)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), rtol=50 * np.finfo(dtype).eps, atol=1e-12)
    assert not fitted.variance(X).any()
    assert not SubsequenceSketch(kernel, n_components=4**length - 1).fit(X).is_exact_


# The rate is tested below and not by the kit: with few letters collisions are rare and large, and 200 re-draws at
# D = 1024 see too few of them.
@pytest.mark.parametrize("claims", [{"variance": False}, {"unbiased": False}], ids=["mean", "error"])
@pytest.mark.parametrize("length", [2, 3])
def test_the_kit(length, claims):
    check_feature_map(SubsequenceSketch(Subsequence(length, 0.7), n_components=16), TEXTS, outside=OTHERS, **claims)


def test_the_kit_on_the_normalised_kernel():
    others = {"map": [SubsequenceSketch(Subsequence(1), n_components=8, random_state=0)]}
    made = Normalize(SubsequenceSketch(Subsequence(2, 0.5), n_components=16))
    check_feature_map(made, TEXTS, outside=OTHERS, variance=False, others=others)


def test_the_error_falls_as_one_over_the_width():
    """2,000 draws at widths of 8 and 32: D times the error does not grow; false alarm 1e-6 for all pairs at once."""
    kernel, X = Subsequence(3, 0.6), TEXTS.astype(np.float64)[:2]
    K, scaled = kernel(X), []
    for width in (8, 32):
        draws = (SubsequenceSketch(kernel, n_components=width, random_state=s).fit(X) for s in range(2000))
        scaled.append(width * np.array([(Z @ Z.T - K) ** 2 for Z in (one.transform(X) for one in draws)]))
    few, many = (errors.mean(axis=0) for errors in scaled)
    noise = np.sqrt(sum(errors.var(axis=0) / len(errors) for errors in scaled))
    assert (many - few <= 5.2 * noise).all()


@pytest.mark.parametrize(("length", "width"), [(2, 8), (3, 16), (4, 33)])
def test_the_error_is_within_the_bound(length, width):
    """2,000 draws; the mean squared error less the bound is not above 0, false alarm 1e-6 for all pairs at once."""
    kernel, X = Subsequence(length, 0.6), TEXTS.astype(np.float64)[:2]
    K, lengths = kernel(X), kernel.diag(X)
    draws = (SubsequenceSketch(kernel, n_components=width, random_state=s).fit(X) for s in range(2000))
    errors = np.array([(Z @ Z.T - K) ** 2 for Z in (one.transform(X) for one in draws)])
    share = 2 * (2**length - 1) / width + 2 * (3**length - 2 ** (length + 1) + 1) / width**2
    bound = share * np.outer(lengths, lengths)
    mean = errors.mean(axis=0)
    assert (mean <= bound + 5.2 * errors.std(axis=0) / len(errors) ** 0.5).all()
    assert (mean > 0.01 * bound).all()  # and the bound is no idle one


def test_a_mean_of_draws_is_the_kernel():
    """4,000 draws at a width of 8; false alarm 1e-6."""
    kernel, X = Subsequence(3, 0.5), Strings(["abcabd", "bcadb"]).astype(np.float64)
    draws = (SubsequenceSketch(kernel, n_components=8, random_state=s).fit_transform(X) for s in range(4000))
    assert_mean_close(np.array([Z @ Z.T for Z in draws]), kernel(X), false_alarm=1e-6)


def test_the_algebra():
    assert isinstance(feature_map(Subsequence(3), 64), SubsequenceSketch)
    assert isinstance(feature_map(Normalized(Subsequence(3)), 64), Normalize)
    total = feature_map(Subsequence(2) + 0.5 * Spectrum(2), 4096, random_state=0).fit(TEXTS)
    assert isinstance(total, Concatenate)
    Z = total.transform(TEXTS)
    K = total.kernel_(TEXTS)
    assert np.abs(Z @ Z.T - K).max() < 6 * np.sqrt(total.variance(TEXTS).max())


def test_model_files():
    for width in (9, 16):
        fitted = SubsequenceSketch(Subsequence(2, alphabet="acgt"), n_components=width, random_state=0).fit(TEXTS)
        np.testing.assert_array_equal(loads(dumps(fitted)).transform(OTHERS), fitted.transform(OTHERS))


def test_errors():
    with pytest.raises(ValueError, match="kernel must be Subsequence"):
        SubsequenceSketch(Spectrum(2)).fit(["a"])
    with pytest.raises(ValueError, match=r"X\[1\] must be text"):
        SubsequenceSketch().fit(["a", 3])
