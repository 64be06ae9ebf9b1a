"""The claims of a feature map: its mean is the kernel, its error is that of the theorem, a seed fixes its draws."""

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from mercer._typing import Array, Rows, is_sparse
from mercer.config import changed_config
from mercer.features import FeatureMap
from mercer.structures import Ragged
from mercer.structures.ragged import stack_rows
from mercer.testing.estimators import as_double
from mercer.testing.fitted import check_fitted
from mercer.testing.refits import check_refits
from mercer.testing.samples import assert_mean_close, rounding, sample_rows


def check_feature_map(
    feature_map: FeatureMap,
    X: Rows | None = None,
    *,
    outside: Rows | None = None,
    n_draws: int = 400,
    false_alarm: float = 1e-6,
    unbiased: bool = True,
    variance: bool = True,
    sklearn_checks: bool = True,
    data_dependent: bool = False,
    others: Mapping[str, Sequence[object]] | None = None,
) -> None:
    """Check a feature map: scikit-learn's contract, mean, error, rate, types, blocks, threads, draws, refits.

    Parameters
    ----------
    feature_map : unfitted map
    X : array or packed objects, optional
        A few rows to fit on, and to test the estimate of the kernel on: an array, or objects such as ``Strings``.
    outside : as X, optional
        A few rows that ``fit`` does not see, on which the estimate is tested too; by default shrunk rows of X with
        their columns reversed, and no further objects.
    n_draws : int
        Independent draws for the statistical tests.
    false_alarm : float
        Rate of false alarms of each statistical test.
    unbiased, variance, sklearn_checks : bool
        False leaves out the tests of what a map does not claim. A biased map can claim its ``variance``, which is the
        mean squared error, bias included; only the rate 1/D is then not tested.
    data_dependent : bool
        Whether ``fit`` computes with the values of X. Rows of equal values in any precision and layout must then give
        the same map up to rounding, not bit for bit.
    others : dict of parameter name to values, optional
        Values to change a parameter to between two fits, as in ``check_refits``.
    """
    X = sample_rows() if X is None else as_double(X)
    of_objects = isinstance(X, Ragged)
    if sklearn_checks and not of_objects:  # scikit-learn has no checks for objects
        check_estimator(clone(feature_map))
    _check_transform(feature_map, X)
    _check_draws(feature_map, X, data_dependent)
    check_refits(feature_map, X, others=others)
    check_fitted(feature_map, X)
    if unbiased or variance:
        rows = _with_others(X, outside)
        for width in (_width(feature_map, X), 4 * _width(feature_map, X)):
            resized = _resized(feature_map, width)
            estimates = _estimates(_drawn(resized, X, n_draws), rows)
            if unbiased:
                _check_mean(resized, X, rows, estimates, false_alarm)
            if variance:
                _check_error(resized, X, rows, estimates, false_alarm)
    if unbiased and variance:
        _check_rate(feature_map, X, n_draws, false_alarm)


def _with_others(X: Rows, outside: Rows | None) -> Rows:
    """Return the rows to test on: those of ``fit``, and others."""
    if outside is None:
        return X if isinstance(X, Ragged) else np.vstack([X, 0.7 * X[:2, ::-1]])
    return stack_rows([X, as_double(outside)])


def _dense(Z: Rows) -> Array:
    return np.asarray(Z.toarray() if is_sparse(Z) else Z)


def _width(feature_map: FeatureMap, X: Array) -> int:
    return int(clone(feature_map).fit(X).n_features_out_)


def _resized(feature_map: FeatureMap, n_components: int) -> FeatureMap:
    other: FeatureMap = clone(feature_map)
    other.set_width(n_components)
    return other


def _drawn(feature_map: FeatureMap, X: Array, n_draws: int) -> Iterator[FeatureMap]:
    for seed in range(n_draws):
        yield clone(feature_map).set_params(random_state=seed).fit(X)


def _estimates(draws: Iterable[FeatureMap], rows: Array) -> Array:
    """Return the estimates of all pairs of rows, (n_draws, n_pairs)."""
    features = (_dense(draw.transform(rows)) for draw in draws)
    return np.array([(Z @ Z.T)[np.triu_indices(len(rows))] for Z in features])


def _expected(feature_map: FeatureMap, X: Array, rows: Array) -> tuple[FeatureMap, Array, float]:
    """Return the map fitted on X, the kernel of all pairs of rows, and an allowance for the rounding of estimates."""
    fitted = clone(feature_map).set_params(random_state=0).fit(X)
    K = fitted.kernel_(rows)
    return fitted, K[np.triu_indices(len(rows))], rounding(np.float64, fitted.n_features_out_) * np.abs(K).max()


def _check_mean(feature_map: FeatureMap, X: Array, rows: Array, estimates: Array, false_alarm: float) -> None:
    _, K, atol = _expected(feature_map, X, rows)
    assert_mean_close(estimates, K, false_alarm=false_alarm, atol=atol)


def _check_error(feature_map: FeatureMap, X: Array, rows: Array, estimates: Array, false_alarm: float) -> None:
    """Compare the mean squared error that a map claims, on rows of ``fit`` and on others, with independent draws."""
    fitted, K, atol = _expected(feature_map, X, rows)
    errors = (estimates - K) ** 2
    claimed = fitted.variance(rows)[np.triu_indices(len(rows))]
    if fitted.exact_variance(rows, rows) is None:
        # The claim is itself a mean over re-draws, with noise: compare the same number of re-draws, one by one.
        redrawn = (fitted.redrawn(np.random.RandomState(seed)) for seed in range(len(estimates)))
        errors += claimed - (_estimates(redrawn, rows) - K) ** 2
    assert_mean_close(errors, claimed, false_alarm=false_alarm, atol=atol**2)


def _check_rate(feature_map: FeatureMap, X: Array, n_draws: int, false_alarm: float) -> None:
    """Check that the variance falls as 1/D, hence the error as 1/sqrt(D).

    A ratio of 3.5 or more passes, where D grows four times. Variances that re-draws estimate have noise: they are
    refused only if the means of so many draws are below that ratio beyond ``false_alarm``.
    """
    base = 16 * _width(feature_map, X)
    few, many = (_resized(feature_map, n).set_params(random_state=0).fit(X) for n in (base, 4 * base))
    if few.exact_variance(X, X) is not None:
        falls = few.variance(X).sum() >= 3.5 * many.variance(X).sum()
        assert falls, f"the variance at D = {base} is not 3.5 times that at 4D: it does not fall as 1/D"
        return
    errors = [_redrawn_errors(fitted, X, n_draws) for fitted in (few, many)]
    shortfall = 3.5 * errors[1] - errors[0]
    allowed = stats.t.isf(false_alarm, n_draws - 1) * shortfall.std(ddof=1) / n_draws**0.5
    found = f"the variance is {errors[0].mean():.3g} at D = {base} and {errors[1].mean():.3g} at 4D"
    assert shortfall.mean() <= allowed, f"{found}: it does not fall as 1/D"


def _redrawn_errors(fitted: FeatureMap, X: Array, n_draws: int) -> Array:
    """Return the squared errors of all pairs, summed, for each of so many re-draws."""
    K = fitted.kernel_(X)
    draws = (fitted.redrawn(np.random.RandomState(seed)) for seed in range(n_draws))
    return np.array([draw.squared_error(X, X, K).sum() for draw in draws])


def _check_transform(feature_map: FeatureMap, X: Array) -> None:
    fitted = clone(feature_map).set_params(random_state=0).fit(X)
    Z = _dense(fitted.transform(X))
    scale = np.abs(Z).max()
    assert Z.dtype == np.float64
    if isinstance(X, Ragged):
        parts = np.vstack([_dense(fitted.transform(X[i : i + 1])) for i in range(len(X))])
        np.testing.assert_allclose(parts, Z, atol=1e-11 * scale, err_msg="an object alone has other features")
    else:
        np.testing.assert_allclose(fitted.transform(sparse.csr_array(X)), Z, atol=1e-11 * scale, err_msg="CSR differs")
    single = _dense(fitted.transform(X.astype(np.float32)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=2e-4 * scale, err_msg="float32 differs from float64")
    for block_rows, threads in ((1, 1), (2, 2), (5, 1)):
        with changed_config(block_rows=block_rows, threads=threads):
            again = _dense(fitted.transform(X))
            np.testing.assert_allclose(again, Z, atol=1e-11 * scale, err_msg="blocks change the result")


def _check_draws(feature_map: FeatureMap, X: Array, data_dependent: bool) -> None:
    """Check that a seed means one draw, for both precisions and both layouts, and after pickling.

    The values of the rows are exact in float32: only then are the rows of both precisions the same.
    """
    single = X.astype(np.float32)
    X = single.astype(np.float64)
    one = clone(feature_map).set_params(random_state=3).fit(X)
    Z = _dense(one.transform(X))
    for other in (clone(one).fit(X), pickle.loads(pickle.dumps(one))):
        np.testing.assert_array_equal(_dense(other.transform(X)), Z, err_msg="the same seed draws differently")
    layouts = () if isinstance(X, Ragged) else (sparse.csr_array(X), sparse.csr_array(single))
    for rows in (single, *layouts):
        other = _dense(clone(one).fit(rows).transform(X))
        message = f"the same seed draws differently for {type(rows).__name__} of {rows.dtype}"
        if data_dependent:
            # Inner products, since a map found from the rows may be rotated by rounding.
            tolerance = rounding(rows.dtype, Z.shape[1]) * np.abs(Z @ Z.T).max()
            np.testing.assert_allclose(other @ other.T, Z @ Z.T, atol=tolerance, err_msg=message)
        else:
            np.testing.assert_array_equal(other, Z, err_msg=message)
