"""Forgetting: the closed form of weighted ridge regression, bounds that hold on any stream, cuts and model files."""

import numpy as np
import pytest
from per_row import with_constant
from sklearn.base import clone

import mercer
from mercer import FOGDClassifier, FOGDRegressor, Gaussian, NOGDClassifier, NOGDRegressor

KERNEL = Gaussian(gamma=0.5)
LEARNERS = [FOGDClassifier, FOGDRegressor, NOGDClassifier, NOGDRegressor]
UPDATES = ["newton", "adagrad", "gradient"]


def _stream(rng, kind=None, n_rows=500):
    X = rng.standard_normal((n_rows, 3))
    values = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    values[n_rows // 2 :] *= -1  # an abrupt change
    return X, (values > 0).astype(int) if kind in (FOGDClassifier, NOGDClassifier) else values


def _penalty(alpha, decay, n_rows):
    """Return the penalty after n_rows: alpha, which decays, and is alpha again at the end of each half-life."""
    half_life = max(1, int(np.log(0.5) / np.log(decay)))
    return alpha * decay ** (n_rows % half_life)


@pytest.mark.parametrize("decay", [0.4, 0.97, 0.999])
@pytest.mark.parametrize("n_rows", [1, 22, 44, 500])
def test_newton_steps_are_weighted_ridge_regression(rng, decay, n_rows):
    """22 rows are a half-life of 0.97: the penalty has just been renewed."""
    X, y = _stream(rng)
    model = FOGDRegressor(KERNEL, n_components=30, alpha=0.2, decay=decay, random_state=0).fit(X[:n_rows], y[:n_rows])
    Z, weight = with_constant(model.feature_map_.transform(X[:n_rows])), decay ** np.arange(n_rows - 1.0, -1, -1)
    A = Z.T @ (weight[:, None] * Z) + _penalty(0.2, decay, n_rows) * np.eye(31)
    w = np.linalg.solve(A, Z.T @ (weight * y[:n_rows]))
    np.testing.assert_allclose([*model.coef_, model.intercept_], w, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.state_.inverse, np.linalg.inv(A), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("decay", [0.4, 0.97, 0.999])
@pytest.mark.parametrize("n_rows", [1, 22, 44, 200])
def test_newton_steps_of_the_kernel_are_weighted_kernel_ridge_regression(rng, decay, n_rows):
    X, y = _stream(rng, n_rows=n_rows)
    model = NOGDRegressor(KERNEL, n_components=1000, alpha=0.2, decay=decay).fit(X, y)
    weight = decay ** np.arange(n_rows - 1.0, -1, -1)
    # rows of weight 1e-30 and less are forgotten, which the system with 1 / weight would not survive
    K, known = KERNEL(X) + 1, weight > 1e-20
    penalty = _penalty(0.2, decay, n_rows)
    dual = np.linalg.solve(K[np.ix_(known, known)] + penalty * np.diag(1 / weight[known]), y[known])
    np.testing.assert_allclose(model.coef_[known], dual, rtol=1e-7, atol=1e-9)
    assert np.abs(model.coef_[~known]).max(initial=0) < 1e-15


def test_the_curvature_is_carried_from_rows_to_features(rng):
    """Weighted ridge regression on the features of all rows, of which the first were learned by the kernel alone."""
    X, y = _stream(rng)
    model = NOGDRegressor(KERNEL, n_components=40, alpha=0.2, decay=0.97).fit(X, y)
    Z, weight = with_constant(model.feature_map_.transform(X)), 0.97 ** np.arange(499.0, -1, -1)
    A = Z.T @ (weight[:, None] * Z) + _penalty(0.2, 0.97, 500) * np.eye(41)
    np.testing.assert_allclose(model.state_.inverse, np.linalg.inv(A), rtol=1e-5, atol=1e-5)
    w = np.linalg.solve(A, Z.T @ (weight * y))
    np.testing.assert_allclose(Z @ [*model.coef_, model.intercept_], Z @ w, atol=1e-6)


@pytest.mark.parametrize("decay", [0.5, 0.99])
def test_the_curvature_does_not_vanish_along_directions_that_no_row_visits(rng, decay):
    """Wind-up: without a penalty that is renewed, P grows as decay^-n, here by 1e43 and more."""
    X, y = np.tile([[1.0, 2.0, 3.0]], (10_000, 1)), rng.standard_normal(10_000)
    model = FOGDRegressor(KERNEL, n_components=20, alpha=0.1, decay=decay, random_state=0).fit(X, y)
    values = np.linalg.eigvalsh(model.state_.inverse)
    assert values.min() > 0
    assert values.max() <= 2 / 0.1 * (1 + 1e-9)
    model.partial_fit(*_stream(rng))
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("update", UPDATES)
def test_decay_1_is_no_decay(rng, kind, update):
    X, y = _stream(rng, kind)
    plain = kind(KERNEL, n_components=30, update=update, random_state=0).fit(X, y)
    np.testing.assert_array_equal(clone(plain).set_params(decay=1).fit(X, y).coef_, plain.coef_)
    assert np.abs(clone(plain).set_params(decay=0.99).fit(X, y).coef_ - plain.coef_).max() > 1e-3


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("update", UPDATES)
def test_the_cuts_of_a_stream_do_not_matter(rng, kind, update):
    X, y = _stream(rng, kind)
    model = kind(KERNEL, n_components=60, update=update, decay=0.97, random_state=0)
    whole, parts = clone(model).fit(X, y), clone(model)
    for rows in np.split(np.arange(500), [1, 22, 23, 100, 389]):
        parts.partial_fit(X[rows], y[rows], **({"classes": [0, 1]} if kind in (FOGDClassifier, NOGDClassifier) else {}))
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-6)
    assert parts.cumulative_loss_ == pytest.approx(whole.cumulative_loss_, rel=1e-8)


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("n_components", [20, 1000])  # both phases of NOGD
def test_a_saved_model_goes_on_with_the_same_bits(rng, tmp_path, kind, update, n_components):
    X, y = _stream(rng, kind)
    model = kind(KERNEL, n_components=n_components, update=update, decay=0.97, random_state=0).fit(X[:300], y[:300])
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    for one in (model, again):
        one.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.cumulative_loss_ == model.cumulative_loss_


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(("first", "last"), [(0, 500), (250, 500), (400, 450)])
def test_gradient_steps_keep_their_bound_on_every_stretch_of_the_stream(rng, loss, first, last):
    """Sum of F_t(w_t) - F_t(u) <= |w_first - u|^2 / (2 step) + 2 step G^2 m over any m rows, for any u.

    F_t is the loss of row t plus a penalty (1 - decay) / (2 step) |w|^2, and G bounds the gradients of the loss. The
    best u is that of the stretch, after the change too: what was learned before enters by w_first alone.
    """
    from scipy.optimize import minimize

    X, y = _stream(rng, FOGDClassifier)
    step, decay = 0.2, 0.95
    model = FOGDClassifier(
        KERNEL, n_components=20, loss=loss, update="gradient", schedule="constant", step=step, decay=decay
    ).set_params(random_state=0)
    weights = [np.zeros(21)]
    for t in range(last):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        weights.append(np.append(model.coef_, model.intercept_))
    Z, signs = with_constant(model.feature_map_.transform(X[first:last])), 2.0 * y[first:last] - 1
    penalty = (1 - decay) / step

    def losses(w):
        margins = signs * (Z * w).sum(axis=1)
        of_rows = np.maximum(1 - margins, 0) if loss == "hinge" else np.logaddexp(0, -margins)
        return of_rows.sum() + penalty / 2 * np.sum(w**2) * (len(Z) if w.ndim == 1 else 1)

    def bound(u):
        squared_gradient = (Z**2).sum(axis=1).max()
        return losses(u) + np.sum((weights[first] - u) ** 2) / (2 * step) + 2 * step * squared_gradient * len(Z)

    best = minimize(bound, np.zeros(21), options={"maxiter": 15}).x
    assert losses(np.array(weights[first:last])) <= bound(best)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_model_that_forgets_follows_a_change(rng, kind, update):
    """After the labels have turned, the model with decay is right where the other still is wrong."""
    X, y = _stream(rng, kind, 4000)
    scores = []
    for decay in (1.0, 0.99):
        model = kind(KERNEL, n_components=100, update=update, decay=decay, random_state=0).fit(X[:3000], y[:3000])
        scores.append(model.score(X[3000:], y[3000:]))
    assert scores[1] > scores[0] + 0.05


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_decay_out_of_range_is_refused_and_newton_s_must_stay(rng, kind):
    X, y = _stream(rng, kind, 50)
    for decay, message in [
        (0, "decay must be a finite number > 0, got 0"),
        (-0.5, "decay must be a finite number > 0, got -0.5"),
        (1.01, "decay must be at most 1, got 1.01"),
        (np.nan, "decay must be a finite number > 0, got nan"),
        ("fast", "decay must be a finite number > 0, got 'fast'"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            kind(KERNEL, decay=decay).fit(X, y)
    model = kind(KERNEL, n_components=20, decay=0.9, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"decay must stay what it was .*, 0\.9, got 0\.8"):
        model.set_params(decay=0.8).partial_fit(X, y)
    free = kind(KERNEL, n_components=20, update="gradient", decay=0.9, random_state=0).fit(X, y)
    assert free.set_params(decay=0.8).partial_fit(X, y).n_seen_ == 100
