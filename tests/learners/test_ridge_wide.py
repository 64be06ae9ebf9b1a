"""Ridge regression on features in slabs: the solution of all features at once, alpha from sampled rows, memory."""

import subprocess
import sys

import numpy as np
import pytest

from mercer import Gaussian, KernelRidge, KernelRidgeClassifier, config_context
from mercer.datasets import kernel_regression, rings
from mercer.features import SeededBlocks
from mercer.learners.ridge_wide import CRITERION

KERNEL = Gaussian(gamma=0.1)
WIDE = SeededBlocks(KERNEL, n_components=300, slab=64, random_state=0)


def _exact(X, Y, alpha, weight=None):
    """Solve the ridge problem on all features by dense linear algebra; return coefficients and intercepts."""
    Z = WIDE.fit(X).transform(X)
    weight = np.ones(len(Z)) if weight is None else weight
    mean, centre = np.average(Z, axis=0, weights=weight), np.average(Y, axis=0, weights=weight)
    apart = Z - mean
    coef = np.linalg.solve(
        (weight[:, None] * apart).T @ apart + alpha * np.eye(300), apart.T @ (weight[:, None] * (Y - centre))
    )
    return coef, centre - mean @ coef


@pytest.mark.parametrize("memory", [None, "8MB"], ids=["held", "in slabs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_solution_is_that_of_all_features_at_once(memory, weighted):
    """The stop by the gain leaves at most 1e-3 of the explained sum of squares, so predictions differ by its root."""
    data = kernel_regression(3000, 5, noise=0.3, random_state=0)
    weight = np.random.RandomState(1).rand(3000) if weighted else None
    with config_context(memory=memory):
        model = KernelRidge(features=WIDE, alpha=0.5, far_rows="keep").fit(data.X, data.y, sample_weight=weight)
    coef, intercept = _exact(data.X, data.y[:, None], 0.5, weight)
    expected = WIDE.fit(data.X).transform(data.X) @ coef + intercept
    found = model.predict(data.X)
    assert np.mean((found - expected.ravel()) ** 2) <= 4e-3 * np.var(expected)
    assert model.solution_.details["solver"] == "conjugate gradients"


def test_held_features_and_slabs_have_the_same_solution():
    data = kernel_regression(3000, 5, noise=0.3, random_state=0)
    models = []
    for memory in (None, "8MB"):
        with config_context(memory=memory):
            models.append(KernelRidge(features=WIDE, alpha=0.5).fit(data.X, data.y))
    held, slabs = models
    np.testing.assert_allclose(held.coef_, slabs.coef_, rtol=1e-6, atol=1e-8)
    assert slabs.solution_.details["block_rows"] > 256  # rows per block do not shrink with the number of features


@pytest.mark.parametrize("rule", ["loo", "gcv"])
def test_alpha_is_that_of_an_exact_kernel_machine_on_sampled_rows(rule):
    """With fewer rows than are sampled, the scores are leave-one-out errors of the exact kernel, found row by row."""
    data = kernel_regression(60, 3, noise=0.5, random_state=0)
    alphas = [1e-2, 1e-1, 1.0, 10.0]
    model = KernelRidge(KERNEL, features=WIDE, alpha=rule, alphas=alphas).fit(data.X, data.y)
    K, expected = KERNEL(data.X), []
    for alpha in alphas:
        errors = []
        for i in range(60):
            rest = np.delete(np.arange(60), i)
            apart = K[np.ix_(rest, rest)]
            mean = apart.mean(axis=0)
            centred = apart - mean - mean[:, None] + mean.mean()
            row = K[i, rest] - mean - K[i, rest].mean() + mean.mean()
            y = data.y[rest]
            errors.append(data.y[i] - y.mean() - row @ np.linalg.solve(centred + alpha * np.eye(59), y - y.mean()))
        expected.append(np.mean(np.square(errors)))
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-6)
    assert model.alpha_ == alphas[int(np.argmin(expected))]
    assert model.solution_.details["criterion"] == CRITERION


def test_several_classes():
    data = rings(2000, random_state=0)
    y = np.array(["a", "b", "c"])[data.y + (data.X[:, 0] > 1)]
    model = KernelRidgeClassifier(features=WIDE, alpha=0.1).fit(data.X, y)
    coef, intercept = _exact(data.X, 2.0 * (y[:, None] == np.unique(y)) - 1, 0.1)
    expected = np.unique(y)[(WIDE.fit(data.X).transform(data.X) @ coef + intercept).argmax(axis=1)]
    assert np.mean(model.predict(data.X) == expected) > 0.98


def test_a_callback_stops_after_a_number_of_products():
    data = kernel_regression(2000, 5, noise=0.3, random_state=0)
    with config_context(callback=lambda state: state.stage == "conjugate gradients" and state.iteration == 2):
        model = KernelRidge(features=WIDE, alpha=1e-3).fit(data.X, data.y)
    assert model.solution_.iterations == 2
    assert model.solution_.status == "stopped by the callback"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_memory_does_not_hold_the_features():
    """2000 rows of 200,000 features take 1.6 GB in float32: a fit in slabs takes half of that in all."""
    code = """
import numpy as np
from mercer import Gaussian, KernelRidge, config_context
X = np.random.RandomState(0).randn(2_000, 80).astype(np.float32)
with config_context(memory="600MB", threads=1, callback=lambda state: state.iteration == 1):
    model = KernelRidge(Gaussian(gamma=0.01), n_components=200_000, alpha=1.0, random_state=0).fit(X, X[:, 0])
    model.predict(X[:100])
with open("/proc/self/status") as status:  # ru_maxrss would count the peak of the process that started this one
    peak = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
print(type(model.feature_map_).__name__, peak)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    name, peak = done.stdout.split()
    assert name == "SeededBlocks"
    assert int(peak) < 800  # the features of all rows alone take 1600 MB
