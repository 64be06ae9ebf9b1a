"""Pictures of models: each function draws into axes of matplotlib, and returns them.

Colours keep their meaning over all plots: blue is the model on its training rows, orange is new rows, grey is a
reference (a chosen value, no error, perfect calibration), other colours are maps, and a light band is an interval.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier

from mercer._typing import Array, RowsLike
from mercer.features import feature_map
from mercer.gram import approximation_error
from mercer.kernels import Kernel
from mercer.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "alpha_path",
    "calibration",
    "error_against_components",
    "importances",
    "learning_curve",
    "residuals",
    "spectrum",
]

MODEL, NEW_ROWS, REFERENCE = "#0b5394", "#b45309", "#374151"
# Of maps, by the names that ``feature_map`` knows.
_MAPS = {"auto": "#15803d", "nystroem": "#9d174d", "orthogonal": "#6d28d9", "fourier": "#0e7490", "fastfood": "#a16207"}
_OTHER_MAP = "#57534e"
_BAND = 0.18  # opacity of intervals
_REFERENCE_LINE: dict[str, Any] = {"color": REFERENCE, "linestyle": "--", "linewidth": 1}
# Standard normal quantile of intervals that hold with probability 0.95.
_QUANTILE = 1.96
# Bars at most.
_MOST_BARS = 30


def learning_curve(
    model: BaseEstimator,
    X: RowsLike,
    y: ArrayLike,
    *,
    n_sizes: int = 6,
    n_repeats: int = 3,
    test_fraction: float = 0.25,
    random_state: int = 0,
    ax: "Axes | None" = None,
) -> "Axes":
    """Plot the score on new rows, and on the training rows, against the number of training rows.

    Clones of the model are fitted on growing parts of the rows. The same rows are held out for all sizes of a repeat.
    The band spans the repeats. If the curve of new rows still rises, more rows help; if both curves meet, they do not.

    Parameters
    ----------
    model : estimator with ``score``
    X, y : rows and targets
    n_sizes : int, default=6
        Numbers of rows, each a constant factor above the one before.
    n_repeats : int, default=3
    test_fraction : float, default=0.25
    random_state : int, default=0
    ax : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge, plots
    >>> X = np.random.RandomState(0).rand(200, 2)
    >>> plots.learning_curve(KernelRidge(random_state=0), X, X[:, 0], n_sizes=2, n_repeats=1).get_xlabel()
    'training rows'
    """
    sizes, scores = _grown_scores(model, X, np.asarray(y), n_sizes, n_repeats, test_fraction, random_state)
    axes = _axes(ax)
    for values, colour, name in zip(scores, (NEW_ROWS, MODEL), ("new rows", "training rows"), strict=True):
        _curve(axes, sizes, values.mean(axis=0), (values.min(axis=0), values.max(axis=0)), colour, name)
    _ticks(axes, sizes)
    return _named(axes, "training rows", "accuracy" if is_classifier(model) else "R²")


def error_against_components(
    kernel: Kernel,
    X: RowsLike,
    *,
    components: Sequence[int] = (32, 64, 128, 256, 512),
    methods: Sequence[str] = ("auto", "nystroem"),
    random_state: int = 0,
    ax: "Axes | None" = None,
) -> "Axes":
    """Plot the relative Frobenius error of a kernel's maps against their number of features, with intervals of 95 %.

    Parameters
    ----------
    kernel : Kernel
    X : rows
    components : numbers of features
    methods : names of maps, as in ``feature_map``
    random_state : int, default=0
    ax : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, plots
    >>> X = np.random.RandomState(0).rand(60, 2)
    >>> plots.error_against_components(Gaussian(), X, components=[8, 16]).get_xlabel()
    'features'
    """
    axes = _axes(ax)
    for method in methods:
        colour = _MAPS.get(method, _OTHER_MAP)
        maps = [feature_map(kernel, n, method=method, random_state=random_state) for n in components]
        errors = [approximation_error(one.fit(X), X, random_state=random_state).frobenius for one in maps]
        band = [error.low for error in errors], [error.high for error in errors]
        _curve(axes, [one.n_features_out_ for one in maps], [error.value for error in errors], band, colour, method)
    axes.set_yscale("log")
    _ticks(axes, components)
    return _named(axes, "features", "relative error of the Gram matrix", legend="map")


def alpha_path(model: BaseEstimator, *, ax: "Axes | None" = None) -> "Axes":
    """Plot the leave-one-out or GCV error of each penalty that a ridge model tried, and the penalty that it chose.

    Parameters
    ----------
    model : KernelRidge or KernelRidgeClassifier, fitted with ``alpha="loo"`` or ``"gcv"``
    ax : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge, plots
    >>> X = np.random.RandomState(0).rand(60, 2)
    >>> plots.alpha_path(KernelRidge(random_state=0).fit(X, X[:, 0])).get_xlabel()
    'alpha'
    """
    alphas, scores = _fitted(model, "alphas_", 'Fit with alpha="loo" or "gcv".'), _fitted(model, "scores_", "")
    axes, known = _axes(ax), np.isfinite(scores)
    order = np.argsort(alphas[known])
    axes.loglog(alphas[known][order], scores[known][order], "o-", markersize=3, color=MODEL, label="error of the rule")
    axes.axvline(model.alpha_, **_REFERENCE_LINE, label=f"chosen: {model.alpha_:.2g}")
    return _named(axes, "alpha", "mean squared error")


def spectrum(model: BaseEstimator, *, ax: "Axes | None" = None) -> "Axes":
    """Plot the eigenvalues of a fitted ``KernelPCA`` or ``Nystroem``, largest first.

    A steep fall means that few features carry the kernel.

    Parameters
    ----------
    model : fitted KernelPCA or Nystroem
    ax : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Nystroem, plots
    >>> plots.spectrum(Nystroem(n_components=9, random_state=0).fit(np.random.RandomState(0).rand(60, 2))).get_xlabel()
    'number of the eigenvalue'
    """
    values = np.asarray(_fitted(model, "eigenvalues_", "Give a fitted KernelPCA or Nystroem."))
    axes = _axes(ax)
    axes.semilogy(
        np.arange(1, len(values) + 1), np.maximum(values, np.finfo(float).tiny), "o-", markersize=3, color=MODEL
    )
    return _named(axes, "number of the eigenvalue", "eigenvalue", legend=None)


def residuals(model: BaseEstimator, X: RowsLike | None, y: ArrayLike, *, ax: "Axes | None" = None) -> "Axes":
    """Plot residuals against predictions, with the running median of their size.

    Parameters
    ----------
    model : fitted regressor of one target
    X : rows, or None
        None: y are the training targets in the order of ``fit``, and the leave-one-out residuals of the model are
        shown (``LocalKernelRidge``).
    y : targets
    ax : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LocalKernelRidge, plots
    >>> X = np.random.RandomState(0).rand(60, 2)
    >>> plots.residuals(LocalKernelRidge(random_state=0).fit(X, X[:, 0]), None, X[:, 0]).get_ylabel()
    'leave-one-out residual'
    """
    y = np.asarray(y, dtype=np.float64)
    if X is None:
        found = np.asarray(_fitted(model, "loo_residuals_", "Give X, or a LocalKernelRidge."))
    else:
        found = y - np.asarray(model.predict(X))
    if found.shape != y.shape or y.ndim != 1:
        raise ValueError(f"residuals: y must be one target for each of {len(found)} rows, got the shape {y.shape}.")
    predicted, axes = y - found, _axes(ax)
    colour = MODEL if X is None else NEW_ROWS
    axes.plot(predicted, found, ".", markersize=4, alpha=0.5, color=colour, label="rows")
    axes.axhline(0, **_REFERENCE_LINE)
    order = np.argsort(predicted)
    groups = [part for part in np.array_split(order, min(10, len(order))) if len(part)]
    centres, sizes = zip(*[(np.median(predicted[g]), np.median(np.abs(found[g]))) for g in groups], strict=True)
    for sign, label in ((1, "median size, above and below"), (-1, None)):
        axes.plot(centres, sign * np.asarray(sizes), color=REFERENCE, label=label)
    return _named(axes, "prediction", "leave-one-out residual" if X is None else "residual")


def calibration(
    model: BaseEstimator, X: RowsLike, y: ArrayLike, *, n_bins: int = 10, ax: "Axes | None" = None
) -> "Axes":
    """Plot how often the most probable class is right, against its probability, with Wilson's intervals of 95 %.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``
    X, y : new rows and their classes
    n_bins : int, default=10
        Groups of rows of similar probability, of about the same number of rows.
    ax : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelLogisticRegression, plots
    >>> X = np.random.RandomState(0).randn(60, 2)
    >>> model = KernelLogisticRegression(random_state=0).fit(X, X[:, 0] > 0)
    >>> plots.calibration(model, X, X[:, 0] > 0).get_xlabel()
    'predicted probability'
    """
    n_bins = check_integer("calibration", "n_bins", n_bins)
    if not hasattr(model, "predict_proba"):
        raise ValueError(f"calibration: {type(model).__name__} has no predict_proba. Take KernelLogisticRegression.")
    chances = np.asarray(model.predict_proba(X))
    right = np.asarray(model.classes_)[chances.argmax(axis=1)] == np.asarray(y)
    sure = chances.max(axis=1)
    centres, shares, bounds = grouped_shares(sure, right, n_bins)
    axes = _axes(ax)
    least = min(float(centres.min()), float(bounds.min()))
    axes.plot([least, 1], [least, 1], **_REFERENCE_LINE, label="perfect")
    errors = np.abs(bounds.T - shares)
    axes.errorbar(centres, shares, errors, fmt="o-", color=NEW_ROWS, capsize=3, label="new rows")
    return _named(axes, "predicted probability", "share that is right")


def grouped_shares(sure: Array, right: Array, n_groups: int) -> tuple[Array, Array, Array]:
    """Return of groups of similar probability: its mean, the share that is right, and the interval of that (k, 2)."""
    groups = [part for part in np.array_split(np.argsort(sure, kind="stable"), n_groups) if len(part)]
    centres = np.array([sure[part].mean() for part in groups])
    shares = np.array([right[part].mean() for part in groups])
    return centres, shares, np.array([_wilson(right[part]) for part in groups])


def importances(model: BaseEstimator, *, names: Sequence[str] | None = None, ax: "Axes | None" = None) -> "Axes":
    """Plot the importances of the columns as bars, the most important at the top.

    Parameters
    ----------
    model : fitted estimator with ``feature_importances_``, such as TunedRegressor
    names : names of the columns, optional
        By default those of the data frame that the model was fitted on.
    ax : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TunedRegressor, plots
    >>> X = np.random.RandomState(0).rand(80, 2)
    >>> axes = plots.importances(TunedRegressor(random_state=0).fit(X, X[:, 0]))
    >>> axes.get_yticklabels()[-1].get_text()
    'x0'
    """
    values = np.asarray(_fitted(model, "feature_importances_", "Take TunedRegressor or TunedClassifier."))
    if names is None:
        names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(len(values))])]
    if len(names) != len(values):
        raise ValueError(f"importances: names must name {len(values)} columns, got {len(names)} names.")
    order = np.argsort(values, kind="stable")[-_MOST_BARS:]
    axes = _axes(ax)
    axes.barh([names[j] for j in order], values[order], color=MODEL)
    axes.grid(False, axis="y")
    return _named(axes, "share of the squared gradient", "", legend=None)


def _grown_scores(
    model: BaseEstimator, X: RowsLike, y: Array, n_sizes: int, n_repeats: int, test_fraction: float, seed: int
) -> tuple[Array, Array]:
    """Return numbers of rows, and the scores (2, repeats, sizes) on new rows and on the training rows."""
    rows, n_rows = X if hasattr(X, "iloc") else np.asarray(X), len(y)
    n_test = max(1, round(test_fraction * n_rows))
    sizes = np.unique(np.geomspace(max(10, (n_rows - n_test) / 32), n_rows - n_test, n_sizes).round().astype(int))
    scores = np.empty((2, n_repeats, len(sizes)))
    for repeat in range(n_repeats):
        order = np.random.RandomState(seed + repeat).permutation(n_rows)
        for j, size in enumerate(sizes):
            new, known = order[:n_test], order[n_test : n_test + size]
            fitted = clone(model).fit(_some(rows, known), y[known])
            scores[:, repeat, j] = [fitted.score(_some(rows, part), y[part]) for part in (new, known)]
    return sizes, scores


def _curve(axes: "Axes", x: ArrayLike, y: ArrayLike, band: tuple[ArrayLike, ArrayLike], colour: str, name: str) -> None:
    """Draw a curve over a logarithmic axis, with the band between two others."""
    axes.plot(x, y, "o-", color=colour, label=name)
    axes.fill_between(x, *band, color=colour, alpha=_BAND, linewidth=0)
    axes.set_xscale("log")


def _named(axes: "Axes", x: str, y: str, *, legend: str | None = "") -> "Axes":
    """Name both axes, draw the legend with its title unless it is None, and return the axes."""
    axes.set(xlabel=x, ylabel=y)
    if legend is not None:
        axes.legend(title=legend or None)
    return axes


def _axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # noqa: PLC0415 - an optional package

    made: Axes = plt.subplots()[1]
    return made


def _ticks(axes: "Axes", places: Sequence[int] | Array) -> None:
    """Mark given places of a logarithmic axis by whole numbers."""
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.set_xticks([], minor=True)


def _fitted(model: BaseEstimator, name: str, way_out: str) -> Array:
    """Return a fitted attribute, or say what has it."""
    value: Array | None = getattr(model, name, None)
    if value is None:
        raise ValueError(f"{type(model).__name__} has no {name}. {way_out}".rstrip())
    return value


def _some(X: Any, rows: Array) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _wilson(right: Array) -> tuple[float, float]:
    """Return the interval of a share (Wilson, 1927)."""
    n, share, z2 = len(right), float(right.mean()), _QUANTILE**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _QUANTILE / (1 + z2 / n) * float(np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)))
    return max(0.0, centre - half), min(1.0, centre + half)
