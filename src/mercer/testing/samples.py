"""Means of random samples, the rounding of sums, and rows to test on."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import stats

from mercer._typing import Array


def rounding(dtype: DTypeLike, n_terms: int = 1) -> float:
    """Return the relative error that a sum of ``n_terms`` rounded products may have: the tests' one tolerance."""
    return float(8 * np.finfo(dtype).eps * max(n_terms, 1) ** 0.5)


def assert_mean_close(
    samples: ArrayLike,
    expected: ArrayLike,
    *,
    false_alarm: float = 1e-6,
    detect: float | None = None,
    atol: float = 0.0,
) -> None:
    """Assert that independent samples (along axis 0) have the expected mean.

    Each entry is tested by Student's t with Hall's (1992) correction for skewness, at ``false_alarm`` over the number
    of entries: the test of the whole array refuses a correct mean with a probability of about ``false_alarm``. If the
    mean depends on events too rare for the sample (a variance with a long tail), no test can be trusted: take milder
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
    """Return rows of length below one, some nearly parallel, for the tests of the kit."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_rows, n_features))
    X[1::2] = X[::2][: len(X[1::2])] + 0.3 * X[1::2]
    lengths = 0.3 + 0.4 * rng.random_sample((n_rows, 1))
    rows: Array = X / np.linalg.norm(X, axis=1, keepdims=True) * lengths
    return rows
