"""What experiments share: the printed Random Maclaurin, names of maps, the linear SVM, errors."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from mercer.bench.models import PrintedMaclaurin, linear_svm, map_named, polynomial, relative_errors, right
from mercer.testing import assert_mean_close


@pytest.mark.parametrize("text", ["<x,y>^2", "(1+<x,y>)^3"])
def test_the_printed_maclaurin_is_unbiased(text, rng):
    kernel = polynomial(text)
    X = rng.standard_normal((2, 6)) / 3
    draws = [PrintedMaclaurin(kernel, 64, seed).fit_transform(X) for seed in range(1000)]
    assert_mean_close(np.array([Z[0] @ Z[1] for Z in draws]), kernel(X)[0, 1], false_alarm=1e-6)


def test_the_printed_maclaurin_wastes_features_on_degrees_that_are_not_there(rng):
    X = rng.standard_normal((3, 6))
    widths = [PrintedMaclaurin(polynomial("<x,y>^2"), 800, seed).fit_transform(X).shape[1] for seed in range(200)]
    assert_mean_close(np.array(widths, dtype=float), 100.0, false_alarm=1e-6)


def test_kernels_are_read_from_the_tables_names():
    assert (polynomial("<x,y>^4").degree, polynomial("<x,y>^4").coef0) == (4, 0.0)
    assert (polynomial("(1+<x,y>)^10").degree, polynomial("(1+<x,y>)^10").coef0) == (10, 1.0)


@pytest.mark.parametrize(("name", "width"), [("H0/1", 50), ("H0/1, D random", 57), ("Tensor Sketch", 50)])
def test_h01_counts_its_exact_features_within_or_beside_d(name, width, rng):
    X = rng.standard_normal((4, 6)) / 3
    assert map_named(name, polynomial("(1+<x,y>)^3"), 50, 0, 6).fit_transform(X).shape == (4, width)


def test_the_linear_svm_sees_every_feature_and_agrees_with_liblinear():
    X, y = load_digits(return_X_y=True)
    Z = np.hstack([X, X**2 / 16, X[:, ::-1]]).astype(np.float32) / 16  # more than 100 columns
    ours, theirs = linear_svm(Z, y), LinearSVC().fit(Z, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert abs(right(ours, Z, y) - right(theirs, Z, y)) <= 5


def test_errors_of_the_exact_features_are_zero(rng):
    X = rng.random_sample((5, 3))
    assert max(relative_errors(X, X @ X.T).values()) < 1e-12
    doubled = relative_errors(X * 2**0.5, X @ X.T)
    assert doubled == pytest.approx({**dict.fromkeys(doubled, 1.0), "absolute_error": doubled["absolute_error"]})
