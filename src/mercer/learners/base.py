"""Bases of the learners: what all share, and fits that draw a map and solve a linear problem on its features."""

from dataclasses import replace
from typing import ClassVar, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state

from mercer._typing import Array, RowsLike, Seed, override
from mercer.array_api import FollowsArrays
from mercer.data import Blocks
from mercer.engines import engine_for
from mercer.features import FeatureMap
from mercer.features.params import NestedParams
from mercer.fitting import FeatureRows, MapPlan, Passes, Sample, Survey, Targets, WarmStart
from mercer.fitting.map_plan import BLOCK_ROWS, rows_per_block
from mercer.fitting.progress import shown_if
from mercer.fitting.width import Solver
from mercer.fresh_fit import adopt, unfitted
from mercer.kernels import Gaussian, Kernel
from mercer.learners.callers import caller_level
from mercer.learners.checkpointed import checkpointed, same_rows
from mercer.learners.far_rows import LEVEL, LIMITS
from mercer.learners.predictions import LinearScores, Predictor
from mercer.learners.scales import warn_if_unscaled
from mercer.learners.shrinkage import Leverage, Shrinker, returns_to_prior
from mercer.learners.training_rows import domain_of, training_rows
from mercer.solvers import Solution, Status
from mercer.state import Count, Either, Member, Names, Real, Reals, Sizes, Stored, require

# What a fit by a solver leaves.
SOLVED = Stored(
    feature_map_=Member(FeatureMap, {"n_features_in_": "d", "n_features_out_": "f"}),
    solution_=Member(Solution),
    **LIMITS,
)
# Of models that are linear in the features: one column of scores, or k.
SCORES = Stored(
    coef_=Either((Reals(("f",)), Reals(("k", "f")))),
    intercept_=Either((Real(), Reals(("k",)))),
)
LINEAR = Stored(
    **SOLVED,
    **SCORES,
    prior=Reals(("k",), attribute="_prior", optional=True),  # of rows far away
)


class Learner(FollowsArrays, Predictor, NestedParams, BaseEstimator):
    """What all learners share: threads, the engine, and checks of models from files."""

    # d columns, f features of the map; in linear models, k columns of scores.
    _stored = Stored(
        n_features_in_=Count("d", least=1),
        feature_names_in_=Names(("d",), ascending=False, text=True, optional=True),
    )

    _natural_kernel: ClassVar[Kernel] = Gaussian()
    random_state: Seed
    verbose: int
    feature_map_: FeatureMap
    solution_: Solution

    def _check_params(self) -> None:
        """Refuse parameters that ``fit`` refuses whatever the rows."""

    def _check_stored(self, sizes: Sizes) -> None:
        """Refuse a model from a file that no ``fit`` could make, although each attribute is of its declared kind."""
        self._check_params()
        check_random_state(self.random_state)
        require(isinstance(self.verbose, int), "verbose must be an integer")
        with self._threads():
            pass
        coef = getattr(self, "coef_", None)
        if coef is not None:
            require(
                coef.ndim - 1 == np.ndim(getattr(self, "intercept_", 0.0)),
                "intercept_ must have a number for each column",
            )

    def _take(self, fitted: Self) -> Self:
        """Take over what a fit has found, with a warning where its solver did not reach the tolerance.

        A user who has stopped the solver by a callback knows.
        """
        solution = fitted.solution_
        if not solution.success and solution.status is not Status.CALLBACK:
            warn(
                f"{type(self).__name__}: {solution.status}. {solution.advice}",
                ConvergenceWarning,
                stacklevel=caller_level(),
            )
        adopt(self, fitted)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        domain = domain_of(self)
        tags.input_tags.sparse = tags.input_tags.two_d_array = domain == "rows"
        tags.input_tags.string = domain == "strings"
        return tags


class KernelLearner(Learner):
    """A model on the features of a kernel: ``fit`` surveys the rows, draws the map, and solves.

    A subclass writes ``_targets`` (what y means) and ``_solve``, which sets the attributes of the model and returns a
    ``Solution``. ``_check_params`` checks the parameters before a row is read.

    A fit that is refused or interrupted leaves the estimator as it was. Whatever an earlier fit left is forgotten.
    """

    # What an error says of numbers that overflow.
    _overflow: ClassVar[str] = (
        "the coefficients overflow: the features or y are too large. Scale them down "
        "(sklearn.preprocessing.StandardScaler), or pass float64."
    )
    # Whether an error of sampled rows tells how many features are worth their time.
    _has_curve: ClassVar[bool] = True
    kernel: Kernel | None
    n_components: int | str | None
    features: FeatureMap | None

    @property
    def kernel_(self) -> Kernel:
        """The kernel that the fitted map approximates, with the numbers that ``fit`` has found for its parameters."""
        return self.feature_map_.kernel_

    def fit(self, X: RowsLike | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map and the model.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), ``Blocks``, or a Dask array or data frame
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Left out where X is ``Blocks``, which bring their own y; ignored by learners that learn from X alone. For a
            Dask collection: a collection with the same partitions, or an array.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        fitted = unfitted(self)
        # Overflow ends in an error, or in one warning of mercer; NumPy's warnings would only repeat it.
        quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")
        with self._threads(), quiet, shown_if(self.verbose), checkpointed(fitted):
            fitted._fit(X, y, sample_weight, self)
        return self._take(fitted)

    def _fit(self, X: RowsLike | Blocks, y: RowsLike | None, sample_weight: ArrayLike | None, earlier: Self) -> None:
        """Fit an estimator that holds its parameters alone; a warm start may continue from ``earlier``."""
        self._check_params()
        plan, name = self._map_plan(), type(self).__name__
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        blocks, targets = training_rows(
            self,
            X,
            y,
            sample_weight,
            self._targets(rng),
            reset=not hasattr(self, "n_features_in_"),
            collections=True,
        )
        same_rows(blocks)
        itemsize, passes = blocks.dtype.itemsize, Passes(name, engine_for(blocks), self.verbose)
        if not passes.engine.shares_memory and (reason := self._stays_local()):
            raise ValueError(f"{name}: {reason}")
        self._check_size(plan, blocks)
        cut = blocks.recut(BLOCK_ROWS, name)
        widest = plan.widest(blocks.n_rows, blocks.width, itemsize) if self._has_curve else plan.n_features
        top = plan.of_width(widest) if widest > plan.n_features else plan
        wide = max(top.sample_rows, self._rows_to_survey(top, blocks))
        with_y = (self._has_curve and (plan.needs_y or widest > plan.n_features)) or self._samples_y(plan)
        survey = Survey.of(cut, targets, passes, size=plan.sample_rows, seed=seed, wide_size=wide, with_y=with_y)
        plan, survey, details = self._with_choices(plan, survey, cut, seed, earlier)
        self.feature_map_, start = self._map_and_start(plan, survey.sample, rng, earlier)
        n_features = self.feature_map_.n_features_out_
        plan.check_vectors(n_features, itemsize)
        self._set_far_limits(self.feature_map_, survey)
        warn_if_unscaled(self, self.kernel_, survey)
        in_slabs = self.feature_map_.has_slabs and self._reads_slabs()
        at_once = self.feature_map_.features_at_once if in_slabs else self.feature_map_.features_per_row
        block_rows = rows_per_block(at_once, blocks.width, itemsize)
        cut, targets = survey.targets.coded(cut.recut(block_rows, name, trusted=targets.checked))
        rows = FeatureRows(
            self.feature_map_, cut, targets, passes, survey.sample, start, survey.wide_sample, in_slabs=in_slabs
        )
        self._keep(rows.solved(self._solve).with_details(**details), rows)

    def _with_choices(
        self, plan: MapPlan, survey: Survey, blocks: Blocks, seed: int, earlier: Self
    ) -> tuple[MapPlan, Survey, dict[str, object]]:
        """Return the plan with what it leaves open chosen, the survey with the samples of that plan, and the curves."""
        details, found = dict[str, object](), survey.wide_sample
        if self._has_curve and not self._keeps_map_of(earlier):
            widest = plan.widest(blocks.n_rows, blocks.width, blocks.dtype.itemsize)
            plan, details = plan.chosen(found, survey.targets, widest, seed)
        wide = found.first(max(plan.sample_rows, self._rows_to_survey(plan, blocks)))
        return plan, replace(survey, sample=found.first(plan.sample_rows), wide_sample=wide), details

    def _keeps_map_of(self, earlier: Self) -> bool:
        """Return whether the map of an earlier fit stays."""
        return False

    def _map_plan(self) -> MapPlan:
        """Return which map to draw, with its parameters checked."""
        return self._plan_of(self.n_components)

    def _plan_of(self, wanted: object, **names: str) -> MapPlan:
        name, natural = type(self).__name__, self._natural_kernel
        return MapPlan.of(name, self.kernel, wanted, self.features, natural, solver=self._solver(), **names)

    def _solver(self) -> Solver:
        """Return what limits the number of features."""
        return Solver()

    def _targets(self, rng: np.random.RandomState) -> Targets:
        """Return what y means to this learner."""
        return Targets(type(self).__name__)

    def _reads_slabs(self) -> bool:
        """Return whether the solver takes products with the features alone, so that these may come in slabs."""
        return False

    def _samples_y(self, plan: MapPlan) -> bool:
        """Return whether the solver asks for the y of sampled rows."""
        return False

    def _stays_local(self) -> str:
        """Return why a fit cannot work on rows in other processes, and the way out; nothing if it can."""
        return ""

    def _check_size(self, plan: MapPlan, blocks: Blocks) -> None:
        """Refuse a fit beyond memory before a row is read."""
        plan.check_size(blocks.width, blocks.dtype.itemsize)

    def _rows_to_survey(self, plan: MapPlan, blocks: Blocks) -> int:
        """Return how many rows to sample for more than the map; 0 where the sample of the map will do."""
        return 0

    def _map_and_start(
        self, plan: MapPlan, sample: Sample, rng: np.random.RandomState, earlier: Self
    ) -> tuple[FeatureMap, WarmStart | None]:
        """Return the fitted map, and where the solver may begin."""
        return plan.draw(sample, rng), None

    def _solve(self, rows: FeatureRows) -> Solution:
        """Solve the problem, and set the attributes of the model."""
        raise NotImplementedError

    def _keep(self, solution: Solution, rows: FeatureRows) -> None:
        """Keep the solution, or refuse one that overflows."""
        if not np.isfinite(solution.value).all():
            raise ValueError(f"{type(self).__name__}: {self._overflow}")
        if hasattr(self, "max_iter"):
            self.n_iter_ = solution.iterations
        plan = {} if rows.blocks.plan is None else {"plan": list(rows.blocks.plan)}
        self.solution_ = solution.with_details(block_rows=rows.block_rows, **plan)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        self._map_plan()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "solution_")


class LinearLearner(LinearScores, KernelLearner):
    """A model whose scores are linear in the features; where ``far_rows`` is "shrink", those of far rows are shrunk."""

    far_rows: str = "keep"
    _prior: Array | None = None
    _leverage: Leverage | None = None

    def _check_params(self) -> None:
        super()._check_params()
        if self.far_rows not in ("shrink", "keep"):
            raise ValueError(f"{type(self).__name__}: far_rows must be 'shrink' or 'keep', got {self.far_rows!r}.")

    def _keep(self, solution: Solution, rows: FeatureRows) -> None:
        super()._keep(solution, rows)
        if self._shrinks_far_rows():
            self._prior = self._prior_scores(rows.targets)

    def _shrinks_far_rows(self) -> bool:
        """Return whether far rows are shrunk: features do not decay there though the whole kernel does."""
        return self.far_rows == "shrink" and returns_to_prior(self.feature_map_, LEVEL)

    def _prior_scores(self, targets: Targets) -> Array:
        """Return the scores (k,) of a model that knows no column of X."""
        return targets.mean_scores

    @override
    def shrinker(self) -> Shrinker | None:
        if self._prior is None or self._far_limits is None or self._far_margins is None:
            return None
        return Shrinker(self._prior, self._far_limits, self._far_margins, self._leverage)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_targets = 1 if self.coef_.ndim == 1 else len(self.coef_)
        for known in (self._prior, None if self._leverage is None else self._leverage.limits):
            require(known is None or len(known) == n_targets, "far rows must have a prior for each column of scores")
        margins = self._far_margins
        require(margins is None or not np.isnan(margins).any(), "far_margins must be numbers")

    def _set_linear(self, targets: Targets, coef: Array, intercept: Array) -> None:
        """Set coefficients (k, D) and intercepts (k,) in the shape of y."""
        self.coef_, self.intercept_ = targets.shaped(coef, intercept)
