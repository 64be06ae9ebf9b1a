"""Kernel PCA and k-means in ONNX."""

import numpy as np
import pytest

from mercer import Gaussian, KernelCCA, KernelKMeans, KernelPCA


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_of_principal_axes(run, close, digits, dtype):
    X = digits[0]
    model = KernelPCA(Gaussian(gamma=0.05), n_components=5, random_state=0).fit(X)
    close(run(model, X, dtype)["transformed"], model.transform(X), dtype)


def test_nearest_centres_and_distances(run, close, digits):
    X = digits[0]
    model = KernelKMeans(Gaussian(gamma=0.05), n_clusters=10, random_state=0).fit(X)
    found = run(model, X)
    close(found["distances"], model.transform(X))
    np.testing.assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_of_the_first_view(run, close, digits, dtype):
    X = digits[0]
    model = KernelCCA(Gaussian(gamma=0.05), n_components=3, random_state=0).fit(X[:, :32], X[:, 32:])
    close(run(model, X[:, :32], dtype)["transformed"], model.transform(X[:, :32]), dtype)
