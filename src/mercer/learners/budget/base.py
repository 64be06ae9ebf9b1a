"""What budget learners share: one pass over the rows in order, block by block, and a model after each block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows, Seed
from mercer.core import BUDGET_MAINTENANCE, BUDGET_UPDATES
from mercer.data import Block, Blocks
from mercer.engines import Local, engine_for
from mercer.fitting import Targets
from mercer.kernels import FunctionKernel, Kernel
from mercer.kernels.custom import as_objects
from mercer.kernels.parameter import as_kernel
from mercer.learners.budget.objects import ObjectBlocks
from mercer.learners.budget.plan import BudgetPlan
from mercer.learners.budget.support_set import SupportSet
from mercer.learners.callers import caller_level
from mercer.learners.checkpointed import same_rows
from mercer.learners.online.one_pass import Learn, OnePassLearner, twin
from mercer.learners.training_rows import training_rows
from mercer.state import Count, Member, OneOf, Real, Sizes, Stored, require

# Rows per block: a fixed number, so that arrays and streams are learned in the same blocks.
_BLOCK_ROWS = 4096
# With fewer rows, a kernel whose parameters are found on them is warned of.
_FEW_ROWS = 10

# A kernel, or a user's function f(A, B) of two arrays of rows, or of two lists of objects, that returns their values.
KernelLike: TypeAlias = Kernel | Callable[[Any, Any], Any] | None
# What fit and partial_fit take; a list of objects where the kernel is a function.
Stream: TypeAlias = Rows | Blocks | Sequence[object]
Labels: TypeAlias = ArrayLike | None


class BudgetLearner(OnePassLearner):
    """A sum of at most B kernel functions, learned in one pass, row by row.

    A subclass writes ``_targets`` (what y means), ``_numbers`` (y as the loop takes it), and ``_losses_of``.
    """

    _stored = Stored(
        n_seen_=Count(),
        cumulative_loss_=Real(0.0),
        update_=OneOf(BUDGET_UPDATES),
        maintenance_=OneOf(BUDGET_MAINTENANCE),
        state_=Member(SupportSet),
    )

    epsilon: float = 0.0
    _losses: ClassVar[Mapping[str, tuple[str, ...]]]
    n_seen_: int
    cumulative_loss_: float
    update_: str
    maintenance_: str
    state_: SupportSet

    def __init__(
        self,
        kernel: KernelLike,
        *,
        budget: int,
        loss: str | None,
        update: str,
        maintenance: str | None,
        alpha: float | None,
        tolerance: float,
        decay: float,
        random_state: Seed,
        n_jobs: int | None,
        verbose: int,
    ):
        self.kernel = kernel
        self.budget = budget
        self.loss = loss
        self.update = update
        self.maintenance = maintenance
        self.alpha = alpha
        self.tolerance = tolerance
        self.decay = decay
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Stream, y: Labels = None) -> Self:
        """Forget what was learned, and learn the rows of X in one pass, in their order.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
            A list of any objects where the kernel is a function. If ``Blocks`` read y with the rows, a classifier
            finds the classes in a pass before.
        y : array of shape (n_samples,)
            Left out where X is ``Blocks``, which bring their own.

        Returns
        -------
        self
        """
        return self._pass(X, y, fresh=True)

    @property
    def support_vectors_(self) -> Rows:
        """The support vectors: an array or a CSR matrix of shape (m, d), or an array of m objects."""
        return self._fitted_state("support_vectors_").rows

    @property
    def coef_(self) -> Array:
        """The coefficients of the kernel functions of the support vectors."""
        coef = self._fitted_state("coef_").coef
        return coef[:, 0] if coef.shape[1] == 1 else coef.T

    @property
    def intercept_(self) -> float | Array:
        """0: a constant is learned by a kernel with one, such as Gaussian() + Polynomial(1, coef0=1)."""
        n_columns = self._fitted_state("intercept_").coef.shape[1]
        return 0.0 if n_columns == 1 else np.zeros(n_columns)

    def _fitted_state(self, name: str) -> SupportSet:
        if "state_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before fit.")
        return self.state_

    def _models(self, X: Stream, y: Labels, classes: Labels, *, fresh: bool) -> Iterator[Self]:
        """Yield the learner after each block; a fit that a checkpoint knows goes on after its last block."""
        plan = self._plan()
        self._check_continues(plan)
        blocks, targets = self._opened(X, y)
        engine = engine_for(blocks) if isinstance(blocks, Blocks) else Local()
        if fresh and isinstance(blocks, Blocks):
            same_rows(blocks)
        self._known(blocks, targets, classes, fresh=fresh)
        # Objects of a user's function are not recorded, and rows elsewhere cannot be read from the middle.
        of_numbers = isinstance(blocks, Blocks) and not isinstance(self._kernel(), FunctionKernel)
        is_recorded = fresh and of_numbers and engine.shares_memory
        yield from self._chained(Learn(plan, targets), blocks, engine, is_recorded=is_recorded)

    def _opened(self, X: Stream, y: Labels) -> tuple[Blocks | ObjectBlocks, Targets]:
        """Return blocks of rows and what y means."""
        name, targets = type(self).__name__, self._targets()
        if isinstance(X, list | tuple) and self._takes_objects(X):
            if getattr(self, "n_features_in_", 1) != 1:
                raise ValueError(f"{name}: X is a list of objects, but the model has learned rows of numbers.")
            self.n_features_in_ = 1
            return ObjectBlocks.of(name, X, y, targets), replace(targets, checked=True)
        first = not hasattr(self, "n_features_in_")
        blocks, targets = training_rows(self, X, y, None, targets, reset=first, collections=True)
        return blocks.recut(_BLOCK_ROWS, name), targets

    def _takes_objects(self, X: Stream) -> bool:
        """Return whether X is a list of objects for a user's function; a list of rows of numbers is not."""
        if not callable(self.kernel) or isinstance(self.kernel, Kernel) or not isinstance(X, list | tuple):
            return False
        return not all(isinstance(x, list | tuple | np.ndarray) for x in X)

    def _kernel(self) -> Kernel:
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            return FunctionKernel(self.kernel)
        return as_kernel(type(self).__name__, self.kernel, self._natural_kernel)

    def _plan(self) -> BudgetPlan:
        return BudgetPlan.of(type(self).__name__, self, self._kernel(), self._losses)

    def _check_continues(self, plan: BudgetPlan) -> None:
        """Refuse a plan that cannot continue the state of an earlier one."""
        if not self.__sklearn_is_fitted__():
            return
        for name, now, before in (
            ("update", plan.rule.update, self.update_),
            ("maintenance", plan.rule.maintenance, self.maintenance_),
        ):
            if now != before:
                raise ValueError(
                    f"{type(self).__name__}: {name} must stay what it was on the first call to partial_fit, "
                    f"{before!r}, got {now!r}. Set it back, or start again with fit or a clone."
                )
        if len(self.state_.coef) > plan.rule.budget:
            raise ValueError(
                f"{type(self).__name__}: budget must not be below the {len(self.state_.coef)} support vectors held, "
                f"got {plan.rule.budget}. Set it back, or start again with fit or a clone."
            )

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        plan = self._plan()
        same = (plan.rule.update, plan.rule.maintenance) == (self.update_, self.maintenance_)
        require(same and self.state_.is_of(plan), "state_ must be that of update and maintenance")
        rows, width = self.state_.rows, sizes["d"]
        require(rows.ndim == 2 and rows.shape[1] == width, "support vectors must have the columns of X")
        require(bool(np.all(self.state_.born < self.n_seen_)), "support vectors must be rows that were seen")

    def after(self, plan: BudgetPlan, block: Block, targets: Targets) -> Self:
        """Return the learner after a block."""
        name = type(self).__name__
        if block.sample_weight is not None:
            raise ValueError(f"{name}: rows learned one at a time have no sample_weight. Make the blocks without.")
        learner = twin(self)
        y = learner._numbers(targets, block)
        if not self.__sklearn_is_fitted__():
            learner.__dict__.update(learner._first(plan, block.X))
        with np.errstate(over="ignore", invalid="ignore"):
            learner.state_.kernel.check_domain("X", block.X)
            state, scores = learner.state_.learn(name, plan, block.X, y, learner.n_seen_)
            losses = learner._losses_of(plan, scores, y)
        if self.listener is not None:
            self.listener(scores)
        changed = (
            (losses, state.coef) if state.inverse is learner.state_.inverse else (losses, state.coef, state.inverse)
        )
        if not all(np.isfinite(part).all() for part in changed):
            raise ValueError(
                f"{name}: the coefficients overflow at row {learner.n_seen_} of the stream or soon after: the kernel's "
                "values or y are too large. Scale X and y down (sklearn.preprocessing.StandardScaler), or raise alpha."
            )
        totals = {
            "n_seen_": learner.n_seen_ + block.n_rows,
            "cumulative_loss_": learner.cumulative_loss_ + float(losses.sum()),
            **learner._mistakes(scores, y),
        }
        learner.__dict__.update(totals, state_=state)
        return learner

    def _first(self, plan: BudgetPlan, X: Rows) -> dict[str, object]:
        """Return the attributes before the first row."""
        given = self._kernel()
        kernel = given if X.dtype == object else given.resolve(X)
        if X.shape[0] < _FEW_ROWS and kernel is not given:
            warn(
                f"{type(self).__name__}: the parameters of {given!r} are found on the first rows given, which are "
                f"only {X.shape[0]}, and stay. Begin with some hundred rows, or give numbers: Gaussian(gamma=0.5).",
                stacklevel=caller_level(),
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        state = SupportSet.none(kernel, plan, X, self._n_columns(), seed)
        begun = {"update_": plan.rule.update, "maintenance_": plan.rule.maintenance, "state_": state}
        return {"n_seen_": 0, "cumulative_loss_": 0.0, **begun}

    def _scores(self, X: Stream) -> Array:
        check_is_fitted(self)
        if self._takes_objects(X):
            scores = self.state_.scores(as_objects(X))
        else:
            scores = self._results(X, self._checked_scores, "score", _BLOCK_ROWS)
        return scores.ravel() if self.state_.coef.shape[1] == 1 else scores

    def _checked_scores(self, X: Rows) -> Array:
        self.state_.kernel.check_domain("X", X)
        return self.state_.scores(X)

    def _n_columns(self) -> int:
        """Return the columns of scores."""
        return 1

    def _targets(self) -> Targets:
        """Return what y means."""
        raise NotImplementedError

    def _known(self, blocks: Blocks | ObjectBlocks, targets: Targets, classes: Labels, *, fresh: bool) -> None:
        """Find what must be known of y before the first row."""

    def _numbers(self, targets: Targets, block: Block) -> Array:
        """Return y of a block as the loop takes it."""
        raise NotImplementedError

    def _losses_of(self, plan: BudgetPlan, scores: Array, y: Array) -> Array:
        """Return the loss of each row."""
        raise NotImplementedError

    def _mistakes(self, scores: Array, y: Array) -> dict[str, int]:
        """Return the count of mistakes after a block, where there are any to count."""
        return {}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_seen_")
