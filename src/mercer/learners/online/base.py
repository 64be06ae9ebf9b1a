"""What online learners share: one pass over the rows in order, block by block, and a model after each block."""

from collections.abc import Callable, Iterator
from copy import copy
from typing import ClassVar, Self, TypeAlias
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mercer import core
from mercer._typing import Array, Rows, RowsLike, Seed, is_sparse, override
from mercer.data import Block, Blocks
from mercer.engines import engine_for
from mercer.features import FeatureMap
from mercer.fitting import MapPlan, Numbers
from mercer.fitting.width import USUAL_WIDTH, Solver
from mercer.kernels import Kernel
from mercer.learners.base import SCORES
from mercer.learners.callers import caller_level
from mercer.learners.checkpointed import same_rows
from mercer.learners.far_rows import FarRows, far_limits
from mercer.learners.online.one_pass import Learn, OnePassLearner
from mercer.learners.online.steps import UPDATES, Rule, Weights, losses_of
from mercer.learners.online.support import Support
from mercer.learners.regression import OneTarget
from mercer.learners.training_rows import training_rows
from mercer.state import Count, OneOf, Real, Sizes, Stored
from mercer.stats import ColumnRanges

# Rows per block: a fixed number, so that the features of arrays and streams are computed in the same products.
BLOCK_ROWS = 4096
# Matrices of D x D in float64 that Newton steps hold at once.
_SQUARE_MATRICES = 5
# The fewest features where few rows are remembered.
_LEAST_WIDTH = 64
# With fewer rows, a kernel whose parameters are found on them is warned of.
_FEW_ROWS = 10

# What fit and partial_fit take: an array, a CSR matrix, a data frame, or ``Blocks``; and targets, which Blocks bring.
Stream: TypeAlias = RowsLike | Blocks
Labels: TypeAlias = ArrayLike | None
# Attributes of a fitted estimator by name.
Attributes: TypeAlias = dict[str, object]
# From a block to its targets: numbers, or labels that have been checked.
TargetsOf: TypeAlias = Callable[[Block], Array]


class OnlineLearner(OnePassLearner):
    """A linear model on the features of a kernel, learned in one pass, row by row.

    A subclass writes ``_begin`` (the model before the first row, from the first block) and ``_learned`` (the attributes
    after a block, and the scores before each of its rows). Learners of numbers and of classes write ``_opened`` (the
    blocks, and how to read y from a block) and ``_numbers`` (y as the loops take it).
    """

    _stored = Stored(
        **SCORES,
        n_seen_=Count(),
        cumulative_loss_=Real(0.0),
        update_=OneOf(UPDATES),
        alpha_=Real(positive=True),
        decay_=Real(positive=True),
    )
    # The ranges (2, d) of the columns of the rows seen, and the reaches (d,) of the kernel: see ``far_rows``.
    _column_ranges: Array | None = None
    _reaches: Array | None = None

    _losses: ClassVar[tuple[str, ...]]
    features: FeatureMap | None = None
    n_seen_: int
    cumulative_loss_: float
    update_: str
    alpha_: float
    decay_: float
    coef_: Array
    intercept_: float | Array
    state_: Support | Weights

    def __init__(
        self,
        kernel: Kernel | None,
        *,
        n_components: int | str,
        loss: str,
        update: str,
        alpha: float,
        step: float,
        schedule: str,
        decay: float,
        random_state: Seed,
        n_jobs: int | None,
        verbose: int,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.loss = loss
        self.update = update
        self.alpha = alpha
        self.step = step
        self.schedule = schedule
        self.decay = decay
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Stream, y: Labels = None) -> Self:
        """Forget what was learned, and learn the rows of X in one pass, in their order.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), ``Blocks``, or a Dask array or data frame
            If ``Blocks`` read y with the rows, a classifier finds the classes in a pass before. The partitions of a
            Dask collection are learned one after the other: the model travels to them, and the rows stay.
        y : array of shape (n_samples,)
            Left out where X is ``Blocks``, which bring their own.

        Returns
        -------
        self
        """
        return self._pass(X, y, fresh=True)

    def _models(self, X: Stream, y: Labels, classes: Labels, *, fresh: bool) -> Iterator[Self]:
        """Yield the learner after each block; a fit that a checkpoint knows goes on after its last block."""
        rule = Rule.of(type(self).__name__, self, self._losses)
        self._check_rule(rule)
        blocks, targets_of = self._opened(X, y, classes, fresh=fresh)
        if fresh:
            same_rows(blocks)
        engine = engine_for(blocks)
        is_recorded = fresh and engine.shares_memory  # rows elsewhere cannot be read from the middle
        yield from self._chained(Learn(rule, targets_of), blocks, engine, is_recorded=is_recorded)

    def _map_plan(self) -> MapPlan:
        name, wanted, natural = type(self).__name__, self.n_components, self._natural_kernel
        n_squares = _SQUARE_MATRICES if self.update == "newton" else 0
        solver = Solver(n_squares, is_dense=True, width=_usual_width(self.decay))
        return MapPlan.of(name, self.kernel, wanted, self.features, natural, solver=solver)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        Rule.of(type(self).__name__, self, self._losses)
        self._map_plan()

    def after(self, rule: Rule, block: Block, targets_of: TargetsOf) -> Self:
        """Return the learner after a block."""
        name = type(self).__name__
        if block.sample_weight is not None:
            raise ValueError(f"{name}: rows learned one at a time have no sample_weight. Make the blocks without.")
        learner = copy(self)
        y = learner._numbers(targets_of(block))
        if not self.__sklearn_is_fitted__():
            learner.__dict__.update(learner._first(rule, block.X))
        with np.errstate(over="ignore", invalid="ignore"):
            learned, scores = learner._learned(rule, block.X, y)
            losses = losses_of(rule.loss, scores, y)
        if self.listener is not None:
            self.listener(scores)
        coef, intercept = np.asarray(learned["coef_"]), np.asarray(learned["intercept_"])
        if not all(np.isfinite(values).all() for values in (losses, coef, intercept)):
            raise ValueError(
                f"{name}: the weights overflow at row {learner.n_seen_} of the stream or soon after: the features or "
                "y are too large for these steps. Scale X and y down (sklearn.preprocessing.StandardScaler), lower "
                "step, or take update='newton'."
            )
        totals = {
            "n_seen_": learner.n_seen_ + block.n_rows,
            "cumulative_loss_": learner.cumulative_loss_ + float(losses.sum()),
            **learner._mistakes(scores, y),
        }
        learner.__dict__.update(learned, **totals)
        if learner._reaches is not None:
            learner._column_ranges = learner._ranges_with(block.X)
        return learner

    def _ranges_with(self, X: Rows) -> Array:
        """Return the ranges of the columns of the rows seen and those of X."""
        ranges = ColumnRanges.of(X.shape[1]).update(X)
        if self._column_ranges is not None:
            ranges.merge(ColumnRanges(*self._column_ranges))
        return np.stack([ranges.low, ranges.high])

    def _far_rows(self) -> FarRows:
        if self._column_ranges is None:
            return FarRows(None)
        return FarRows(far_limits(self._reaches, ColumnRanges(*self._column_ranges)))

    def _first(self, rule: Rule, X: Rows) -> Attributes:
        if X.shape[0] < _FEW_ROWS:
            self._warn_of_few_rows(X)
        begun = self._begin(rule, X, check_random_state(self.random_state))
        rules = {"update_": rule.update, "alpha_": rule.alpha, "decay_": rule.decay}
        return {"n_seen_": 0, "cumulative_loss_": 0.0, **rules, **begun}

    def _check_rule(self, rule: Rule) -> None:
        """Refuse steps that cannot continue the state of earlier ones: another update, or other sums of Newton's."""
        if not self.__sklearn_is_fitted__():
            return
        known: Attributes = {"update": self.update_}
        if self.update_ == "newton":
            known |= {"alpha": self.alpha_, "decay": self.decay_}
        for name, value in known.items():
            if getattr(rule, name) != value:
                raise ValueError(
                    f"{type(self).__name__}: {name} must stay what it was on the first call to partial_fit, {value!r}, "
                    f"got {getattr(rule, name)!r}. Set it back, or start again with fit or a clone."
                )

    def _warn_of_few_rows(self, X: Rows) -> None:
        """Warn once that the parameters of a kernel are found on the first rows, where these are few."""
        holder = self.features if hasattr(self.features, "kernel") else self
        kernel = getattr(holder, "kernel", None)
        kernel = getattr(holder, "_natural_kernel", None) if kernel is None else kernel
        if isinstance(kernel, Kernel) and kernel.resolve(X) is not kernel:
            warn(
                f"{type(self).__name__}: the parameters of {kernel!r} are found on the first rows given, which are "
                f"only {X.shape[0]}, and stay. Begin with some hundred rows, or give numbers: Gaussian(gamma=0.5).",
                stacklevel=caller_level(),
            )

    def _scores(self, X: Stream) -> Array:
        def work(rows: Rows) -> Array:
            Z = self._features(rows)
            scores = core.scores(Z, np.atleast_2d(self.coef_).T.astype(Z.dtype, copy=False))
            scores += np.asarray(self.intercept_, dtype=Z.dtype)
            return scores

        scores = self._results(X, work, "score", BLOCK_ROWS)
        return scores.ravel() if self.coef_.ndim == 1 else scores

    def _features(self, X: Rows) -> Array:
        """Return the features of rows, dense."""
        Z: Rows = self.feature_map_.transform(X)
        return np.asarray(Z.toarray()) if is_sparse(Z) else Z

    def _n_columns(self) -> int:
        """Return the columns of scores."""
        return 1

    def _split(self, coef: Array) -> Attributes:
        """Return weights (k, D + 1), the last of the constant feature, as coefficients and intercept."""
        if len(coef) == 1:
            return {"coef_": coef[0, :-1], "intercept_": float(coef[0, -1])}
        return {"coef_": coef[:, :-1], "intercept_": coef[:, -1]}

    def _opened(self, X: Stream, y: Labels, classes: Labels, *, fresh: bool) -> tuple[Blocks, TargetsOf]:
        """Return the rows in blocks, and how to read the checked targets of a block."""
        raise NotImplementedError

    def _numbers(self, targets: Array) -> Array:
        """Return the targets of a block as the loops take them."""
        raise NotImplementedError

    def _mistakes(self, scores: Array, y: Array) -> dict[str, int]:
        """Return the count of mistakes after a block, where there are any to count."""
        return {}

    def _begin(self, rule: Rule, X: Rows, rng: np.random.RandomState) -> Attributes:
        """Return the attributes of the model before the first row, from the rows of the first block."""
        raise NotImplementedError

    def _learned(self, rule: Rule, X: Rows, y: Array) -> tuple[Attributes, Array]:
        """Return the attributes after a block, and the scores (n, k) before each of its rows."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_seen_")


def _usual_width(decay: float) -> int:
    """Return the number of features to begin with: 1024, fewer if fewer rows are remembered.

    More features than remembered rows learn nothing more, and the penalty is renewed once per half-life, at D^3.

    >>> _usual_width(1.0), _usual_width(0.99), _usual_width(0.5)
    (1024, 128, 64)
    """
    if not (isinstance(decay, float) and 0.0 < decay < 1.0):  # what is no decay is refused elsewhere
        return USUAL_WIDTH
    return int(np.clip(2 ** np.ceil(np.log2(1 / (1 - decay))), _LEAST_WIDTH, USUAL_WIDTH))


class OnlineRegressor(OnlineLearner, OneTarget):
    """An online learner of numbers."""

    _losses = ("squared", "absolute")

    def partial_fit(self, X: Stream, y: Labels = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``."""
        return self._pass(X, y, fresh=False)

    @override
    def _opened(self, X: Stream, y: Labels, classes: Labels, *, fresh: bool) -> tuple[Blocks, TargetsOf]:
        numbers = Numbers(type(self).__name__, several=False)
        first = not hasattr(self, "n_features_in_")
        blocks, numbers = training_rows(self, X, y, None, numbers, reset=first, collections=True)
        return blocks.recut(BLOCK_ROWS, type(self).__name__), lambda block: numbers.encode(block)[:, 0]

    @override
    def _numbers(self, targets: Array) -> Array:
        return targets
