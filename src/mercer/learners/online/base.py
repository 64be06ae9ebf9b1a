"""What online learners share: one pass over the rows in order, a block at a time, and a model after each block."""

from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer import core
from mercer._typing import Array
from mercer.data import Block, Blocks, as_blocks
from mercer.engines import rows_of
from mercer.fresh_fit import adopt, unfitted
from mercer.kernels import Kernel
from mercer.learners.base import SCORES, KernelLearner
from mercer.learners.classification import ClassScores
from mercer.learners.far_rows import FarRows, far_limits
from mercer.learners.online.steps import UPDATES, Rule, losses_of
from mercer.learners.progress import progress
from mercer.learners.regression import OneTarget
from mercer.state import Count, OneOf, Real, Stored
from mercer.stats import ColumnRanges
from mercer.validation import check_finite_result, check_rows

# Rows a block; a fixed number, so that arrays and streams have their features computed in the same products.
_BLOCK_ROWS = 4096
# Rows below which a bandwidth found on them is warned of.
_FEW_ROWS = 10


class OnlineLearner(KernelLearner):
    """A linear model on the features of a kernel, learned in one pass, a row at a time.

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
    loss: str
    update: str
    alpha: float
    step: float
    schedule: str
    n_seen_: int
    cumulative_loss_: float
    update_: str
    alpha_: float

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Forget what was learned, and learn the rows of X in one pass, in their order.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
            Of ``Blocks`` that read y with the rows, a classifier looks for the classes in a pass before.
        y : array of shape (n_samples,)
            Left out where X is ``Blocks``, which bring their own.

        Returns
        -------
        self
        """
        return self._pass(X, y, anew=True)

    def _pass(self, X: Any, y: Any, *, anew: bool, classes: Any = None) -> Self:
        learner, learned = unfitted(self) if anew else copy(self), self
        try:
            with self._threads(), np.errstate(over="ignore", invalid="ignore"):
                rule = Rule.of(type(self).__name__, self, self._losses)
                learner._check_rule(rule)
                blocks = learner._stream(X, y)
                learner._meet(blocks, classes, anew=anew)
                with progress(f"{type(self).__name__}: online pass", blocks.n_rows, self.verbose) as advance:
                    for block in blocks.labelled():
                        learner = learned = learner._after(rule, block)
                        advance(block.n_rows)
        except KeyboardInterrupt:
            adopt(self, learned)  # the whole blocks so far
            raise
        adopt(self, learned)
        return self

    def _check_params(self) -> None:
        Rule.of(type(self).__name__, self, self._losses)
        super()._check_params()

    def _after(self, rule: Rule, block: Block) -> Self:
        """Return the learner after a block."""
        name = type(self).__name__
        if block.sample_weight is not None:
            raise ValueError(f"{name}: rows learned one at a time have no sample_weight. Make the blocks without.")
        y = self._numbers(block.y)
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

    def _ranges_with(self, X: Any) -> Array:
        """Return the ranges of the columns of the rows seen and those of X."""
        ranges = ColumnRanges.of(X.shape[1]).update(X)
        if self._column_ranges is not None:
            ranges.merge(ColumnRanges(*self._column_ranges))
        return np.stack([ranges.low, ranges.high])

    def _far_rows(self) -> FarRows:
        if self._column_ranges is None:
            return FarRows(None)
        return FarRows(far_limits(self._reaches, ColumnRanges(*self._column_ranges)))

    def _first(self, rule: Rule, X: Any) -> dict[str, Any]:
        if X.shape[0] < _FEW_ROWS:
            self._warn_of_few_rows(X)
        begun = self._begin(rule, X, check_random_state(self.random_state))
        return {"n_seen_": 0, "cumulative_loss_": 0.0, "update_": rule.update, "alpha_": rule.alpha, **begun}

    def _check_rule(self, rule: Rule) -> None:
        """Refuse steps that cannot go on from the state of those before: a curvature that begins at alpha, or none."""
        if not self.__sklearn_is_fitted__():
            return
        known = {"update": self.update_} | ({"alpha": self.alpha_} if self.update_ == "newton" else {})
        for name, value in known.items():
            if getattr(rule, name) != value:
                raise ValueError(
                    f"{type(self).__name__}: {name} must stay what it was on the first call to partial_fit, {value!r}, "
                    f"got {getattr(rule, name)!r}. Set it back, or begin anew with fit or a clone."
                )

    def _warn_of_few_rows(self, X: Any) -> None:
        """Say that a kernel's parameters are found on the first rows, once, where these say little."""
        own: Any = getattr(self, "features", None)
        owner: Any = own if hasattr(own, "kernel") else self
        kernel = owner._natural_kernel if owner.kernel is None else owner.kernel
        if isinstance(kernel, Kernel) and kernel.resolve(X) is not kernel:
            warn(
                f"{type(self).__name__}: the parameters of {kernel!r} are found on the first rows given, which are "
                f"only {X.shape[0]}, and stay. Begin with some hundred rows, or give numbers: Gaussian(gamma=0.5).",
                stacklevel=6,
            )

    def _stream(self, X: Any, y: Any) -> Blocks:
        """Return rows with y in blocks of one size, of the width that the first rows had."""
        name, first = type(self).__name__, not hasattr(self, "n_features_in_")
        if not isinstance(X, Blocks):
            if y is None:
                raise ValueError(f"{name} requires y to be passed, but the target y is None.")
            if isinstance(X, Iterator):
                as_blocks(X, owner=name)  # which refuses it, in words
            X = check_rows(self, X, reset=first)
            return as_blocks(X, self._check_y(y), block_rows=_BLOCK_ROWS, owner=name)
        if first:
            return self._labelled_blocks(X, y, None).recut(_BLOCK_ROWS, name)
        if y is not None:
            raise ValueError(f"{name}: X is Blocks, which bring their own y and weights. Give them to as_blocks.")
        if not X.is_labelled:
            raise ValueError(f"{name} requires y to be passed: make the blocks with as_blocks(X, y).")
        self._check_width(X)
        return X.recut(_BLOCK_ROWS, name)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        name = type(self).__name__
        coef, far = np.atleast_2d(self.coef_).T, self._far_rows()

        def work(block: Block) -> Array:
            far.see(block.X)
            Z = self._features(block.X)
            scores = core.scores(Z, coef.astype(Z.dtype, copy=False))
            scores += np.asarray(self.intercept_, dtype=Z.dtype)
            return scores

        blocks = X if isinstance(X, Blocks) else as_blocks(check_rows(self, X, reset=False), owner=name)
        self._check_width(blocks)
        with self._threads():
            scores = rows_of(self._engine, work, blocks.recut(_BLOCK_ROWS, name))
        check_finite_result(name, "score", scores)
        self._warn_of(far)
        return scores.ravel() if self.coef_.ndim == 1 else scores

    def _features(self, X: Any) -> Array:
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

    def _meet(self, blocks: Blocks, classes: Any, *, anew: bool) -> None:
        """Learn what must be known of y before the first row."""

    def _numbers(self, y: Any) -> Array:
        """Return y of a block as the loops take it."""
        raise NotImplementedError

    def _mistakes(self, scores: Array, y: Array) -> dict[str, int]:
        """Return the count of mistakes after a block, where there are any to count."""
        return {}

    def _begin(self, rule: Rule, X: Any, rng: np.random.RandomState) -> dict[str, Any]:
        raise NotImplementedError

    def _learned(self, rule: Rule, X: Any, y: Array) -> tuple[dict[str, Any], Array]:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_seen_")


class OnlineRegressor(OneTarget, OnlineLearner):
    """An online learner of numbers."""

    _losses = ("squared", "absolute")

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``."""
        return self._pass(X, y, anew=False)

    def _numbers(self, y: Any) -> Array:
        return self._check_y(y)


class OnlineClassifier(ClassScores, OnlineLearner):
    """An online learner of classes."""

    _stored = Stored(n_mistakes_=Count())

    _losses = ("hinge", "squared_hinge", "logistic")
    n_mistakes_: int

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``.

        ``classes`` lists all classes that the stream may hold. The first call needs it; later ones may leave it out.
        """
        return self._pass(X, y, anew=False, classes=classes)

    def _meet(self, blocks: Blocks, classes: Any, *, anew: bool) -> None:
        name, known = type(self).__name__, getattr(self, "classes_", None)
        if anew:
            classes = np.unique(np.concatenate([np.unique(self._check_y(y)) for y in blocks.targets()]))
        if classes is None:
            if known is None:
                raise ValueError(
                    f"{name}: classes must be passed on the first call to partial_fit: all the classes that the stream "
                    "may hold, partial_fit(X, y, classes=[...])."
                )
            return
        # Each twice: scikit-learn warns of labels of which most are different.
        given = np.unique(self._check_y(np.repeat(np.atleast_1d(classes), 2, axis=0)))
        if known is not None and not np.array_equal(given, known):
            raise ValueError(
                f"{name}: classes must stay what they were on the first call to partial_fit, {known.tolist()}, got "
                f"{given.tolist()}. Leave classes out, or begin anew with fit or a clone."
            )
        if len(given) < 2:
            raise ValueError(f"{name}: y must hold at least 2 classes, got 1 class: {given.tolist()[0]!r}.")
        self.classes_ = given

    def _n_columns(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _numbers(self, y: Any) -> Array:
        labels = self._check_y(y)
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
