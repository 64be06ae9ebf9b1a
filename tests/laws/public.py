"""Every public kernel, map, learner and Gram operator, made and fitted in one way, for laws that hold for all."""

import inspect

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector

import mercer
from mercer.features.base import FeatureMap
from mercer.gram.base import GramOperator
from mercer.learners.base import Learner
from mercer.learners.local.tuned_base import TunedEstimator
from mercer.testing.estimators import public_classes

PUBLIC = public_classes(object)
MAPS, LEARNERS, OPERATORS, ESTIMATORS = (
    sorted(public_classes(bases)) for bases in (FeatureMap, Learner, GramOperator, BaseEstimator)
)
# Estimators of tables: wide sparse rows and streams are not theirs.
TUNED = sorted(public_classes(TunedEstimator))
LEARNERS = [name for name in LEARNERS if name not in TUNED]

_G = mercer.Gaussian(gamma=0.5)
KERNELS = {
    "Angular": mercer.kernels.Angular(mercer.kernels.NeuralTangent(1)),
    "ArcCosine": mercer.ArcCosine(1),
    "Cauchy": mercer.Cauchy(length_scale=1.0),
    "Chi2": mercer.Chi2(),
    "Columns": mercer.Columns(_G, [0, 2]),
    "Composed": mercer.Composed(mercer.Exponential(gamma=0.5), _G),
    "DotProduct": mercer.DotProduct(np.exp, (1.0, 1.0, 0.5, 1 / 6, 1 / 24)),
    "Exponential": mercer.Exponential(gamma=0.5),
    "ExponentialChi2": mercer.ExponentialChi2(sigma=1.0),
    "ExponentialPower": mercer.ExponentialPower(1.5, length_scale=1.0),
    "Gaussian": _G,
    "Hellinger": mercer.Hellinger(),
    "Induced": mercer.kernels.Induced(_G, mercer.Polynomial(2)),
    "Intersection": mercer.Intersection(),
    "JensenShannon": mercer.JensenShannon(),
    "Laplacian": mercer.Laplacian(gamma=0.5),
    "Linear": mercer.Linear(),
    "Matern": mercer.Matern(1.5, length_scale=1.0),
    "LowOrder": mercer.kernels.LowOrder(_G, order=2),
    "Metric": mercer.Metric(_G, np.linspace(-1, 1, 21).reshape(7, 3)),
    "NeuralTangent": mercer.kernels.NeuralTangent(2),
    "Normalized": mercer.Normalized(mercer.Polynomial(2, coef0=1.0)),
    "Polynomial": mercer.Polynomial(2, coef0=1.0),
    "Product": mercer.Linear() * _G,
    "RationalQuadratic": mercer.RationalQuadratic(1.0, length_scale=1.0),
    "SameCategory": mercer.SameCategory(offset=0.5),
    "ScaledColumns": mercer.ScaledColumns(_G, np.linspace(0.5, 2, 7)),
    "Scaled": 2 * mercer.Laplacian(gamma=0.5),
    "Sigmoid": mercer.Sigmoid(gamma=0.5),
    "Sum": mercer.Linear() + mercer.Laplacian(gamma=0.5),
    "VovkInfinite": mercer.VovkInfinite(),
    "VovkPolynomial": mercer.VovkPolynomial(3),
}


def rows(n_rows=60, n_columns=7, seed=0):
    """Return rows of length below 1 with many zeros, their entries multiples of 1/1024: sums of parts are exact."""
    rng = np.random.RandomState(seed)
    X = rng.randint(1, 256, (n_rows, n_columns)) / 1024
    X[rng.random_sample(X.shape) < 0.4] = 0
    X[:, 0] = rng.randint(1, 256, n_rows) / 1024
    return X


def make(name, **params):
    """Return an estimator, small, with its randomness fixed."""
    kind = PUBLIC[name]
    known = inspect.signature(kind).parameters
    small = {"random_state": 0, "n_components": 24, "map_components": 100, "n_clusters": 3, "rank": 6} | params
    return kind(**{key: value for key, value in small.items() if key in known})


def target(estimator, X):
    """Return a y that suits an estimator."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if isinstance(estimator, mercer.KernelCCA):
        return X[:, ::-1] + X**2
    score = X[:, 0] - X[:, 1]
    return np.where(score > np.median(score), "over", "under") if is_classifier(estimator) else score


def results(estimator, X):
    """Return all that an estimator says of rows."""
    names = ("transform", "predict", "decision_function", "predict_proba", "score_samples")
    found = {name: getattr(estimator, name)(X) for name in names if hasattr(estimator, name)}
    return {name: Z.toarray() if hasattr(Z, "toarray") else np.asarray(Z) for name, Z in found.items()}


def off_margin(estimator, expected, found):
    """Drop the labels of margin rows, if an estimator detects outliers: rounding decides them, as they lie at 0."""
    if not is_outlier_detector(estimator):
        return expected, found
    score = np.abs(expected["decision_function"])
    far = score > 1e-6 * score.max()
    return tuple({**said, "predict": said["predict"][far]} for said in (expected, found))


def agree(found, expected, message, rtol=1e-6):
    """Compare numbers to rounding, in units of the largest, and labels exactly."""
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max(), err_msg=message)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=message)
