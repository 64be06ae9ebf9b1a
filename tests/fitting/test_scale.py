"""The scale of a kernel, where a learner is to find it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split

import mercer
from mercer import Gaussian, KernelRidge, Laplacian, Linear, Matern
from mercer.data import as_blocks
from mercer.fitting.scale import choose_scale, has_automatic_scale, stretched
from mercer.kernels import LowOrder
from mercer.storage import dumps, loads

AUTO = [
    Gaussian(gamma="auto"),
    Laplacian(gamma="auto"),
    Matern(1.5, length_scale="auto"),
    mercer.Cauchy(length_scale="auto"),
    mercer.RationalQuadratic(2.0, length_scale="auto"),
    mercer.ExponentialPower(1.0, length_scale="auto"),
]


@pytest.mark.parametrize("kernel", AUTO, ids=repr)
def test_without_targets_it_is_the_median(kernel, rng):
    X = rng.standard_normal((40, 3))
    name = "gamma" if hasattr(kernel, "gamma") else "length_scale"
    assert kernel.resolve(X) == kernel.with_params(**{name: "median"}).resolve(X)
    assert not kernel.is_resolved
    assert mercer.feature_map(kernel, 8, random_state=0).fit(X).kernel_ == kernel.resolve(X)
    assert mercer.KernelPCA(kernel, map_components=8, random_state=0).fit(X).feature_map_.kernel_ == kernel.resolve(X)
    assert mercer.parse_kernel(repr(kernel)) == kernel


@pytest.mark.parametrize("kernel", AUTO, ids=repr)
def test_a_stretched_kernel_is_that_of_shorter_rows(kernel, rng):
    X = rng.standard_normal((15, 3))
    resolved = kernel.resolve(X)
    np.testing.assert_allclose(stretched(kernel, resolved, 2.5)(X), resolved(X / 2.5), rtol=1e-12)


def test_only_automatic_scales_of_an_expression_are_stretched():
    kernel = 2 * (Gaussian(gamma="auto") + Linear()) * Laplacian(gamma="scale") + LowOrder(Gaussian(gamma="auto"))
    assert has_automatic_scale(kernel)
    X = np.random.RandomState(0).rand(20, 3)
    resolved = kernel.resolve(X)
    assert not has_automatic_scale(resolved)
    changed = stretched(kernel, resolved, 2.0)
    before, after = resolved.get_params(), changed.get_params()
    numbers = {path: after[path] / value for path, value in before.items() if path.endswith("gamma")}
    assert sorted(numbers.values()) == pytest.approx([0.25, 0.25, 1.0])


@pytest.mark.parametrize("best", [2.0**k for k in (-5.5, -3.0, -1.0, 0.0, 0.5, 4.0)])
def test_the_walk_ends_at_the_least_error(best):
    kernel, resolved = Laplacian(gamma="auto"), Laplacian(gamma=1.0)
    choice = choose_scale(kernel, resolved, lambda tried: abs(np.log2(1 / tried.gamma) - np.log2(best)))
    assert choice.kernel.gamma == pytest.approx(1 / best)
    assert len(choice.factors) == len(set(choice.factors)) <= 10


def test_the_median_stays_where_nothing_is_better():
    kernel, resolved = Gaussian(gamma="auto"), Gaussian(gamma=3.0)
    for error in (1.0, np.inf, np.nan):
        assert choose_scale(kernel, resolved, lambda tried, error=error: error).kernel == resolved


def _waves(n_rows, frequency, seed):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n_rows, 4))
    return X, np.sin(frequency * X[:, 0]) * np.cos(frequency * X[:, 1]) + 0.1 * rng.standard_normal(n_rows)


@pytest.mark.parametrize("frequency", [0.3, 4.0])
def test_functions_smoother_and_rougher_than_the_median_are_learned_better(frequency):
    X, y = _waves(1200, frequency, 0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=600, random_state=0)
    # by how much the squared errors of the two models differ, row by row
    models = [KernelRidge(Gaussian(gamma=rule), random_state=0).fit(X, y) for rule in ("auto", "median", "scale")]
    squares = [(model.predict(X_test) - y_test) ** 2 for model in models]
    for other in squares[1:]:
        gain = other - squares[0]
        # below 0 by chance once in a million, if the rules were equally good
        assert gain.mean() > -4.9 * gain.std() / len(gain) ** 0.5
    factors = models[0].solution_.details["scale_factors"]
    chosen = factors[models[0].solution_.details["scale_errors"].argmin()]
    assert chosen > 1 if frequency < 1 else chosen < 1
    if frequency > 1:
        gain = squares[1] - squares[0]
        assert gain.mean() > 4.9 * gain.std() / len(gain) ** 0.5


@pytest.mark.parametrize("name", ["KernelRidge", "KernelSVR", "KernelSVC", "KernelLogisticRegression"])
def test_learners_with_targets_choose_it(name):
    X, y = _waves(300, 4.0, 1)
    y = y if name in ("KernelRidge", "KernelSVR") else np.where(y > 0, "up", "down")
    model = getattr(mercer, name)(Gaussian(gamma="auto"), n_components=64, random_state=0)
    fitted = clone(model).fit(X, y)
    kernel, details = fitted.feature_map_.kernel_, fitted.solution_.details
    assert kernel.gamma > Gaussian(gamma="median").resolve(X).gamma
    assert len(details["scale_factors"]) == len(details["scale_errors"]) >= 4
    told = clone(model).set_params(kernel=kernel).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), told.predict(X))
    streamed = clone(model).fit(as_blocks(X, y, block_rows=41))
    np.testing.assert_array_equal(streamed.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loads(dumps(fitted)).predict(X), fitted.predict(X))


def test_weights_are_repetitions():
    X, y = _waves(150, 4.0, 2)
    weight = 1.0 + (np.arange(150) % 3 == 0)
    repeated = np.repeat(np.arange(150), weight.astype(int))
    model = KernelRidge(Gaussian(gamma="auto"), n_components=64, random_state=0)
    errors = [
        clone(model).fit(X, y, sample_weight=weight).solution_.details["scale_errors"],
        clone(model).fit(X[repeated], y[repeated]).solution_.details["scale_errors"],
    ]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-6)
