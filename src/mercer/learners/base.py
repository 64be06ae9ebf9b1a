"""What every learner shares: rows in, a fitted map, passes over blocks, linear scores out."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self
from warnings import warn

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array
from mercer.config import config_context, get_config, lasting_limit
from mercer.data import Block, Blocks, as_blocks
from mercer.engines import Engine, Local, rows_of
from mercer.engines.base import S
from mercer.features import FeatureMap, feature_map
from mercer.features.base import as_kernel
from mercer.features.params import NestedParams
from mercer.fresh_fit import adopt, unfitted
from mercer.kernels import Gaussian, Kernel
from mercer.learners.far_rows import LIMITS, KnowsFarRows
from mercer.learners.progress import progress
from mercer.learners.rows import FeatureRows, WarmStart, check_vectors
from mercer.learners.survey import Survey
from mercer.solvers import Solution
from mercer.state import Count, Either, Member, Names, Real, Reals, Sizes, Stored, Text, require
from mercer.validation import check_finite_result, check_integer, check_jobs, check_rows, check_weights, rows_from

# Rows a block: the products of float32 features are exact enough, and long enough to be fast, up to here.
_BLOCK_ROWS = 4096
# Bytes of a block's features at most: two of them are what is recycled, so that no pass asks the system for memory.
_BLOCK_BYTES = 2**26
# Rows of a prediction that a thread takes at a time: features of so many bytes, and no more than a share of all rows.
_SCORED_BYTES, _SCORED_ROWS, _SHARES = 2**25, 256, 8
# Rows that a map and a kernel with parameters from the data are fitted on, at least, and for each feature.
_SAMPLE_ROWS = 4096
_SAMPLE_ROWS_A_FEATURE = 4


# What a fit by a solver leaves.
SOLVED = Stored(
    feature_map_=Member(FeatureMap, {"n_features_in_": "d", "n_features_out_": "f"}),
    solution_=Member(Solution),
    map_hash=Text(attribute="_map_of", nullable=True),  # what the map depends on, with ``warm_start``
    **LIMITS,
)
# Of models that are linear in the features: one column of scores, or k.
SCORES = Stored(
    coef_=Either((Reals(("f",)), Reals(("k", "f")))),
    intercept_=Either((Real(), Reals(("k",)))),
)
LINEAR = Stored(**SOLVED, **SCORES)


class KernelLearner(KnowsFarRows, NestedParams, BaseEstimator):
    """A linear model on the features of a kernel.

    A subclass writes ``_check_y`` (of an array, or of a block), ``_targets`` (y of a block as a matrix of numbers) and
    ``_solve`` (from rows of features to coefficients, which it sets). What it must know of y before there is a map the
    first pass finds for it: ``_sought`` is the empty statistic, ``_look`` adds a block, ``_after_survey`` takes all.

    Whatever is refused or interrupted in ``fit`` leaves the estimator as it was, and whatever an earlier ``fit`` left
    is forgotten: ``warm_start`` reads it from the estimator itself, while a new one is fitted.
    """

    # d columns, f features of the map; in linear models, k columns of scores.
    _stored = Stored(
        n_features_in_=Count("d", least=1),
        feature_names_in_=Names(("d",), ascending=False, text=True, optional=True),
    )
    # Attributes that only ``fit`` needs, and drops at its end.
    _of_fit: ClassVar[tuple[str, ...]] = ()

    _natural_kernel: ClassVar[Kernel] = Gaussian()
    _engine: ClassVar[Engine] = Local()
    _needs_y: ClassVar[bool] = True
    _width_name: ClassVar[str] = "n_components"  # the parameter that sets the number of features
    kernel: Any
    n_components: int
    features: Any
    random_state: Any
    n_jobs: int | None
    verbose: int
    coef_: Array
    intercept_: Any
    _map_of: str | None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the map and the linear model.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Left out where X is ``Blocks``, which bring their own.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        fitted = unfitted(self)
        # What overflows is refused in words, or ends in one warning of ours: NumPy's own would come beside it.
        with self._threads(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            fitted._fit(X, y, sample_weight, self if self._starts_warm() else None)
        for name in self._of_fit:
            fitted.__dict__.pop(name, None)
        adopt(self, fitted)
        return self

    def _starts_warm(self) -> bool:
        """Return whether ``fit`` may go on from the last one."""
        return bool(getattr(self, "warm_start", False)) and self.__sklearn_is_fitted__()

    def _check_params(self) -> None:
        """Refuse parameters that ``fit`` refuses, whatever the rows."""
        name = type(self).__name__
        as_kernel(name, self.kernel, self._natural_kernel)
        self._map_width()
        self._check_map("features", getattr(self, "features", None))

    def _check_stored(self, sizes: Sizes) -> None:
        """Refuse a model that no ``fit`` makes, whose attributes are of the kinds declared."""
        self._check_params()
        check_random_state(self.random_state)
        require(isinstance(self.verbose, int), "verbose must be an integer")
        with self._threads():
            pass
        if hasattr(self, "coef_"):
            require(self.coef_.ndim - 1 == np.ndim(self.intercept_), "intercept_ must have a number for each column")

    def _fit(self, X: Any, y: Any, sample_weight: Any, earlier: Self | None) -> None:
        """Fit an estimator without a past; ``earlier`` is the fitted one to start from, if any."""
        name = type(self).__name__
        blocks = self._labelled_blocks(X, y, sample_weight).recut(_BLOCK_ROWS, name)
        rng = check_random_state(self.random_state)
        self._check_size(blocks)
        survey = self._survey(blocks, rng)
        sample, weight = survey.rows, survey.row_weights
        self._after_survey(survey.found, rng)
        self.feature_map_ = self._fitted_map(sample, weight, rng, earlier)
        check_vectors(self, self.feature_map_.n_features_out_, blocks.dtype.itemsize)
        self._set_far_limits(self.feature_map_, survey)
        blocks = blocks.recut(self._block_rows(blocks.dtype.itemsize), name)
        rows = FeatureRows(self, blocks, sample, weight)
        rows.found = survey.found
        if earlier is not None and self.feature_map_ is earlier.feature_map_:
            rows.start = earlier._end()
        solution = self._solved(rows)
        if hasattr(self, "max_iter"):
            self.n_iter_ = solution.iterations
        if not np.isfinite(solution.value).all():
            raise self._overflow()
        if not solution.success:
            warn(f"{name}: {solution.status}. {solution.advice}", ConvergenceWarning, stacklevel=4)
        self.solution_ = replace(solution, details={**solution.details, "block_rows": blocks.block_rows})

    def _solved(self, rows: FeatureRows) -> Solution:
        """Solve; where the memory ends while features are held, solve on features that are made again in each pass."""
        try:
            return self._solve(rows)
        except MemoryError:
            if not rows.fits:  # nothing was held that could be let go
                raise
            rows.release()
        return self._solve(rows)

    def _end(self) -> WarmStart:
        """Return where the solver ended, for a later fit to begin at."""
        return WarmStart(np.vstack([np.atleast_2d(self.coef_).T, np.atleast_1d(self.intercept_)]))

    def _labelled_blocks(self, X: Any, y: Any, sample_weight: Any) -> Blocks:
        name = type(self).__name__
        if not isinstance(X, Blocks):
            if y is None and self._needs_y:
                raise ValueError(f"{name} requires y to be passed, but the target y is None.")
            if isinstance(X, Iterator):
                as_blocks(X, owner=name)  # which refuses it, in words
            X = check_rows(self, X, reset=True)
            weight = None if sample_weight is None else check_weights(name, sample_weight, X.shape[0])
            return as_blocks(X, self._check_y(y) if self._needs_y else None, sample_weight=weight, owner=name)
        if y is not None or sample_weight is not None:
            raise ValueError(f"{name}: X is Blocks, which bring their own y and weights. Give them to as_blocks.")
        if self._needs_y and not X.is_labelled:
            raise ValueError(f"{name} requires y to be passed: make the blocks with as_blocks(X, y).")
        self._set_columns(X)
        return X

    def _set_columns(self, blocks: Blocks) -> None:
        """Keep the number and the names of the columns, as scikit-learn does of an array's."""
        self.n_features_in_ = blocks.width
        if blocks.names is not None:
            self.feature_names_in_ = np.asarray(blocks.names, dtype=object)

    def _map_width(self) -> int:
        """Return the number of features asked for, checked."""
        return check_integer(type(self).__name__, "n_components", self.n_components)

    def _check_size(self, blocks: Blocks) -> None:
        """Refuse a number of features beyond memory before a row is read."""
        if self.features is None:
            wanted = self._map_width()
            made = feature_map(as_kernel(type(self).__name__, self.kernel, self._natural_kernel), wanted)
            check_vectors(self, made.least_features(blocks.width), blocks.dtype.itemsize)

    def _sample_rows(self) -> int:
        """Return how many rows to sample: enough to fit a map, and a kernel's parameters, on them."""
        return max(_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE * self._map_width() if self.features is None else 0)

    def _survey(self, blocks: Blocks, rng: np.random.RandomState) -> Survey:
        """Look at all rows once, on all threads: check and count them, sample them, and see what y holds."""
        survey = Survey.of(blocks.width, self._sample_rows(), rng.randint(2**31 - 1), self._sought(rng))

        def look(block: Block) -> Survey:
            weight = self._weights(block)
            part = survey.zero().update(block.X, block.first_row, weight)
            if part.found is not None:
                self._look(part.found, block, weight)
            return part

        self._reduce("survey", look, blocks, survey)
        if not survey.weight > 0:
            raise ValueError(
                f"{type(self).__name__}: sample_weight must not be all zero. Leave it out for equal weights."
            )
        return survey

    def _fitted_map(self, sample: Any, weight: Array, rng: np.random.RandomState, earlier: Self | None) -> FeatureMap:
        """Fit the map on all rows where they are few, on a uniform sample where they are many."""
        self._map_of = self._map_hash(sample.shape[1]) if getattr(self, "warm_start", False) else None
        if earlier is not None and self._map_of is not None and self._map_of == earlier._map_of:
            return earlier.feature_map_  # coefficients to start from mean nothing on another map
        return self._drawn_map("features", self.features, self.kernel, sample, weight, rng)

    def _drawn_map(
        self, argument: str, own: Any, kernel: Any, sample: Any, weight: Array | None, rng: np.random.RandomState
    ) -> FeatureMap:
        """Fit a map of one's own, or draw one for a kernel."""
        name = type(self).__name__
        if own is not None:
            self._check_map(argument, own)
            return clone(own).fit(sample)  # type: ignore[no-any-return]
        resolved = as_kernel(name, kernel, self._natural_kernel).resolve(sample, weight)
        return feature_map(resolved, self._map_width(), random_state=rng.randint(2**31 - 1)).fit(sample)

    def _check_map(self, argument: str, own: Any) -> None:
        if own is not None and not isinstance(own, FeatureMap):
            name = type(self).__name__
            raise ValueError(f"{name}: {argument} must be a feature map such as TensorSketch(), got {own!r}.")

    def _map_hash(self, n_features: int) -> str | None:
        """Return a hash of all that the map depends on beside the rows, None where there is none."""
        try:
            chosen = (self.kernel, self.n_components, self.features, self.random_state, n_features)
            return str(joblib.hash(chosen))
        except (pickle.PicklingError, AttributeError, TypeError):  # a user's local function
            return None

    def _weights(self, block: Block) -> Array:
        if block.sample_weight is None:
            return np.ones(block.n_rows)
        return check_weights(type(self).__name__, block.sample_weight, block.n_rows, all_zero=True)

    def _block_weight(self, block: Block) -> Array | None:
        """Return the weights of a block's rows, None where all are 1."""
        return None if block.sample_weight is None else self._weights(block)

    def _block_rows(self, itemsize: int) -> int:
        """Return the rows a block: a constant for a width, shrunk so that all threads' take a quarter of a limit."""
        limit, n_features = lasting_limit(), self.feature_map_.n_features_out_
        most = int(np.clip(_BLOCK_BYTES // (n_features * itemsize), 1, _BLOCK_ROWS))
        if limit is None:
            return most
        row_bytes = 3 * itemsize * (n_features + self.n_features_in_)
        return int(np.clip(limit // (4 * get_config().threads * row_bytes), 1, most))

    def _rows_to_score(self, blocks: Blocks) -> int:
        """Return the rows a block of a prediction, whatever the number of threads."""
        itemsize = blocks.dtype.itemsize
        rows = _SCORED_BYTES // (self.feature_map_.n_features_out_ * itemsize)
        if blocks.n_rows is not None:
            rows = min(rows, -(-blocks.n_rows // _SHARES))
        return int(min(max(rows, _SCORED_ROWS), self._block_rows(itemsize)))

    def _reduce(self, title: str, work: Callable[[Block], S], blocks: Blocks, into: S) -> S:
        """Reduce over the blocks, with progress."""
        with self._watched(title, work, blocks) as watched:
            return self._engine.reduce(watched, blocks, into)

    def _map(self, title: str, work: Callable[[Block], Any], blocks: Blocks) -> Iterator[Any]:
        """Map over the blocks, with progress."""
        with self._watched(title, work, blocks) as watched:
            yield from self._engine.map(watched, blocks)

    @contextmanager
    def _watched(self, title: str, work: Callable[[Block], Any], blocks: Blocks) -> Iterator[Callable[[Block], Any]]:
        """Give the work with its progress shown, and rows called by their numbers in all blocks where they fail."""
        with progress(f"{type(self).__name__}: {title}", blocks.n_rows, self.verbose) as advance:

            def watched(block: Block) -> Any:
                with rows_from(block.first_row):
                    part = work(block)
                advance(block.n_rows)
                return part

            yield watched

    @contextmanager
    def _threads(self) -> Iterator[None]:
        with config_context(threads=check_jobs(type(self).__name__, self.n_jobs)):
            yield

    def _scores(self, X: Any) -> Array:
        """Return the features of X times the coefficients, plus the intercept: (n,) for one target, else (n, k)."""
        check_is_fitted(self)
        name = type(self).__name__
        coef, far = np.atleast_2d(self.coef_).T, self._far_rows()

        def work(block: Block) -> Array:
            dtype = block.X.dtype
            with rows_from(block.first_row):
                rows = check_rows(self.feature_map_, block.X, reset=False) if blocks is X else block.X
                far.see(rows)
                scores = self.feature_map_.times(rows, coef.astype(dtype, copy=False))
            scores += np.asarray(self.intercept_, dtype=dtype)
            return scores

        blocks = X if isinstance(X, Blocks) else as_blocks(check_rows(self, X, reset=False), owner=name)
        self._check_width(blocks)
        with self._threads():
            cut = blocks.recut(self._rows_to_score(blocks), name)
            scores = rows_of(self._engine, work, cut)
        check_finite_result(name, "score", scores)
        self._warn_of(far)
        return scores.ravel() if self.coef_.ndim == 1 else scores

    def _check_width(self, blocks: Blocks) -> None:
        if blocks.width != self.n_features_in_:
            raise ValueError(
                f"X has {blocks.width} features, but {type(self).__name__} is expecting {self.n_features_in_} features."
            )

    def _scored_with(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Return y and the weights that predictions for X are scored with: those given, or those of ``Blocks``."""
        name = type(self).__name__
        if isinstance(X, Blocks):
            y, sample_weight = as_blocks(X, y, sample_weight=sample_weight, owner=name).labels()
        if y is None:
            raise ValueError(f"{name}: score needs y: score(X, y), or score(as_blocks(X, y)).")
        return y, sample_weight

    def _overflow(self) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: the coefficients overflow: the features or y are too large. Scale them down "
            "(sklearn.preprocessing.StandardScaler), or pass float64."
        )

    def _sought(self, rng: np.random.RandomState) -> Any:
        """Return the empty statistic of what the first pass looks for in y, None for nothing."""
        return None

    def _look(self, found: Any, block: Block, weight: Array) -> None:
        """Add a block of the first pass to what is found; called on several threads at once."""

    def _after_survey(self, found: Any, rng: np.random.RandomState) -> None:
        """Take what the first pass found in y."""

    def _check_y(self, y: Any) -> Array:
        raise NotImplementedError

    def _targets(self, block: Block) -> Any:
        raise NotImplementedError

    def _solve(self, rows: FeatureRows) -> Solution:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "solution_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
