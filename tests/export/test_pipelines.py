"""Scalers and imputers before a model."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

from mercer import FourierFeatures, Gaussian, KernelRidge, LinearFeatures

STEPS = [
    MaxAbsScaler(),
    MinMaxScaler((-1, 2), clip=True),
    Normalizer("l1"),
    Normalizer("l2"),
    Normalizer("max"),
    RobustScaler(),
    RobustScaler(with_centering=False),
    SimpleImputer(strategy="median"),
    StandardScaler(),
    StandardScaler(with_std=False),
    "passthrough",
    FourierFeatures(Gaussian(gamma=0.1), n_components=20, random_state=0),
]


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_each_step_before_a_map(run, close, diabetes, step):
    X = diabetes[0] * 3 + 1
    if isinstance(step, SimpleImputer):
        X = np.where(X > 4, np.nan, X)
    model = make_pipeline(step, LinearFeatures()).fit(X[:300])
    close(run(model, X)["features"], model.transform(X))


def test_a_pipeline_that_ends_in_a_learner(run, close, diabetes):
    X, y = diabetes
    model = make_pipeline(StandardScaler(), KernelRidge(random_state=0)).fit(100 + 7 * X, y)
    close(run(model, 100 + 7 * X)["prediction"], model.predict((100 + 7 * X).astype(np.float32).astype(np.float64)))


def test_other_steps_are_refused_in_words(run, diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match=r"step PowerTransformer .* Steps that can: .*StandardScaler"):
        run(make_pipeline(PowerTransformer(), KernelRidge(random_state=0)).fit(X, y), X)
    with pytest.raises(ValueError, match=r"without add_indicator"):
        run(make_pipeline(SimpleImputer(add_indicator=True), LinearFeatures()).fit(X), X)
