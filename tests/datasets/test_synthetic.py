"""The generators' truth is true: errors, accuracies, spectra and correlations, with stated rates of false alarms."""

import numpy as np
import pytest
from scipy import stats

from mercer import Laplacian
from mercer.datasets import kernel_regression, rings, rows_with_spectrum, speech_frames, two_gaussians, two_views
from mercer.testing import assert_mean_close


@pytest.mark.parametrize("kernel", [None, Laplacian(gamma=0.3)], ids=["gaussian", "laplacian"])
def test_the_regression_function_has_the_error_it_claims(kernel):
    data = kernel_regression(20_000, 3, kernel=kernel, noise=0.5, random_state=0)
    assert_mean_close((data.y - data.truth(data.X)) ** 2, data.best, detect=0.1)
    np.testing.assert_allclose(np.mean(data.truth(data.X) ** 2), 1, rtol=0.25)  # normalised on 2000 other rows


@pytest.mark.parametrize(
    "generator",
    [lambda: rings(20_000, 3, flip=0.2, random_state=1), lambda: two_gaussians(20_000, random_state=1)],
    ids=["rings", "two_gaussians"],
)
def test_the_best_classifier_has_the_accuracy_it_claims(generator):
    data = generator()
    assert_mean_close((data.truth(data.X) == data.y).astype(float), data.best, detect=0.05)


def test_the_rings_have_no_linear_part_and_equal_classes():
    data = rings(20_000, 2, flip=0.0, random_state=2)
    signs = 2.0 * data.y - 1
    assert_mean_close(signs, 0)
    assert_mean_close(data.X * signs[:, None], [0, 0])


def test_rows_have_the_spectrum_asked_for():
    variances = [9.0, 4.0, 0.25]
    X, directions = rows_with_spectrum(20_000, variances, random_state=0)
    np.testing.assert_allclose(directions @ directions.T, np.eye(3), atol=1e-12)
    projected = X @ directions.T
    assert_mean_close(projected**2, variances, detect=0.1)
    assert_mean_close(projected[:, [0, 0, 1]] * projected[:, [1, 2, 2]], [0, 0, 0])


def test_two_views_have_the_correlations_asked_for():
    n, rho = 20_000, np.array([0.9, 0.5])
    X, Y = two_views(n, rho, n_features=3, random_state=0)
    whitened = [np.linalg.qr(V - V.mean(axis=0))[0] for V in (X, Y)]
    found = np.linalg.svd(whitened[0].T @ whitened[1], compute_uv=False)
    # Fisher: the transformed correlation is normal with deviation 1 / sqrt(n - 3)
    limit = stats.norm.isf(1e-7) / np.sqrt(n - 3)
    assert np.abs(np.arctanh(found[:2]) - np.arctanh(rho)).max() < limit
    assert found[2] < 2 * limit


def test_bad_sizes_are_refused_by_name():
    with pytest.raises(ValueError, match="rings: n_samples must be an integer >= 1"):
        rings(0)
    with pytest.raises(ValueError, match=r"rings: flip must be at most 0\.5"):
        rings(10, flip=0.6)
    with pytest.raises(ValueError, match="two_views: correlations"):
        two_views(10, [1.5])
    with pytest.raises(ValueError, match="kernel_regression: noise"):
        kernel_regression(10, noise=-1)


def test_speech_frames_have_the_best_accuracy_that_they_claim():
    data = speech_frames(20_000, flip=0.2, random_state=0)
    assert data.X.shape == (20_000, 440)
    assert len(np.unique(data.y)) == 40
    right = data.truth(data.X) == data.y
    assert_mean_close(right.astype(float), data.best, detect=0.1)


def test_speech_frames_overlap_in_time():
    """A row is a window of 11 frames of 40 bands: the next row holds its last 10 frames."""
    X = speech_frames(50, random_state=0).X
    np.testing.assert_array_equal(X[1:, :400], X[:-1, 40:])


def test_speech_frames_refuse_bad_parameters():
    for wrong in ({"flip": 1.5}, {"n_classes": 1}, {"context": -1}, {"n_variants": 0}):
        with pytest.raises(ValueError, match="speech_frames"):
            speech_frames(10, **wrong)
