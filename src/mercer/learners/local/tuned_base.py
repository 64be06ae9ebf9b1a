"""What tuned estimators share: columns prepared, everything chosen, a model on leaves fitted, and a report."""

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags, check_random_state

from mercer._typing import Array, RowsLike, Seed
from mercer.data import Blocks
from mercer.data.frame_columns import Frame
from mercer.data.raw_table import RawTable
from mercer.data.sources.collections import is_collection
from mercer.fitting import Classes, HeldTargets, Numbers, Targets
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.local.blended import BlendedScores
from mercer.learners.local.boosted_trees import BoostedTrees
from mercer.learners.local.category_choice import CategoryChoice
from mercer.learners.local.choice import Choice
from mercer.learners.local.encoding import TableEncoding
from mercer.learners.local.low_order import LowOrderRidge, is_worth_all_rows
from mercer.learners.local.preparation import ColumnPreparation
from mercer.learners.local.report import Trial, TuningReport
from mercer.learners.local.ridge import LocalKernelRidge
from mercer.learners.local.search import Search
from mercer.learners.local.shares import blend
from mercer.learners.local.training_table import OtherRows, TrainingTable, rows_to_hold
from mercer.learners.local.tree_choice import Found, IsPromising, TreeChoice
from mercer.learners.local.units import error_units
from mercer.learners.training_rows import training_rows
from mercer.parallel import one_blas_thread
from mercer.solvers.local.boosting_losses import LogisticLoss, Loss
from mercer.state import Member, Real, Reals, Sizes, Stored, require
from mercer.stats import Moments
from mercer.validation import check_integer, check_real, check_weights
from mercer.watching import State, told

# The part of a time budget that the search may use; the rest is for the final fit.
_SEARCH_SHARE = 0.6
# Up to so many rows there is one leaf, and else so many rows per leaf.
_ONE_LEAF_ROWS, _LEAF_ROWS = 4096, 1024
# Rows of the fits whose time says how long a tree takes, about.
_SEARCH_ROWS = 2048
# Categories beyond the 32 most frequent ones have a column of 0 and 1 from so many rows on, and from this part of all
# rows on, which bounds the number of columns.
_FREQUENT_ROWS, _FREQUENT_PART = 40, 1 / 250
# Boosted trees with more than this share of the mean leave little to the leaves: one random tree of leaves is enough.
# Leaves of several classes gain more by further random trees: the share on a few leaves exceeds that in the model.
_MOST_OF_THE_MEAN, _MOST_OF_CLASSES = 0.5, 0.7
# With more than this share of boosted trees, what a model of low order improves has hardly a share of the mean.
_NEARLY_THE_MEAN = 0.9
# A tree of leaves more is fitted if it is expected to take this part off the leave-one-out error: less is not seen.
_LEAST_GAIN = 0.005
# Up to so many rows all factors are float64, which costs little there.
_FLOAT64_ROWS = 1024

T = TypeVar("T", bound=Targets)


class TunedEstimator(BlendedScores, Generic[T]):
    """What both tuned estimators do: prepare the columns, search, and fit a model on leaves.

    A subclass writes ``_targets`` (what y means), ``_standardised`` (the targets of the search) and ``_finish`` (what
    it makes of the leave-one-out residuals).
    """

    _stored = Stored(
        preparation_=Member(ColumnPreparation, {"n_features_in_": "d"}),
        model_=Member(LocalKernelRidge),
        low_order_=Member(LowOrderRidge, nullable=True),
        low_order_share_=Real(0.0),
        boosted_=Member(BoostedTrees, nullable=True),
        boosted_share_=Real(0.0),
        report_=Member(TuningReport),
        feature_importances_=Reals(("d",), 0.0),
        loo_score_=Real(),
    )

    _loss: ClassVar[Loss]  # of the boosted trees
    loo_score_: float

    def __init__(
        self,
        *,
        time_budget: float | None = None,
        n_trees: int = 3,
        leaf_rows: int | None = None,
        n_landmarks: int = 128,
        max_rows: int | None = None,
        keep_interrupted: bool = False,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.time_budget = time_budget
        self.n_trees = n_trees
        self.leaf_rows = leaf_rows
        self.n_landmarks = n_landmarks
        self.max_rows = max_rows
        self.keep_interrupted = keep_interrupted
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: RowsLike | Frame | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose everything on the rows of X, and fit the model.

        Parameters
        ----------
        X : array, sparse matrix, data frame, Dask collection of shape (n_samples, n_features), or ``Blocks``
            Numbers, NaN where one is missing; sparse rows become dense. Data frames of pandas and polars may also hold
            text, categories, booleans and dates. At most ``max_rows`` rows of ``Blocks`` and of Dask collections are
            held in this process, and the others are read in passes where they are.
        y : array of shape (n_samples,) or, in regression, (n_samples, n_targets)
            Left out where X is ``Blocks``, which bring their own. For a Dask collection: a collection with the same
            partitions, or an array.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows in every fit. What is drawn from the rows does not see weights.

        Returns
        -------
        self
        """
        fitted = unfitted(self)
        with self._threads(), one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            fitted._fit(X, y, sample_weight)
        adopt(self, fitted)
        return self

    def _fit(self, X: RowsLike | Frame | Blocks, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        start = time.monotonic()
        self._check_params()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._begin("columns")
        training = self._training(X, y, sample_weight, seed)
        table, held = training.table, training.held
        self._begin("first trial")
        found = self._search(table, held, seed, start)
        search, rows, choice = found.search, found.rows, found.choice
        most = _MOST_OF_CLASSES if isinstance(held.targets, Classes) and held.Y.shape[1] > 1 else _MOST_OF_THE_MEAN
        hurried = search.log.ended == "interrupted" or found.share > most
        n_trees = 1 if hurried else self._trees_in_time(search.log.trials, len(rows), start)
        self._begin("final model")
        self._fit_model(search, choice, n_trees, rows, held, seed)
        residuals = self._with_boosted(found, held, self._blend(found, rows, training, seed))
        self._finish(rows, held, residuals)
        self.feature_importances_ = self._importances(search.importances * rows.var(axis=0, dtype=np.float64))
        error = self._error(held, residuals)
        chosen = {"columns": self.preparation_.method, **choice.described, "trees": str(len(self.model_.trees_))}
        trees = self.preparation_.encoding_.trees
        if trees is not None:
            chosen["boosted trees"] = f"{trees.n_trees}, their predictions are columns"
        if self.boosted_ is not None:
            chosen["boosted trees"] = f"{self.boosted_.n_trees}, share {self.boosted_share_:.2f}"
        if self.low_order_ is not None:
            chosen["low order"] = f"order {self.low_order_.feature_map.order:g}, share {self.low_order_share_:.2f}"
        if training.others is not None:
            chosen["rows held"] = f"{table.n_rows:,} of {training.n_rows:,}"
        self.report_ = TuningReport.of(search.log.trials, chosen, error, search.log.ended, time.monotonic() - start)

    def _training(
        self, X: RowsLike | Frame | Blocks, y: ArrayLike | None, sample_weight: ArrayLike | None, seed: int
    ) -> TrainingTable[T]:
        """Return the rows that the model may hold, with their targets, and where the others are."""
        name, targets = type(self).__name__, self._targets()
        self.preparation_ = preparation = ColumnPreparation(random_state=seed)
        if isinstance(X, Blocks) or is_collection(X):
            blocks, _ = training_rows(self, X, y, sample_weight, targets, collections=True)
            preparation.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                preparation.feature_names_in_ = self.feature_names_in_
            return TrainingTable.of_blocks(blocks, targets, rows_to_hold(self.max_rows, blocks.width), seed)
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        table = RawTable.of(name, preparation.checked(X, reset=True))
        self.n_features_in_ = preparation.n_features_in_
        if hasattr(preparation, "feature_names_in_"):
            self.feature_names_in_ = preparation.feature_names_in_
        labels = targets.check(y)
        if len(labels) != table.n_rows:
            raise ValueError(
                f"{name}: X has {table.n_rows} rows and y has {len(labels)}: inconsistent numbers of samples. Each "
                "row needs one entry of y."
            )
        weight = None if sample_weight is None else check_weights(name, sample_weight, table.n_rows)
        return TrainingTable.of_table(
            table, targets, labels, weight, rows_to_hold(self.max_rows, len(table.values)), seed
        )

    def _search(self, table: RawTable, held: HeldTargets[T], seed: int, start: float) -> Found:
        """Choose how columns are prepared, the metric and the kernel."""
        preparation, standardised = self.preparation_, self._standardised(held)
        names = preparation.column_names
        frequent = max(_FREQUENT_ROWS, _FREQUENT_PART * float(held.weight.sum()))
        plain = TableEncoding.of(table, names, sample_weight=held.weight, frequent=frequent)
        trials: list[Trial] = []
        with one_blas_thread():
            encoding = CategoryChoice(table, standardised, names, seed).best(plain, trials.append)
        preparation.dtype_ = np.dtype(np.float64 if table.n_rows <= _FLOAT64_ROWS else np.float32)
        numbers = encoding.training_numbers(table, standardised.Y, held.weight, seed)
        deadline = np.inf if self.time_budget is None else start + _SEARCH_SHARE * self.time_budget

        def new_search(
            numbers: Array, methods: Sequence[str], leaders: Sequence[Choice], is_promising: IsPromising
        ) -> Search:
            return Search(
                numbers,
                standardised,
                dtype=preparation.dtype_,
                leaf_rows=self._leaf_rows(table.n_rows),
                seed=seed,
                deadline=deadline,
                keep_interrupted=self.keep_interrupted,
                methods=methods,
                leaders=leaders,
                is_promising=is_promising,
                tell=self._tell,
            )

        choice = TreeChoice(numbers, standardised, new_search, seed, self._loss, deadline, self.keep_interrupted)
        found = choice.best(encoding, trials)
        preparation.encoding_, preparation.method = found.encoding, found.scaling.method
        preparation.scaling_ = found.scaling
        return found

    def _fit_model(
        self, search: Search, choice: Choice, n_trees: int, rows: Array, held: HeldTargets[T], seed: int
    ) -> None:
        model = LocalKernelRidge(
            search.kernel(choice),
            alpha=choice.alpha,
            n_landmarks=self.n_landmarks,
            leaf_rows=self._leaf_rows(len(rows), hurried=search.log.ended != "done"),
            n_trees=n_trees,
            random_state=seed,
        )
        numbers = Numbers(type(self).__name__, mean=held.Y.mean(axis=0), n_dims=2)
        of_numbers = HeldTargets(numbers, held.Y, held.given, held.weight, held.left_out)
        self.model_ = model.fit_held(rows, of_numbers, check_random_state(seed), _LEAST_GAIN)

    def _blend(self, found: Found, rows: Array, training: TrainingTable[T], seed: int) -> Array:
        """Fit a model of low order where it may help, and return the residuals of the mean with the leaves."""
        self.low_order_, self.low_order_share_ = None, 0.0
        held, search = training.held, found.search
        residuals = self.model_.loo_residuals_
        if search.relearned is not None:
            residuals = search.relearned[1] * self._unit(held)
        if search.log.ended != "done":
            return residuals
        share, rest = self._mean_with_trees(found, held, residuals)
        if training.others is None and share > _NEARLY_THE_MEAN:
            return residuals
        choice = search.low_order(rest / self._unit(held))
        if choice is None or (training.others is None and not is_worth_all_rows(choice, rows, held, rest, seed)):
            return residuals
        others = None if training.others is None else partial(_other_moments, training.others, self.preparation_)
        model, other = LowOrderRidge.of(choice, rows, held, seed, others)
        share = blend(residuals, other, held.weight, error_units(held))
        if share > 0:
            self.low_order_, self.low_order_share_ = model, share
        return (1 - share) * residuals + share * other

    def _mean_with_trees(self, found: Found, held: HeldTargets[T], residuals: Array) -> tuple[float, Array]:
        """Return the share of boosted trees that are no columns in the best mean, and the residuals of the mean.

        Both models are judged on rows that they have not seen, by leave-one-out and by folds.
        """
        if found.trees is None:
            return 0.0, residuals
        unit = self._unit(held)
        other = held.Y - (found.trees.predicted * unit + self._centre(held))
        share = blend(residuals, other, held.weight, error_units(held), found.trees.surplus * unit**2)
        return share, np.asarray((1 - share) * residuals + share * other)

    def _with_boosted(self, found: Found, held: HeldTargets[T], residuals: Array) -> Array:
        """Keep boosted trees that are no columns where a mean with them is better; return the residuals of the mean."""
        self.boosted_ = None
        self.boosted_share_, mean = self._mean_with_trees(found, held, residuals)
        if found.trees is None or self.boosted_share_ == 0:
            return mean
        unit = self._unit(held)
        self.boosted_ = found.trees.trees.in_units(unit, self._centre(held))
        return self._of_new_rows(mean, held, self.boosted_share_**2 * found.trees.surplus * unit**2)

    @staticmethod
    def _error(held: HeldTargets[T], residuals: Array) -> float:
        """Return the mean square of residuals in units of the variance of the targets."""
        return float(np.mean(held.weight @ residuals**2 / held.weight.sum() / error_units(held)))

    def _importances(self, gradients: Array) -> Array:
        """Return the share of each column of X in the squares of gradient times deviation of the prepared columns."""
        shares = gradients / (gradients.sum() or 1.0)
        if self.boosted_ is not None:
            shares = shares + self.boosted_share_ * (self.boosted_.importances - shares)
        totals = self.preparation_.encoding_.importances(shares)
        return totals / totals.sum() if totals.sum() > 0 else totals

    def _leaf_rows(self, n_rows: int, *, hurried: bool = False) -> int:
        """Return the rows per leaf: by default one leaf for a small table, which is exact and costs no more."""
        if self.leaf_rows is not None:
            return self.leaf_rows
        return n_rows if n_rows <= _ONE_LEAF_ROWS and not hurried else _LEAF_ROWS

    def _trees_in_time(self, trials: list[Trial], n_rows: int, start: float) -> int:
        """Return as many trees as fit into what is left of the budget, from the time of the fits on some leaves."""
        if self.time_budget is None:
            return self.n_trees
        times = [trial.seconds for trial in trials if trial.step in ("kernel", "scale", "alpha")]
        left = self.time_budget - (time.monotonic() - start)
        per_tree = (float(np.median(times)) if times else 0.5) * max(1.0, n_rows / _SEARCH_ROWS)
        return int(np.clip(left / max(per_tree, 1e-9), 1, self.n_trees))

    def _begin(self, stage: str) -> None:
        """Tell displays what begins: each of these stages may take seconds before a trial is known."""
        told(State(f"{type(self).__name__}: {stage}"))

    def _tell(self, trial: Trial) -> None:
        told(State(f"{type(self).__name__}: {trial.step}", note=f"{trial.what}, error {trial.error:.4f}"))
        if self.verbose:
            sys.stderr.write(
                f"{type(self).__name__}: {trial.step:<8}{trial.error:>8.4f}  {trial.what} ({trial.seconds:.2f} s)\n"
            )

    def _check_params(self) -> None:
        name = type(self).__name__
        if self.time_budget is not None:
            check_real(name, "time_budget", self.time_budget, least=0, strict=True, way_out="None sets no limit.")
        check_integer(name, "n_trees", self.n_trees)
        if self.leaf_rows is not None:
            check_integer(name, "leaf_rows", self.leaf_rows, way_out="None chooses it by the number of rows.")
        check_integer(name, "n_landmarks", self.n_landmarks, least=0)
        if self.max_rows is not None:
            check_integer(name, "max_rows", self.max_rows, way_out="None holds as many as memory allows.")

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        width = self.preparation_.encoding_.n_columns
        require(self.model_.n_features_in_ == width, "model_ must take the columns that preparation_ gives")
        require(self.model_.loo_residuals_.ndim == 2, "model_ must have columns of targets")
        require(self.low_order_share_ <= 1, "low_order_share_ must be at most 1")
        if self.low_order_ is not None:
            shape = (self.low_order_.n_columns, self.low_order_.n_targets)
            require(shape == (width, self.model_.loo_residuals_.shape[1]), "low_order_ must be of the shape of model_")
        require(self.boosted_share_ <= 1, "boosted_share_ must be at most 1")
        logistic = isinstance(self._loss, LogisticLoss)
        for trees in (self.boosted_, self.preparation_.encoding_.trees):
            is_sound = trees is None or trees.is_logistic == logistic
            require(is_sound, "trees must be logistic for classes, and for numbers they must not")
        if self.boosted_ is not None:
            shape = (self.boosted_.n_columns, self.boosted_.n_targets)
            require(shape == (width, self.model_.loo_residuals_.shape[1]), "boosted_ must be of the shape of model_")
            require(self.preparation_.encoding_.trees is None, "boosted_ must not be columns too")

    def _targets(self) -> T:
        """Return what y means."""
        raise NotImplementedError

    def _unit(self, held: HeldTargets[T]) -> Array:
        """Return what divides the targets of the search."""
        return np.ones(held.Y.shape[1])

    def _centre(self, held: HeldTargets[T]) -> Array:
        """Return what is subtracted from the targets of the search before they are divided."""
        return np.zeros(held.Y.shape[1])

    def _standardised(self, held: HeldTargets[T]) -> HeldTargets[Targets]:
        """Return targets of about variance 1, for the search."""
        raise NotImplementedError

    def _of_new_rows(self, residuals: Array, held: HeldTargets[T], surplus: Array) -> Array:
        """Return residuals of the size of those of new rows, whose mean square is less by ``surplus`` (k,)."""
        return residuals

    def _finish(self, rows: Array, held: HeldTargets[T], residuals: Array) -> None:
        """Keep what the estimator needs of the leave-one-out residuals (n, k)."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "report_")

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _other_moments(
    others: OtherRows,
    preparation: ColumnPreparation,
    moments: Callable[[Array, Array, Array], Moments],
    empty: Callable[[], Moments],
) -> Moments:
    """Return the moments of the rows that are not in memory, prepared where they are."""
    encoding, scaling, dtype = preparation.encoding_, preparation.scaling_, preparation.dtype_

    def work(table: RawTable, Y: Array, weight: Array) -> Moments:
        return moments(scaling.transform(encoding.numbers(table), dtype), Y, weight)

    return others.reduce("low order", work, empty)
