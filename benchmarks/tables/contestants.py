"""The learners: mercer's one line, boosted trees with their defaults, LightGBM after a random search, exact kernels."""

import os
from collections.abc import Callable
from typing import Protocol

import numpy as np
import pandas
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from mercer import TunedClassifier, TunedRegressor

THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))
EXACT_ROWS = 10_000  # a Gram matrix of more rows takes too long


class Model(Protocol):
    """What is asked of a fitted learner."""

    def predict(self, X: pandas.DataFrame) -> np.ndarray:
        """Return the predictions."""


Fit = Callable[[pandas.DataFrame, np.ndarray, bool, int], Model | None]


def mercer(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int) -> Model:
    return (TunedClassifier if classes else TunedRegressor)(random_state=seed).fit(X, y)


def lightgbm(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int, **settings: float) -> Model:
    from lightgbm import LGBMClassifier, LGBMRegressor  # noqa: PLC0415 - a peer that need not be installed

    kind = LGBMClassifier if classes else LGBMRegressor
    return kind(n_jobs=THREADS, random_state=seed, verbosity=-1, **settings).fit(X, y)


def lightgbm_searched(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int, trials: int = 30) -> Model:
    """Return LightGBM with the best of ``trials`` random settings on a fifth of the training rows, refitted on all."""
    rng = np.random.default_rng(seed)
    fitting, held, y_fitting, y_held = train_test_split(X, y, test_size=0.2, random_state=seed)
    tried = [_random_settings(rng) for _ in range(trials)]
    scores = [lightgbm(fitting, y_fitting, classes, seed, **trial).score(held, y_held) for trial in tried]
    return lightgbm(X, y, classes, seed, **tried[int(np.argmax(scores))])


def _random_settings(rng: np.random.Generator) -> dict[str, float]:
    return {
        "n_estimators": int(2 ** rng.uniform(6, 10)),
        "num_leaves": int(2 ** rng.uniform(3, 8)),
        "learning_rate": float(10 ** rng.uniform(-2, -0.5)),
        "min_child_samples": int(2 ** rng.uniform(1, 7)),
        "colsample_bytree": float(rng.uniform(0.4, 1)),
        "subsample": float(rng.uniform(0.5, 1)),
        "subsample_freq": 1,
        "reg_lambda": float(10 ** rng.uniform(-3, 1)),
    }


def catboost(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int) -> Model:
    from catboost import CatBoostClassifier, CatBoostRegressor  # noqa: PLC0415 - a peer that need not be installed

    kind = CatBoostClassifier if classes else CatBoostRegressor
    text = list(X.select_dtypes("category").columns)
    model = kind(thread_count=THREADS, random_seed=seed, verbose=False, allow_writing_files=False, cat_features=text)
    return model.fit(X, y)


def hist_gradient_boosting(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int) -> Model:
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    few = [name for name in X.select_dtypes("category") if len(X[name].cat.categories) <= 255]  # its own limit
    return kind(random_state=seed, categorical_features=few).fit(X.apply(_codes_where_many), y)


def _codes_where_many(column: pandas.Series) -> pandas.Series:
    if isinstance(column.dtype, pandas.CategoricalDtype) and len(column.cat.categories) > 255:
        return column.cat.codes.astype(float)
    return column


def exact_kernel(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int) -> Model | None:
    """Return scikit-learn's SVC or KernelRidge on standardised columns, its defaults; None for too many rows."""
    if len(X) > EXACT_ROWS:
        return None
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_include="category")),
    )
    return make_pipeline(columns, SVC() if classes else KernelRidge(kernel="rbf")).fit(X, y)


CONTESTANTS: dict[str, Fit] = {
    "mercer": mercer,
    "LightGBM": lightgbm,
    "HistGB": hist_gradient_boosting,
    "CatBoost": catboost,
    "LightGBM searched": lightgbm_searched,
    "exact kernel": exact_kernel,
}
DEFAULT_TREES = ("LightGBM", "HistGB", "CatBoost")
