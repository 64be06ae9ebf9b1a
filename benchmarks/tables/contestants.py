"""The learners: mercer's one line, boosted trees with their defaults, LightGBM after a random search, exact kernels."""

import os
import time
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
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from mercer import TunedClassifier, TunedRegressor

THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))
EXACT_ROWS = 4000  # a Gram matrix of more rows takes too long
CATBOOST_WIDTH = 1000  # columns times classes
# The trials of the search for settings of LightGBM: rows, and processor seconds after which no further one begins.
SEARCH_ROWS, SEARCH_SECONDS = 5000, 45.0


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
    """Return LightGBM with the best of ``trials`` random settings, refitted on all training rows.

    The trials see at most 5,000 training rows, of which a fifth judges them and stops them early.
    """
    rng, some = np.random.default_rng(seed), np.arange(len(X))
    if len(X) > SEARCH_ROWS:
        some = rng.permutation(len(X))[:SEARCH_ROWS]
    parts = train_test_split(X.iloc[some], y[some], test_size=0.2, random_state=seed)
    start, tried = time.process_time(), []
    while len(tried) < trials and time.process_time() - start < SEARCH_SECONDS:
        tried.append(_trial(_random_settings(rng), classes, seed, *parts))
    best = max(tried, key=lambda one: one[0])
    return lightgbm(X, y, classes, seed, **best[1])


def _trial(
    settings: dict[str, float],
    classes: bool,
    seed: int,
    X: pandas.DataFrame,
    held: pandas.DataFrame,
    y: np.ndarray,
    y_held: np.ndarray,
) -> tuple[float, dict[str, float]]:
    """Return the score on held rows, and the settings with the number of trees that was best there."""
    from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping  # noqa: PLC0415 - a peer

    kind = LGBMClassifier if classes else LGBMRegressor
    known = np.isin(y_held, y) if classes else np.ones(len(y_held), dtype=bool)
    model = kind(n_jobs=THREADS, random_state=seed, verbosity=-1, **settings)
    model.fit(X, y, eval_set=[(held[known], y_held[known])], callbacks=[early_stopping(20, verbose=False)])
    return model.score(held, y_held), settings | {"n_estimators": max(1, model.best_iteration_)}


def _random_settings(rng: np.random.Generator) -> dict[str, float]:
    return {
        "n_estimators": 1000,
        "num_leaves": int(2 ** rng.uniform(3, 8)),
        "learning_rate": float(10 ** rng.uniform(-1.7, -0.5)),
        "min_child_samples": int(2 ** rng.uniform(1, 7)),
        "colsample_bytree": float(rng.uniform(0.4, 1)),
        "subsample": float(rng.uniform(0.5, 1)),
        "subsample_freq": 1,
        "reg_lambda": float(10 ** rng.uniform(-3, 1)),
    }


def catboost(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int) -> Model | None:
    """Return CatBoost with its defaults; None for many columns with many classes, which take it many minutes."""
    if classes and X.shape[1] * len(np.unique(y)) > CATBOOST_WIDTH:
        return None
    from catboost import CatBoostClassifier, CatBoostRegressor  # noqa: PLC0415 - a peer that need not be installed

    kind = CatBoostClassifier if classes else CatBoostRegressor
    text = list(X.select_dtypes("category").columns)
    model = kind(thread_count=THREADS, random_seed=seed, verbose=False, allow_writing_files=False, cat_features=text)
    return model.fit(X, y)


def hist_gradient_boosting(X: pandas.DataFrame, y: np.ndarray, classes: bool, seed: int) -> Model:
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    few = [name for name in X.select_dtypes("category") if len(X[name].cat.categories) <= 255]  # its own limit
    codes = FunctionTransformer(lambda rows: rows.apply(_codes_where_many))
    return make_pipeline(codes, kind(random_state=seed, categorical_features=few)).fit(X, y)


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
