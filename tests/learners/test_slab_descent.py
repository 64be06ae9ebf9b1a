"""Slabs that are added while the held-out error falls: each step is exact, the error is honest, bad input is named."""

import numpy as np
import pytest

from mercer import Gaussian, KernelRidge, KernelRidgeClassifier, Polynomial, config_context, load, save
from mercer.datasets import kernel_regression, rings
from mercer.features import SeededBlocks
from mercer.key_core import splitmix64

KERNEL = Gaussian(gamma=0.1)


def _map(n_components=640, slab=32):
    return SeededBlocks(KERNEL, n_components=n_components, slab=slab, random_state=0)


def _grown(X, y, weight=None, **parameters):
    model = KernelRidge(features=_map(), n_components="grow", alpha=0.5, far_rows="keep", **parameters)
    return model.fit(X, y, sample_weight=weight)


def _by_hand(X, y, n_slabs, alpha, weight):
    """Return the held-out errors and predictions of the descent, by dense linear algebra on unscaled slabs."""
    share = np.clip(2000 / len(X), 0.05, 0.25)
    out = splitmix64(np.arange(len(X), dtype=np.uint64)) < np.uint64(share * 2.0**64)
    left, errors, kept = y - y.mean(), [], weight * ~out
    for number in range(n_slabs):
        Z = _map().fit(X).slab_map(number).transform(X)
        mean, centre = np.average(Z, axis=0, weights=kept), np.average(left, weights=kept)
        apart = Z - mean
        gram = (kept[:, None] * apart).T @ apart + alpha * (number + 1) * np.eye(Z.shape[1])
        coef = np.linalg.solve(gram, apart.T @ (kept * (left - centre)))
        left = left - centre - apart @ coef
        errors.append(np.average(left[out] ** 2, weights=weight[out]))
    return errors, y - left


@pytest.mark.parametrize("weighted", [False, True])
def test_every_step_is_an_exact_ridge_regression_on_the_residuals(weighted):
    data = kernel_regression(4000, 5, noise=0.3, random_state=0)
    weight = np.random.RandomState(1).rand(4000) + 0.1 if weighted else np.ones(4000)
    model = _grown(data.X, data.y, weight if weighted else None)
    n_added = model.solution_.iterations
    errors, _ = _by_hand(data.X, data.y, n_added, 0.5, weight)
    np.testing.assert_allclose(model.solution_.history, errors, rtol=1e-8)
    count = 1 + int(np.argmin(errors))
    assert model.feature_map_.n_features_out_ == 32 * count == model.solution_.details["n_components"]
    _, expected = _by_hand(data.X, data.y, count, 0.5, weight)
    np.testing.assert_allclose(model.predict(data.X), expected, atol=1e-8)


def test_it_stops_before_the_last_slab_where_more_do_not_pay():
    data = kernel_regression(4000, 3, n_centres=3, noise=0.5, random_state=0)
    model = _grown(data.X, data.y)
    assert model.solution_.iterations < 20
    gain = (model.solution_.history[-3] - model.solution_.history[-1]) / 2
    assert gain * model.solution_.iterations < 0.02 * model.solution_.history[-1]


def test_threads_change_nothing_but_rounding():
    data = kernel_regression(5000, 5, noise=0.3, random_state=0)
    found = []
    for threads in (1, 2):
        with config_context(threads=threads):
            found.append(_grown(data.X, data.y).coef_)
    np.testing.assert_allclose(*found, rtol=1e-8, atol=1e-10)


def test_the_classifier_grows_and_its_file_holds_the_chosen_slabs(tmp_path):
    data = rings(3000, random_state=0)
    model = KernelRidgeClassifier(features=_map(), n_components="grow").fit(data.X, data.y)
    assert model.score(data.X, data.y) > 0.85
    assert model.coef_.shape == (model.feature_map_.n_features_out_,)
    save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(load(tmp_path / "model.mercer").predict(data.X), model.predict(data.X))


def test_a_kernel_without_slabs_is_refused():
    with pytest.raises(ValueError, match="n_components='grow' adds slabs of Fourier features, which kernel=Polynomial"):
        KernelRidge(Polynomial(2), n_components="grow").fit(np.eye(4), np.ones(4))


def test_a_callback_keeps_the_slabs_so_far():
    data = kernel_regression(2000, 5, noise=0.3, random_state=0)
    with config_context(callback=lambda state: state.stage == "slab descent" and state.iteration == 3):
        model = _grown(data.X, data.y)
    assert model.solution_.iterations == 3
    assert model.solution_.status == "stopped by the callback"
