"""Generalised cross-validation that rows of high leverage fool: found by the leave-one-out error, and said."""

import warnings

import numpy as np
import pytest

from mercer import FourierFeatures, Gaussian, KernelRidge, KernelRidgeClassifier, as_blocks

rng = np.random.RandomState(0)
X = rng.standard_normal((3000, 4))
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(3000)
# Two columns with so heavy tails that some rows are far from all others.
TAILS = np.hstack([X[:, :2], rng.standard_t(1.2, (3000, 2))])


def gcv(kind, rows, y, **params):
    model = kind(Gaussian(), n_components=300, alpha="gcv", random_state=0, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, y)
    return model, [str(warning.message) for warning in caught]


def test_the_warning_holds_the_exact_leave_one_out_error():
    model, (message,) = gcv(KernelRidge, TAILS, Y)
    at = int(np.argmin(model.scores_))
    exact = KernelRidge(Gaussian(), n_components=300, alpha="loo", random_state=0).fit(TAILS, Y).scores_[at]
    assert exact > 1.5 * model.scores_[at]
    assert message.startswith(f"KernelRidge: alpha='gcv' chose alpha={model.alpha_:.2g} by a score of ")
    said = float(message.split("error there is ")[1].split(":")[0])
    # Leverages below 1/8 have a standard error of 35 %, which moves (1 - h)^-2 by at most 2 * 0.35 / 8 / (7 / 8).
    assert said == pytest.approx(exact, rel=0.1)
    n_high = int(message.split(": ")[2].split(" of 3000")[0])
    Z = model.feature_map_.transform(TAILS)
    Z -= Z.mean(axis=0)
    leverage = np.einsum("ij,ij->i", Z, np.linalg.solve(Z.T @ Z + model.alpha_ * np.eye(300), Z.T).T) + 1 / 3000
    assert n_high == np.count_nonzero(leverage >= 0.5)
    assert n_high > 0


def test_light_tails_and_leave_one_out_do_not_warn():
    assert not gcv(KernelRidge, X, Y)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelRidge(Gaussian(), n_components=300, random_state=0).fit(TAILS, Y)


def test_weights_are_repetitions():
    weight = rng.randint(1, 3, 3000)
    repeated = np.repeat(np.arange(3000), weight)
    features = FourierFeatures(Gaussian().resolve(TAILS), n_components=300, random_state=0)
    said = []
    for args in ((TAILS, Y, weight.astype(float)), (TAILS[repeated], Y[repeated])):
        with pytest.warns(UserWarning, match="leave-one-out error there") as caught:
            KernelRidge(features=features, alpha="gcv").fit(*args)
        said.append(str(caught[0].message).split("error there is ")[1].split(":")[0])
    assert said[0] == said[1]


def test_classifiers_warn_too_and_streams_do_not():
    labels = np.digitize(Y, np.quantile(Y, [1 / 3, 2 / 3]))
    (message,) = gcv(KernelRidgeClassifier, TAILS, labels)[1]
    assert message.startswith("KernelRidgeClassifier: alpha='gcv'")
    # a stream would be read once more
    assert not gcv(KernelRidge, as_blocks(lambda: iter([(TAILS, Y)])), None)[1]
