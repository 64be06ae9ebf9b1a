"""The public test kit: a new kernel, map, statistic or learner joins it with one line.

Random claims are tested with a stated rate of false alarms, and thresholds are computed from the sample, never tuned
to a seed.
"""

import pickle
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer._typing import Array
from mercer.config import config_context
from mercer.data import Blocks, as_blocks
from mercer.features import FeatureMap
from mercer.kernels import Kernel
from mercer.stats import Statistic

__all__ = ["assert_mean_close", "check_feature_map", "check_kernel", "check_learner", "check_statistic", "rounding"]


def rounding(dtype: Any, n_terms: int = 1) -> float:
    """Return the relative error that a sum of ``n_terms`` rounded products may have: the tests' one tolerance."""
    return float(8 * np.finfo(dtype).eps * max(n_terms, 1) ** 0.5)


def assert_mean_close(
    samples: Any, expected: Any, *, false_alarm: float = 1e-6, detect: float | None = None, atol: float = 0.0
) -> None:
    """Assert that independent samples (along axis 0) have the expected mean.

    Each entry is tested by Student's t with Hall's (1992) correction for skewness, at ``false_alarm`` over the number
    of entries: a correct mean fails with about that probability for the whole array. Where the mean is made by events
    rarer than the sample shows (a variance with a long tail) no test of the sample can be trusted: take milder
    parameters.

    Parameters
    ----------
    samples : array of shape (n, ...)
    expected : array of shape (...)
    false_alarm : float
        Probability that a correct mean is refused.
    detect : float, optional
        The test must be able to see a relative error of this size in the array's root mean square: with too few samples
        it fails and says how many are needed, so that a test which cannot fail does not pass.
    atol : float
        Allowance for rounding where a sample has no spread.
    """
    samples = np.asarray(samples, dtype=np.float64)
    n = len(samples)
    samples = samples.reshape(n, -1)
    expected = np.broadcast_to(np.asarray(expected, dtype=np.float64).reshape(-1), samples.shape[1:])
    mean, spread = samples.mean(axis=0), samples.std(axis=0, ddof=1)
    error = mean - expected
    size = np.sqrt(np.mean(expected**2))
    constant = spread <= 1e-12 * (np.abs(mean) + size)
    allowed = atol + 1e-9 * size
    if np.any(np.abs(error[constant]) > allowed):
        raise AssertionError(
            f"a sample without spread is off by {np.abs(error[constant]).max():.3g}, allowed {allowed:.3g}"
        )
    if constant.all():
        return
    spread, error, mean = spread[~constant], error[~constant], mean[~constant]
    limit = stats.t.isf(false_alarm / (2 * len(error)), n - 1)
    if detect is not None:
        seen = limit * np.sqrt(np.mean(spread**2) / n)
        if seen > detect * size:
            needed = int(np.ceil(n * (seen / (detect * size)) ** 2))
            raise AssertionError(f"{n} samples cannot see a relative error of {detect:g}: {needed} are needed")
    skew = ((samples[:, ~constant] - mean) ** 3).mean(axis=0) / spread**3
    ratio = error / spread
    statistic = np.sqrt(n) * (ratio + skew * ratio**2 / 3 + skew**2 * ratio**3 / 27 + skew / (6 * n))
    worst = int(np.argmax(np.abs(statistic)))
    if np.abs(statistic[worst]) > limit:
        raise AssertionError(
            f"the mean of {n} samples is {mean[worst]:.6g}, expected {mean[worst] - error[worst]:.6g}: "
            f"{statistic[worst]:.1f} standard errors, {limit:.1f} allowed at false alarm {false_alarm:g}"
        )


def sample_rows(n_rows: int = 6, n_features: int = 5, seed: int = 0) -> Array:
    """Return rows of length below one, some nearly parallel, as the tests of the kit use them."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_rows, n_features))
    X[1::2] = X[::2][: len(X[1::2])] + 0.3 * X[1::2]
    lengths = 0.3 + 0.4 * rng.random_sample((n_rows, 1))
    rows: Array = X / np.linalg.norm(X, axis=1, keepdims=True) * lengths
    return rows


def check_kernel(kernel: Kernel, X: Any = None, *, positive_definite: bool = True) -> None:
    """Check the laws of a kernel: symmetry, positive definiteness, diagonal, types, algebra, value semantics."""
    X = sample_rows(12) if X is None else np.asarray(X, dtype=np.float64)
    K = kernel(X)
    size = np.abs(K).max()
    tolerance = rounding(np.float64, 100) * size
    assert K.shape == (len(X), len(X))
    np.testing.assert_allclose(K, K.T, atol=tolerance, err_msg="not symmetric")
    np.testing.assert_allclose(kernel.diag(X), np.diag(K), atol=tolerance, err_msg="diag differs from the Gram matrix")
    if positive_definite:
        assert np.linalg.eigvalsh(K).min() >= -len(X) * tolerance, "not positive semi-definite"
    _check_types(kernel, X, K)
    _check_algebra(kernel, X, K, tolerance)
    _check_value(kernel)


def _check_types(kernel: Kernel, X: Array, K: Array) -> None:
    np.testing.assert_allclose(kernel(X[:3], X), K[:3], rtol=rounding(np.float64, 100), atol=1e-14 * np.abs(K).max())
    np.testing.assert_allclose(kernel(sparse.csr_array(X)), K, rtol=1e-9, err_msg="CSR differs from dense")
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(
        single, K, rtol=1e-4, atol=1e-5 * np.abs(K).max(), err_msg="float32 differs from float64"
    )
    with config_context(threads=1):
        np.testing.assert_array_equal(kernel(X), K, err_msg="the number of threads changes the result")


def _check_algebra(kernel: Kernel, X: Array, K: Array, tolerance: float) -> None:
    other = mercer.Linear()
    L = other(X)
    scale = tolerance * max(1.0, np.abs(L).max())
    np.testing.assert_allclose((kernel + other)(X), K + L, atol=scale)
    np.testing.assert_allclose((kernel * other)(X), K * L, atol=scale)
    np.testing.assert_allclose((2.5 * kernel)(X), 2.5 * K, atol=3 * scale)
    assert 2.0 * (3.0 * kernel) == 6.0 * kernel
    assert (kernel + other) + kernel == kernel + (other + kernel)
    assert (kernel * other) * kernel == kernel * (other * kernel)


def _check_value(kernel: Kernel) -> None:
    again = pickle.loads(pickle.dumps(kernel)) if "<" not in repr(kernel) else kernel
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert clone(kernel) is kernel
    assert kernel.with_params(**kernel.get_params(deep=False)) == kernel
    if "<" not in repr(kernel):  # a user's function does not print as an expression
        names = {name: getattr(mercer, name) for name in dir(mercer)} | {type(kernel).__name__: type(kernel)}
        assert eval(repr(kernel), names) == kernel  # noqa: S307


def check_feature_map(
    feature_map: FeatureMap,
    X: Any = None,
    *,
    n_draws: int = 400,
    false_alarm: float = 1e-6,
    unbiased: bool = True,
    variance: bool = True,
    sklearn_checks: bool = True,
    data_dependent: bool = False,
) -> None:
    """Check a feature map: scikit-learn's contract, mean, variance, rate, types, blocks, threads, draws.

    Parameters
    ----------
    feature_map : unfitted map
    X : array, optional
        A few rows on which the estimate of the kernel is tested.
    n_draws : int
        Independent draws for the statistical tests.
    false_alarm : float
        Rate of false alarms of each statistical test.
    unbiased, variance, sklearn_checks : bool
        Leave out what a map does not claim.
    data_dependent : bool
        Whether ``fit`` looks at the values of X: float32 rows may then draw another map than float64 ones.
    """
    X = sample_rows() if X is None else np.asarray(X, dtype=np.float64)
    if sklearn_checks:
        check_estimator(clone(feature_map))
    _check_transform(feature_map, X)
    _check_draws(feature_map, X, data_dependent)
    if unbiased:
        for width in (_width(feature_map, X), 4 * _width(feature_map, X)):
            _check_moments(_resized(feature_map, width), X, n_draws, false_alarm, variance)
    if variance:
        _check_rate(feature_map, X)


def _width(feature_map: FeatureMap, X: Array) -> int:
    return int(clone(feature_map).fit(X)._n_features_out)


def _resized(feature_map: FeatureMap, n_components: int) -> FeatureMap:
    other: FeatureMap = clone(feature_map)
    other._set_width(n_components)
    return other


def _estimates(feature_map: FeatureMap, X: Array, n_draws: int) -> Array:
    draws = []
    for seed in range(n_draws):
        Z = clone(feature_map).set_params(random_state=seed).fit_transform(X)
        draws.append(Z @ Z.T)
    return np.array(draws)


def _check_moments(feature_map: FeatureMap, X: Array, n_draws: int, false_alarm: float, variance: bool) -> None:
    fitted = clone(feature_map).set_params(random_state=0).fit(X)
    K = fitted.kernel_(X)
    estimates = _estimates(feature_map, X, n_draws)
    upper = np.triu_indices(len(X))
    atol = rounding(np.float64, fitted._n_features_out) * np.abs(K).max()
    assert_mean_close(estimates[:, *upper], K[upper], false_alarm=false_alarm, atol=atol)
    if variance:
        errors = (estimates - K) ** 2
        assert_mean_close(errors[:, *upper], fitted.variance(X)[upper], false_alarm=false_alarm, atol=atol**2)


def _check_rate(feature_map: FeatureMap, X: Array) -> None:
    """Check that the variance falls as 1/D, hence the error as 1/sqrt(D)."""
    base = 16 * _width(feature_map, X)
    few, many = (_resized(feature_map, n).fit(X).variance(X).sum() for n in (base, 4 * base))
    assert few >= 3.5 * many, f"the variance is {few:.3g} at D = {base} and {many:.3g} at 4D: it does not fall as 1/D"


def _check_transform(feature_map: FeatureMap, X: Array) -> None:
    fitted = clone(feature_map).set_params(random_state=0).fit(X)
    Z = fitted.transform(X)
    scale = np.abs(Z).max()
    assert Z.dtype == np.float64
    np.testing.assert_allclose(fitted.transform(sparse.csr_array(X)), Z, atol=1e-11 * scale, err_msg="CSR differs")
    single = fitted.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=2e-4 * scale, err_msg="float32 differs from float64")
    for block_rows, threads in ((1, 1), (2, 2), (5, 1)):
        with config_context(block_rows=block_rows, threads=threads):
            np.testing.assert_allclose(fitted.transform(X), Z, atol=1e-11 * scale, err_msg="blocks change the result")


def _check_draws(feature_map: FeatureMap, X: Array, data_dependent: bool) -> None:
    """Check that a seed means one draw, for both precisions and both layouts, and survives pickling."""
    one = clone(feature_map).set_params(random_state=3).fit(X)
    others = [clone(one).fit(X), pickle.loads(pickle.dumps(one))]
    if not data_dependent:
        others += [clone(one).fit(X.astype(np.float32)), clone(one).fit(sparse.csr_array(X))]
    for other in others:
        np.testing.assert_array_equal(other.transform(X), one.transform(X), err_msg="the same seed draws differently")


def check_statistic(empty: Statistic, rows: Sequence[Any], cuts: Sequence[int], *, rtol: float | None = None) -> None:
    """Check the laws of a mergeable statistic: identity, associativity, and that the cuts of the rows are irrelevant.

    Parameters
    ----------
    empty : statistic without rows
    rows : arrays of the same length, the arguments of ``update``
    cuts : row numbers at which the rows are cut
    rtol : float, optional
        Allowed difference relative to the largest entry of a field; by default the rounding of a float64 sum.
    """
    ends = [0, *sorted(cuts), rows[0].shape[0]]
    pieces = [[part[a:b] for part in rows] for a, b in pairwise(ends)]
    parts = [empty.zero().update(*piece) for piece in pieces]
    whole = empty.zero().update(*rows)

    left = deepcopy(parts[0])
    for part in parts[1:]:
        left.merge(part)
    right = deepcopy(parts[-1])
    for part in parts[-2::-1]:
        right = deepcopy(part).merge(right)
    running = empty.zero()
    for piece in pieces:
        running.update(*piece)
    tolerance = rounding(np.float64, rows[0].shape[0]) if rtol is None else rtol
    _assert_same_statistic(left, right, rounding(np.float64, len(parts)), "merge is not associative")
    _assert_same_statistic(left, whole, tolerance, "the cuts change the merged result")
    _assert_same_statistic(running, whole, tolerance, "the cuts change the updated result")
    _assert_same_statistic(deepcopy(whole).merge(empty.zero()), whole, 0.0, "zero is not an identity on the right")
    _assert_same_statistic(empty.zero().merge(whole), whole, 0.0, "zero is not an identity on the left")


def _assert_same_statistic(one: Any, other: Any, rtol: float, message: str) -> None:
    for name, value in vars(one).items():
        expected = np.asarray(getattr(other, name))
        scale = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(value, expected, rtol=0, atol=rtol * scale, err_msg=f"{name}: {message}")


def check_learner(
    learner: BaseEstimator, X: Any = None, y: Any = None, *, rtol: float = 1e-3, sklearn_checks: bool = True
) -> None:
    """Check a learner: scikit-learn's contract, streams, threads, types, interruptions, and that NaN never comes out.

    Parameters
    ----------
    learner : unfitted estimator
    X, y : arrays, optional
        Rows to learn from, in float64; by default 5000 rows, with 3 classes, numbers or no y as the learner needs.
    rtol : float
        Allowed difference between float32 and float64 rows, and between CSR and dense ones, in units of the largest
        score: that of the solver's tolerance.
    sklearn_checks : bool
        Whether to run scikit-learn's own checks too.
    """
    if sklearn_checks:
        check_estimator(clone(learner))
    X = np.random.RandomState(0).standard_normal((5000, 3)) if X is None else np.asarray(X, dtype=np.float64)
    if y is None and (is_classifier(learner) or is_regressor(learner)):
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
        y = np.array(["low", "middle", "top"])[np.digitize(y, [-0.5, 0.5])] if is_classifier(learner) else y
    model = clone(learner)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    expected = _outputs(clone(model).fit(X, y), X)
    for name, values in expected.items():
        assert values.dtype.kind not in "fc" or np.isfinite(values).all(), f"{name} returns NaN or inf"
    _check_streams(model, X, y, expected)
    _check_rows_as(model, X, y, expected, rtol)
    _check_interruptions(model, X, y)
    _check_never_nan(model, X, y)


def _outputs(model: Any, X: Any) -> dict[str, Array]:
    names = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
    return {name: np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)}


def _check_streams(model: Any, X: Array, y: Any, expected: dict[str, Array]) -> None:
    cuts = [0, 10, len(X) // 2, len(X)]

    def pieces() -> Iterator[Any]:
        for a, b in pairwise(cuts):
            yield X[a:b] if y is None else (X[a:b], y[a:b])

    fits = {"blocks": as_blocks(X, y, block_rows=77), "an iterator of blocks": as_blocks(pieces), "an array": X}
    for what, source in fits.items():
        for threads in (1, 2):
            with config_context(threads=threads):
                fitted = clone(model).fit(*((source,) if isinstance(source, Blocks) else (source, y)))
                fitted = pickle.loads(pickle.dumps(fitted))
                for name, values in _outputs(fitted, X).items():
                    message = f"{name} differs after a fit on {what} with {threads} threads"
                    np.testing.assert_array_equal(values, expected[name], err_msg=message)
                if "predict" in expected:
                    np.testing.assert_array_equal(fitted.predict(as_blocks(X)), expected["predict"])


def _check_rows_as(model: Any, X: Array, y: Any, expected: dict[str, Array], rtol: float) -> None:
    for what, rows in (("CSR", sparse.csr_array(X)), ("float32", X.astype(np.float32))):
        for name, values in _outputs(clone(model).fit(rows, y), rows).items():
            if values.dtype.kind in "fc":
                scale = np.abs(expected[name]).max()
                np.testing.assert_allclose(values, expected[name], atol=rtol * scale, err_msg=f"{what} differs")
            else:
                agree = np.mean(values == expected[name])
                assert agree >= 1 - 10 * rtol, f"{what} rows: {name} agrees with float64 on {agree:.2%} only"


class _Interrupted:
    """A source of rows that is interrupted in the middle of one of its passes, and counts them."""

    def __init__(self, X: Array, y: Any, at: int):
        self.X, self.y, self.at, self.passes = X, y, at, 0

    def __call__(self) -> Iterator[Any]:
        half = len(self.X) // 2
        yield self.X[:half] if self.y is None else (self.X[:half], self.y[:half])
        self.passes += 1
        if self.passes == self.at:
            raise KeyboardInterrupt
        yield self.X[half:] if self.y is None else (self.X[half:], self.y[half:])


def _check_interruptions(model: Any, X: Array, y: Any) -> None:
    """Interrupt each pass of a fit: an unfitted learner stays unfitted, a fitted one as it was."""
    counted = _Interrupted(X, y, 0)
    fitted = clone(model).fit(as_blocks(counted))
    before = _outputs(fitted, X)
    attributes = set(vars(model))
    for at in range(1, counted.passes + 1):
        for one in (fitted, clone(model)):
            try:
                one.fit(as_blocks(_Interrupted(X, y, at)))
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError(f"the interruption of pass {at} was lost")
            if one is not fitted:
                assert set(vars(one)) == attributes, f"half fitted after an interruption of pass {at}"
        for name, values in _outputs(fitted, X).items():
            np.testing.assert_array_equal(values, before[name], err_msg=f"{name} changed by an interrupted fit")


def _check_never_nan(model: Any, X: Array, y: Any) -> None:
    few, labels = X[:200], None if y is None else y[:200]
    for value in (np.nan, np.inf):
        broken = few.copy()
        broken[7, 1] = value
        for source in (broken, as_blocks(broken, labels)):
            message = ""
            try:
                clone(model).fit(*((source,) if isinstance(source, Blocks) else (source, labels)))
            except ValueError as error:
                message = str(error)
            assert "row 7" in message, f"a row with {value} was not refused by its number, but: {message or 'taken'}"
    large = few.astype(np.float32) * np.float32(1e30)
    try:
        outputs = _outputs(clone(model).fit(large, labels), large)
    except ValueError:
        return  # refused is as good
    for name, values in outputs.items():
        assert values.dtype.kind not in "fc" or np.isfinite(values).all(), f"{name} of large rows is NaN or inf"
