"""What online learners share: one pass over the rows in order, block by block, and a model after each block."""

from copy import copy
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from mercer import core
from mercer._typing import Array, Rows
from mercer.data import Block, Blocks
from mercer.fitting import Classes, MapPlan, Numbers, Targets
from mercer.fitting.progress import progress
from mercer.fitting.targets import classes_in
from mercer.fresh_fit import adopt, unfitted
from mercer.kernels import Kernel
from mercer.learners.base import SCORES, Learner
from mercer.learners.callers import caller_level
from mercer.learners.classification import ClassScores
from mercer.learners.far_rows import FarRows, far_limits
from mercer.learners.online.steps import UPDATES, Rule, losses_of
from mercer.learners.regression import OneTarget
from mercer.learners.training_rows import training_rows
from mercer.state import Count, OneOf, Real, Sizes, Stored
from mercer.stats import ColumnRanges

# Rows per block: a fixed number, so that the features of arrays and streams are computed in the same products.
_BLOCK_ROWS = 4096
# With fewer rows, a kernel whose parameters are found on them is warned of.
_FEW_ROWS = 10


class OnlineLearner(Learner):
    """A linear model on the features of a kernel, learned in one pass, row by row.

    A subclass writes ``_begin`` (the model before the first row, from the first block) and ``_learned`` (the attributes
    after a block, and the scores before each of its rows). Attributes are replaced all at once after a block: an error
    leaves the estimator as it was before the call, and Ctrl-C as it was after the last whole block.
    """

    _stored = Stored(
        **SCORES,
        n_seen_=Count(),
        cumulative_loss_=Real(0.0),
        update_=OneOf(UPDATES),
        alpha_=Real(positive=True),
    )
    # The ranges (2, d) of the columns of the rows seen, and the reaches (d,) of the kernel: see ``far_rows``.
    _column_ranges: Array | None = None
    _reaches: Array | None = None

    _losses: ClassVar[tuple[str, ...]]
    kernel: Any
    n_components: int
    features: Any = None
    loss: str
    update: str
    alpha: float
    step: float
    schedule: str
    n_seen_: int
    cumulative_loss_: float
    update_: str
    alpha_: float
    coef_: Array
    intercept_: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget what was learned, and learn the rows of X in one pass, in their order.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
            If ``Blocks`` read y with the rows, a classifier finds the classes in a pass before.
        y : array of shape (n_samples,)
            Left out where X is ``Blocks``, which bring their own.

        Returns
        -------
        self
        """
        return self._pass(X, y, fresh=True)

    def _pass(self, X: Any, y: Any, *, fresh: bool, classes: Any = None) -> Self:
        """Learn the rows of X, from the start if ``fresh``, else from where the last call ended."""
        learner, learned = unfitted(self) if fresh else copy(self), self
        try:
            with self._threads(), np.errstate(over="ignore", invalid="ignore"):
                rule = Rule.of(type(self).__name__, self, self._losses)
                learner._check_rule(rule)
                first = not hasattr(learner, "n_features_in_")
                blocks, targets = training_rows(learner, X, y, None, self._targets(), reset=first)
                blocks = blocks.recut(_BLOCK_ROWS, type(self).__name__)
                targets = learner._known(blocks, targets, classes, fresh=fresh)
                with progress(f"{type(self).__name__}: online pass", blocks.n_rows, self.verbose) as advance:
                    for block in blocks.labelled():
                        learner = learned = learner._after(rule, block, targets)
                        if advance is not None:
                            advance(block.n_rows)
        except KeyboardInterrupt:
            adopt(self, learned)  # the whole blocks so far
            raise
        adopt(self, learned)
        return self

    def _map_plan(self) -> MapPlan:
        return MapPlan.of(type(self).__name__, self.kernel, self.n_components, self.features, self._natural_kernel)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        Rule.of(type(self).__name__, self, self._losses)
        self._map_plan()

    def _after(self, rule: Rule, block: Block, targets: Any) -> Self:
        """Return the learner after a block."""
        name = type(self).__name__
        if block.sample_weight is not None:
            raise ValueError(f"{name}: rows learned one at a time have no sample_weight. Make the blocks without.")
        y = self._numbers(targets, block)
        learner = copy(self)
        if not self.__sklearn_is_fitted__():
            learner.__dict__.update(self._first(rule, block.X))
        with np.errstate(over="ignore", invalid="ignore"):
            learned, scores = learner._learned(rule, block.X, y)
            losses = losses_of(rule.loss, scores, y)
        if not all(np.isfinite(values).all() for values in (losses, learned["coef_"], learned["intercept_"])):
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

    def _first(self, rule: Rule, X: Rows) -> dict[str, Any]:
        if X.shape[0] < _FEW_ROWS:
            self._warn_of_few_rows(X)
        begun = self._begin(rule, X, check_random_state(self.random_state))
        return {"n_seen_": 0, "cumulative_loss_": 0.0, "update_": rule.update, "alpha_": rule.alpha, **begun}

    def _check_rule(self, rule: Rule) -> None:
        """Refuse steps that cannot continue the state of earlier ones: another update, or another start of Newton's."""
        if not self.__sklearn_is_fitted__():
            return
        known = {"update": self.update_} | ({"alpha": self.alpha_} if self.update_ == "newton" else {})
        for name, value in known.items():
            if getattr(rule, name) != value:
                raise ValueError(
                    f"{type(self).__name__}: {name} must stay what it was on the first call to partial_fit, {value!r}, "
                    f"got {getattr(rule, name)!r}. Set it back, or start again with fit or a clone."
                )

    def _warn_of_few_rows(self, X: Rows) -> None:
        """Warn once that the parameters of a kernel are found on the first rows, where these are few."""
        owner: Any = self.features if hasattr(self.features, "kernel") else self
        kernel = owner._natural_kernel if owner.kernel is None else owner.kernel
        if isinstance(kernel, Kernel) and kernel.resolve(X) is not kernel:
            warn(
                f"{type(self).__name__}: the parameters of {kernel!r} are found on the first rows given, which are "
                f"only {X.shape[0]}, and stay. Begin with some hundred rows, or give numbers: Gaussian(gamma=0.5).",
                stacklevel=caller_level(),
            )

    def _scores(self, X: Any) -> Array:
        def work(rows: Rows) -> Array:
            Z = self._features(rows)
            scores = core.scores(Z, np.atleast_2d(self.coef_).T.astype(Z.dtype, copy=False))
            scores += np.asarray(self.intercept_, dtype=Z.dtype)
            return scores

        scores = self._results(X, work, "score", _BLOCK_ROWS)
        return scores.ravel() if self.coef_.ndim == 1 else scores

    def _features(self, X: Rows) -> Array:
        """Return the features of rows, dense."""
        Z: Any = self.feature_map_.transform(X)
        dense: Array = Z.toarray() if sparse.issparse(Z) else Z
        return dense

    def _n_columns(self) -> int:
        """Return the columns of scores."""
        return 1

    def _split(self, coef: Array) -> dict[str, Any]:
        """Return weights (k, D + 1), the last of the constant feature, as coefficients and intercept."""
        if len(coef) == 1:
            return {"coef_": coef[0, :-1], "intercept_": float(coef[0, -1])}
        return {"coef_": coef[:, :-1], "intercept_": coef[:, -1]}

    def _targets(self) -> Targets:
        """Return what y means."""
        raise NotImplementedError

    def _known(self, blocks: Blocks, targets: Any, classes: Any, *, fresh: bool) -> Any:
        """Return the targets with what must be known of y before the first row."""
        return targets

    def _numbers(self, targets: Any, block: Block) -> Array:
        """Return y of a block as the loops take it."""
        raise NotImplementedError

    def _mistakes(self, scores: Array, y: Array) -> dict[str, int]:
        """Return the count of mistakes after a block, where there are any to count."""
        return {}

    def _begin(self, rule: Rule, X: Rows, rng: np.random.RandomState) -> dict[str, Any]:
        raise NotImplementedError

    def _learned(self, rule: Rule, X: Rows, y: Array) -> tuple[dict[str, Any], Array]:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_seen_")


class OnlineRegressor(OnlineLearner, OneTarget):
    """An online learner of numbers."""

    _losses = ("squared", "absolute")

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``."""
        return self._pass(X, y, fresh=False)

    def _targets(self) -> Numbers:
        return Numbers(type(self).__name__, several=False)

    def _numbers(self, targets: Any, block: Block) -> Array:
        column: Array = targets.encode(block)[:, 0]
        return column


class OnlineClassifier(OnlineLearner, ClassScores):
    """An online learner of classes."""

    _stored = Stored(n_mistakes_=Count())

    _losses = ("hinge", "squared_hinge", "logistic")
    n_mistakes_: int

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``.

        ``classes`` lists all classes that the stream may hold. The first call needs it; later ones may leave it out.
        """
        return self._pass(X, y, fresh=False, classes=classes)

    def _targets(self) -> Classes:
        return Classes(type(self).__name__)

    def _known(self, blocks: Blocks, targets: Any, classes: Any, *, fresh: bool) -> Classes:
        name, known = type(self).__name__, getattr(self, "classes_", None)
        if fresh:
            self.classes_ = classes_in(blocks, targets)
        elif classes is not None:
            # Each class twice: scikit-learn warns of labels most of which differ.
            given = np.unique(targets.check(np.repeat(np.atleast_1d(classes), 2, axis=0)))
            if known is not None and not np.array_equal(given, known):
                raise ValueError(
                    f"{name}: classes must stay what they were on the first call to partial_fit, {known.tolist()}, got "
                    f"{given.tolist()}. Leave classes out, or start again with fit or a clone."
                )
            self.classes_ = given
        elif known is None:
            raise ValueError(
                f"{name}: classes must be passed on the first call to partial_fit: all the classes that the stream "
                "may hold, partial_fit(X, y, classes=[...])."
            )
        of_classes: Classes = targets.of(self.classes_)
        return of_classes

    def _n_columns(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _numbers(self, targets: Any, block: Block) -> Array:
        labels: Any = block.y if targets.checked else targets.check(block.y)
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        unseen = np.flatnonzero(self.classes_[codes] != labels)
        if len(unseen):
            row, label = getattr(self, "n_seen_", 0) + int(unseen[0]), labels[unseen].tolist()[0]
            raise ValueError(
                f"{type(self).__name__}: y holds {label!r} at row {row} of the stream, which is not among the classes "
                f"{self.classes_.tolist()}. Name all classes on the first call: "
                "partial_fit(X, y, classes=[...])."
            )
        return np.where(codes == 1, 1.0, -1.0) if len(self.classes_) == 2 else codes.astype(np.float64)

    def _mistakes(self, scores: Array, y: Array) -> dict[str, int]:
        wrong = (scores[:, 0] > 0) != (y > 0) if scores.shape[1] == 1 else scores.argmax(axis=1) != y
        return {"n_mistakes_": getattr(self, "n_mistakes_", 0) + int(np.count_nonzero(wrong))}
