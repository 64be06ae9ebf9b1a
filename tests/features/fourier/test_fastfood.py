"""Fastfood: unbiased for every width, and equal to its matrices written out."""

import numpy as np
import pytest
from scipy.linalg import hadamard
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import Fastfood, Gaussian, Laplacian, Matern
from mercer.testing import check_feature_map, sample_rows


@parametrize_with_checks([Fastfood()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_features", [1, 5, 20])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.7), Matern(0.5, length_scale=1.0)], ids=repr)
def test_the_laws(kernel, n_features):
    rows = 2 * sample_rows(5, n_features)
    check_feature_map(Fastfood(kernel, n_components=21), rows, sklearn_checks=False, variance=False)


@pytest.mark.parametrize("n_features", [3, 8, 50])
def test_features_are_those_of_the_explicit_matrices(n_features):
    rows = sample_rows(4, n_features)
    fitted = Fastfood(Gaussian(gamma=1.5), n_components=180, random_state=0).fit(rows)
    size = fitted.permutation_.shape[1]
    H, blocks = hadamard(size), []
    for b, order in enumerate(fitted.permutation_):
        B, G = fitted.diagonals_[:, b]
        V = (H * G) @ (H * B)[order] / np.linalg.norm(G) / size**0.5
        np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1)  # so that the radii are the lengths of the rows
        blocks.append(V)
    phases = rows @ (fitted.radii_[:, np.newaxis] * np.vstack(blocks)[:90, :n_features]).T
    expected = np.hstack([np.cos(phases), np.sin(phases)])
    np.testing.assert_allclose(fitted.transform(rows), np.sqrt(2 / 180) * expected, atol=1e-12)


def test_memory_grows_with_the_features_not_with_their_product_with_the_columns():
    fitted = Fastfood(Gaussian(gamma=1.0), n_components=4096, random_state=0).fit(np.ones((2, 2000)))
    n_numbers = fitted.diagonals_.size + fitted.permutation_.size + fitted.radii_.size
    assert n_numbers < 4 * 4096


def test_other_kernels_are_refused():
    with pytest.raises(ValueError, match=r"Fastfood: kernel must be radial .* got Laplacian"):
        Fastfood(Laplacian(gamma=1.0)).fit(np.eye(3))
