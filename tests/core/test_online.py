"""Online loops: compiled against reference, and Newton's steps by blocks against the plain loop over rows."""

import numpy as np
import pytest
from oracle import strided

from mercer import _core, core, reference
from mercer.core import LOSSES, OnlineResult
from mercer.reference.online import online_newton_by_rows

SHAPES = [(1, 1, 1.0), (7, 3, 0.9), (40, 8, 1.0), (40, 8, 0.9), (70, 37, 1.0)]  # rows, features, decay
PROBLEMS = [(loss, 1) for loss in range(5)] + [(loss, k) for loss in range(3) for k in (3, 5)]
IDS = [f"{LOSSES[loss]}-{k}" for loss, k in PROBLEMS]
# A relative error of a row's step reaches all later ones: they are allowed a rounding a row, of each of D products.
ULPS = 8 * np.finfo(np.float64).eps


def draw(loss, k, n, d, dtype=np.float64):
    rng = np.random.default_rng([loss, k, n, d])
    Z = rng.standard_normal((n, d)).astype(dtype) / np.sqrt(d)
    if k > 1:
        y = rng.integers(k, size=n)
    elif LOSSES[loss] in ("squared", "absolute"):
        y = rng.standard_normal(n)
    else:
        y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return Z, y.astype(np.float64), rng


@pytest.mark.parametrize(("loss", "k"), PROBLEMS, ids=IDS)
@pytest.mark.parametrize(("n", "d", "decay"), SHAPES)
@pytest.mark.parametrize("adagrad", [False, True], ids=["gradient", "adagrad"])
def test_gradient(level, dtype, loss, k, n, d, adagrad, decay):
    Z, y, rng = draw(loss, k, n, d, dtype)
    steps = rng.random(n)
    results = []
    for primitives in (_core, reference):
        W, squares, scores = np.zeros((k, d)), np.zeros((k if adagrad else 0, d)), np.full((n, k), np.nan)
        rows, weights, before = (strided(Z), strided(W), strided(scores)) if primitives is _core else (Z, W, scores)
        primitives.online_gradient(rows, y, loss, steps, weights, squares, before, decay)
        results.append((weights, squares, before))
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, atol=n * d * ULPS * max(1, np.abs(expected).max(initial=0)))
    assert np.abs(results[0][0]).max() > 0


def test_adagrad_passes_over_features_that_are_always_zero(level):
    Z, y, _ = draw(0, 1, 5, 4)
    Z[:, 2] = 0
    W = np.zeros((1, 4))
    _core.online_gradient(Z, y, 0, np.ones(5), W, np.zeros((1, 4)), np.zeros((5, 1)), 1.0)
    assert W[0, 2] == 0
    assert np.isfinite(W).all()


@pytest.mark.parametrize(("loss", "k"), PROBLEMS, ids=IDS)
@pytest.mark.parametrize(("n", "decay"), [(1, 1.0), (7, 0.9), (40, 1.0), (40, 0.9)])
@pytest.mark.parametrize("limit", [0, 3, 1000])
@pytest.mark.parametrize("method", ["newton", "kernel_gradient"])
def test_steps_in_the_space_of_a_gram_matrix(level, loss, k, n, limit, method, decay):
    Z, y, rng = draw(loss, k, n, 6)
    gram, steps, start = Z @ Z.T, rng.random(n), rng.standard_normal((n, k))
    results = []
    for primitives in (core, reference):
        scores, factor, coef = start.copy(), np.zeros((n, n)), np.zeros((n, k))
        active, counts = np.zeros(n, dtype=np.int64), np.zeros(2, dtype=np.int64)
        result = OnlineResult(scores, coef, active, counts)
        if method == "newton":
            primitives.online_newton(gram, y, loss, decay ** -np.arange(1.0, n + 1), limit, factor, result)
        else:
            primitives.online_kernel_gradient(gram, y, loss, steps, decay, limit, result)
        done, met = counts
        assert met <= min(limit, n)
        results.append((scores[:done], factor[:met], coef[:met], active[:met], counts))
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, atol=n * n * ULPS * max(1, np.abs(expected).max(initial=0)))
    assert results[0][4][0] == (n if limit > n else results[0][4][0])


@pytest.mark.parametrize(("loss", "k"), PROBLEMS, ids=IDS)
@pytest.mark.parametrize("decay", [1.0, 0.9])
def test_newton_is_the_plain_loop_over_rows(level, loss, k, decay):
    n, d, alpha = 60, 9, 0.3
    Z, y, _ = draw(loss, k, n, d)
    W, P, expected = np.zeros((k, d)), np.eye(d) / alpha, np.zeros((n, k))
    online_newton_by_rows(Z, y, loss, W, P, expected, decay)
    row_weight = decay ** -np.arange(1.0, n + 1)
    scores, factor, coef = np.zeros((n, k)), np.zeros((n, n)), np.zeros((n, k))
    active, counts = np.zeros(n, dtype=np.int64), np.zeros(2, dtype=np.int64)
    core.online_newton(Z @ Z.T / alpha, y, loss, row_weight, n, factor, OnlineResult(scores, coef, active, counts))
    met = counts[1]
    U = np.linalg.solve(factor[:met, active[:met]].T, Z[active[:met]] / alpha)
    np.testing.assert_allclose(scores, expected, atol=1e-10)
    np.testing.assert_allclose(U.T @ coef[:met], W.T, atol=1e-10)
    np.testing.assert_allclose((np.eye(d) / alpha - U.T @ U) / decay**n, P, rtol=1e-8, atol=1e-10)


def test_kernel_gradient_steps_forget_as_those_on_features_do(level):
    """Scores of rows in the space of the kernel are those of weights on features with the same products."""
    Z, y, rng = draw(0, 3, 40, 6)
    steps, W, scores = rng.random(40), rng.standard_normal((3, 6)), np.zeros((40, 3))
    start = Z @ W.T
    _core.online_gradient(Z, y, 0, steps, W, np.zeros((0, 6)), scores, 0.8)
    coef, active, counts = np.zeros((40, 3)), np.zeros(40, dtype=np.int64), np.zeros(2, dtype=np.int64)
    core.online_kernel_gradient(Z @ Z.T, y, 0, steps, 0.8, 100, OnlineResult(start, coef, active, counts))
    np.testing.assert_allclose(start, scores, atol=1e-12)
    assert np.abs(scores).max() > 0.1


def test_weights_shrink_at_rows_without_a_loss(level):
    W, scores = np.array([[8.0, 0.0]]), np.zeros((3, 1))
    _core.online_gradient(np.eye(2)[[0, 0, 0]], np.ones(3), 0, np.ones(3), W, np.zeros((0, 2)), scores, 0.5)
    np.testing.assert_array_equal(scores[:, 0], [8.0, 4.0, 2.0])
    np.testing.assert_array_equal(W, [[1.0, 0.0]])


@pytest.mark.parametrize(("loss", "k"), PROBLEMS, ids=IDS)
def test_slopes_are_derivatives(loss, k):
    """The oracle itself: its slope is the difference quotient of the losses that the learners add up."""
    from mercer.learners.online.steps import losses_of

    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = 2 * rng.standard_normal(k)
        y = float(rng.integers(k)) if k > 1 else rng.choice([-1.0, 1.0])
        value, step = losses_of(loss, scores[None], np.array([y]))[0], 1e-6
        numeric = [(losses_of(loss, (scores + step * e)[None], np.array([y]))[0] - value) / step for e in np.eye(k)]
        derivative, curvature = reference.online.slope(loss, scores, y)
        np.testing.assert_allclose(derivative, numeric, atol=1e-5)
        assert (curvature > 0) == derivative.any()


def _arguments():
    n, d, k = 6, 4, 3
    Z, y, _ = draw(0, k, n, d)
    return {
        "Z": Z,
        "y": y,
        "loss": 0,
        "steps": np.ones(n),
        "W": np.zeros((k, d)),
        "squares": np.zeros((0, d)),
        "scores": np.zeros((n, k)),
        "decay": 1.0,
    }


BAD = [
    ("y", np.zeros(5), "y"),
    ("y", np.full(6, 3.0), r"y must hold class numbers in \[0, 3\)"),
    ("y", np.full(6, -1.0), r"y must hold class numbers in \[0, 3\)"),
    ("y", np.full(6, np.nan), r"y must hold class numbers in \[0, 3\)"),
    ("loss", 3, r"loss must lie in \[0, 2\], got 3"),
    ("loss", -1, "got -1"),
    ("steps", np.ones(5), "steps"),
    ("decay", 0.0, r"decay must lie in \(0, 1\], got 0"),
    ("decay", 1.5, r"decay must lie in \(0, 1\], got 1.5"),
    ("decay", np.nan, r"decay must lie in \(0, 1\], got nan"),
    ("W", np.zeros((3, 5)), r"W.shape\[1\] must be Z.shape\[1\] = 4, got 5"),
    ("squares", np.zeros((2, 4)), r"squares.shape\[0\] must be W.shape\[0\] = 3, got 2"),
    ("scores", np.zeros((6, 2)), r"scores.shape\[1\] must be W.shape\[0\] = 3, got 2"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD, ids=range(len(BAD)))
def test_bad_bounds(name, value, message):
    with pytest.raises(ValueError, match=message):
        _core.online_gradient(*(_arguments() | {name: value}).values())


def test_bad_bounds_of_newton():
    n = 4
    good = [np.eye(n), np.ones(n), 0, np.ones(n), n, *(np.zeros(s) for s in [(n, 1), (n, n), (n, 1)])]
    good += [np.zeros(n, dtype=np.int64), np.zeros(2, dtype=np.int64)]
    _core.online_newton(*good)
    bad = [(0, np.eye(3)), (3, np.ones(3)), (5, np.zeros((3, 1))), (6, np.eye(3)), (7, np.zeros((n, 2)))]
    for place, value in bad:
        with pytest.raises(ValueError, match="must be"):
            _core.online_newton(*good[:place], value, *good[place + 1 :])
    for place, size in [(8, 3), (9, 1)]:
        with pytest.raises(ValueError, match="must be"):
            _core.online_newton(*good[:place], np.zeros(size, dtype=np.int64), *good[place + 1 :])
