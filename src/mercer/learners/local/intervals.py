"""Intervals of predictions from leave-one-out residuals, scaled by a model of their size."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.kernels import Kernel, Matern
from mercer.learners.local.ridge import LocalKernelRidge
from mercer.learners.local.scaling import weighted_median
from mercer.parallel import on_threads
from mercer.state import Member, Reals, Sizes, Stored, part, require
from mercer.validation import check_real

# What is added to the residuals before their logarithm, in medians of their size: a residual near 0 says little.
_SMALL = 0.02
# Ridges of the model of sizes, of which leave-one-out errors choose: logarithms of residuals are noisy.
_ALPHAS = (1.0, 3.0, 10.0, 30.0)
# Rows of the model of sizes at most, and of the fits that choose its kernel: the size of noise changes slowly.
_ROWS, _CHOICE_ROWS = 2**13, 2**9
# Rows of its leaves at most: the size of noise changes slowly, and half as many rows take a quarter of the time.
_LEAF_ROWS = 512
# Its landmarks at most.
_LANDMARKS = 128
# The kernel of the model of sizes that does not know the learned metric: noise may depend on columns that y does not.
_PLAIN = Matern(1.5, length_scale="median")


@part("Intervals")
@dataclass(frozen=True)
class Intervals:
    r"""Half widths :math:`q\, s(x)`: s predicts the size of the residual, q is a quantile of :math:`|e_i| / s_i`.

    Both e and s are leave-one-out values, so that no row judges itself. Intervals of constant width are too wide where
    the target is sure and too narrow where it is not; these cover about evenly.

    Attributes
    ----------
    size : LocalKernelRidge
        The model of log(|e| + 0.02 median |e|), of one tree, on at most 8,192 rows. Its kernel is that of the model or
        a plain one of all columns, whichever has the least leave-one-out error on at most 512 rows: noise may depend
        on other columns than the target.
    ratios : ndarray of shape (n, k)
        |e_i| / s_i of each target, ascending.
    shares : ndarray of shape (n, k)
        The share of the weight of the rows up to each of ``ratios``, of all rows and one more.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LocalKernelRidge
    >>> from mercer.learners.local.intervals import Intervals
    >>> rng = np.random.RandomState(0)
    >>> X = rng.rand(1000, 1)
    >>> y = X[:, 0] * rng.randn(1000)  # the noise grows with x
    >>> model = LocalKernelRidge(random_state=0).fit(X, y)
    >>> half = Intervals.of(model, X).half_widths("example", np.array([[0.1], [0.9]]), 0.9)
    >>> bool(half[1, 0] > 3 * half[0, 0])
    True
    """

    _stored = Stored(size=Member(LocalKernelRidge), ratios=Reals(("n", "k"), 0.0), shares=Reals(("n", "k"), 0.0))

    size: LocalKernelRidge
    ratios: Array
    shares: Array

    @classmethod
    def of(
        cls,
        model: LocalKernelRidge,
        rows: Array,
        sample_weight: Array | None = None,
        *,
        residuals: Array | None = None,
    ) -> "Intervals":
        """Learn from leave-one-out residuals (n, k), by default those of a model that was fitted on these rows."""
        weight = np.ones(len(rows)) if sample_weight is None else sample_weight
        sizes = np.abs(model.loo_residuals_ if residuals is None else residuals).reshape(len(rows), -1)
        some = _sample(len(rows), _ROWS)
        rows, weight, sizes = rows[some], weight[some], sizes[some]
        units = np.array([weighted_median(size, weight) or float(size.max()) or 1.0 for size in sizes.T])
        logs = np.log(sizes / units + _SMALL) + np.log(units)
        size = _size_model(model, rows, logs, weight)
        size.share_rows(model)
        ratios = sizes / np.exp(logs - size.loo_residuals_)
        order = np.argsort(ratios, axis=0, kind="stable")
        shares = np.cumsum(weight[order], axis=0) / (weight.sum() + 1)
        return cls(size, np.take_along_axis(ratios, order, axis=0), shares)

    def half_widths(self, owner: str, X: Array, coverage: float) -> Array:
        """Return the half width of the interval of each row and target (n, k)."""
        level = check_real(owner, "coverage", coverage, least=0, strict=True)
        if level >= 1:
            raise ValueError(f"{owner}: coverage must be a number between 0 and 1, got {coverage!r}.")
        last = len(self.ratios) - 1
        places = [min(int(np.searchsorted(share, level)), last) for share in self.shares.T]
        quantiles = self.ratios[places, np.arange(self.ratios.shape[1])]
        return np.asarray(quantiles * np.exp(self.size.predict(X).astype(np.float64)))

    def standard_deviations(self, X: Array) -> Array:
        """Return the root mean square of the residual that is expected for each row and target (n, k)."""
        weight = np.diff(self.shares, axis=0, prepend=0.0)
        ratio = np.sqrt(np.sum(weight * self.ratios**2, axis=0) / weight.sum(axis=0))
        return np.asarray(ratio * np.exp(self.size.predict(X).astype(np.float64)))

    def _check_stored(self, sizes: Sizes) -> None:
        require(sizes["n"] >= 1, "ratios must hold a row")
        require(self.size.loo_residuals_.shape[1:] == (sizes["k"],), "size must be of as many targets as ratios")
        require(np.all(np.diff(self.ratios, axis=0) >= 0), "ratios must ascend")
        require(np.all(np.diff(self.shares, axis=0) >= 0), "shares must ascend")


def _sample(n_rows: int, at_most: int) -> Array:
    """Return the numbers of some rows in order: all of them, or a random part that depends on nothing else."""
    if n_rows <= at_most:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(0).permutation(n_rows)[:at_most])


def _size_model(model: LocalKernelRidge, rows: Array, logs: Array, weight: Array) -> LocalKernelRidge:
    """Return the model of sizes, with the kernel and the ridge that are better on some rows."""
    some = _sample(len(rows), _CHOICE_ROWS)
    few = len(some) == len(rows)
    unfitted = [_size_ridge(model, kernel) for kernel in (model.kernel_, _PLAIN)]
    judged = on_threads(lambda size: size.fit(rows[some], logs[some], weight[some]), unfitted)
    best = min(judged, key=lambda size: float(np.sum(weight[some] @ size.loo_residuals_**2)))
    if few:
        return best
    return _size_ridge(model, best.kernel_, best.alpha_).fit(rows, logs, weight)


def _size_ridge(model: LocalKernelRidge, kernel: Kernel, alpha: float | str = "loo") -> LocalKernelRidge:
    return LocalKernelRidge(
        kernel,
        alpha=alpha,
        alphas=_ALPHAS,
        n_trees=1,
        n_landmarks=min(model.n_landmarks, _LANDMARKS),
        leaf_rows=min(model.leaf_rows, _LEAF_ROWS),
        random_state=model.random_state,
    )
