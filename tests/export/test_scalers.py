"""Transformers of numbers before a map."""

import numpy as np
import pytest
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from mercer import LinearFeatures

STEPS = [
    Binarizer(threshold=0.5),
    KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf"),
    KBinsDiscretizer(4, encode="onehot", strategy="uniform"),
    KBinsDiscretizer(2, encode="onehot-dense", strategy="kmeans"),
    MaxAbsScaler(),
    MinMaxScaler((-1, 2), clip=True),
    Normalizer("l1"),
    Normalizer("l2"),
    Normalizer("max"),
    PolynomialFeatures(2),
    PolynomialFeatures((2, 3), interaction_only=True, include_bias=False),
    PowerTransformer(),
    PowerTransformer(standardize=False),
    QuantileTransformer(n_quantiles=50),
    QuantileTransformer(n_quantiles=200, output_distribution="normal"),
    RobustScaler(),
    RobustScaler(with_centering=False),
    StandardScaler(),
    StandardScaler(with_std=False),
    VarianceThreshold(9.0),
]


@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore:Bins whose width are too small")
def test_each_step_before_a_map(run, close, diabetes, step, dtype):
    X = (diabetes[0] * 3 + 1).astype(dtype).astype(np.float64)  # the numbers that a file of this type is given
    model = make_pipeline(step, LinearFeatures()).fit(X[:300])
    close(run(model, X, dtype)["features"], model.transform(X), dtype)


def test_box_cox_of_positive_numbers(run, close, diabetes):
    X = np.exp(diabetes[0]).astype(np.float32).astype(np.float64)
    model = make_pipeline(PowerTransformer("box-cox"), LinearFeatures()).fit(X[:300])
    close(run(model, X)["features"], model.transform(X))


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0, 2.0, 3.1])
def test_every_power_of_yeo_and_johnson(run, close, lam):
    X = np.linspace(-3, 3, 41)[:, None]
    step = PowerTransformer(standardize=False).fit(X)
    step.lambdas_ = np.array([lam])
    model = make_pipeline(step, LinearFeatures().fit(X))
    close(run(model, X, "float64")["features"], model.transform(X), "float64")


def test_normal_quantiles_of_all_probabilities(run):
    X = np.linspace(0, 1, 20_001)[:, None]
    step = QuantileTransformer(n_quantiles=1000, output_distribution="normal", subsample=None).fit(X)
    model = make_pipeline(step, LinearFeatures().fit(X))
    np.testing.assert_allclose(run(model, X, "float64")["features"], model.transform(X), rtol=0, atol=1e-6)


def test_equal_quantiles_take_the_middle(run, close):
    X = np.repeat([0.0, 1.0, 5.0], 40)[:, None]
    rows = np.array([[-1.0], [0.0], [0.5], [1.0], [3.0], [5.0], [9.0]])
    step = QuantileTransformer(n_quantiles=30).fit(X)
    model = make_pipeline(step, LinearFeatures().fit(X))
    close(run(model, rows)["features"], model.transform(rows))
