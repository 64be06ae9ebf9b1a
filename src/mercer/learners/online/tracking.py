"""Online classification of a stream that drifts at an unknown rate: learners of several decays, weighted."""

from collections.abc import Sequence
from copy import copy
from math import log, sqrt
from typing import Self, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from mercer._typing import Array, Rows, Seed, override
from mercer.data import Block
from mercer.fitting import Classes
from mercer.fitting.targets import classes_in
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.budget.classifier import BudgetClassifier
from mercer.learners.classification import ClassScores
from mercer.learners.online.base import BLOCK_ROWS, Labels, Stream
from mercer.learners.online.classification import OnlineClassifier
from mercer.learners.online.fogd import FOGDClassifier
from mercer.learners.training_rows import training_rows
from mercer.state import Count, Many, Member, Reals, Sizes, Stored, require
from mercer.validation import check_real

# A learner with ``decay`` that counts its mistakes.
Expert: TypeAlias = OnlineClassifier | BudgetClassifier
_EXPERTS = (OnlineClassifier, BudgetClassifier)


class TrackingClassifier(ClassScores):
    r"""Online classification by learners of several decays, weighted by how few losses they had lately.

    A stream that drifts has a best ``decay``, which nobody knows beforehand and which may change. Copies of one
    learner, the experts, learn every row, each with its own decay. The score of a row is the weighted mean of their
    scores, clipped to [-1, 1]. After each row, the weight of an expert with the loss l is multiplied by
    :math:`e^{-\eta l}`, and a part ``share`` of all weights is spread evenly (fixed share, Herbster and Warmuth, 1998):
    an expert that was bad can come back quickly.

    Parameters
    ----------
    estimator : FOGDClassifier, NOGDClassifier or BudgetClassifier, optional
        The learner, unfitted; its ``decay`` is not used. ``FOGDClassifier()`` by default.
    decays : sequence of floats in (0, 1], default=(1.0, 0.9999, 0.999, 0.99)
        The decays of the N experts: nothing is forgotten, or about 10 000, 1000 or 100 rows are remembered.
    share : float in (0, 1), default=0.001
        How often another expert is expected to become the best: every 1000 rows.
    random_state : int, RandomState or None
        Seeds all experts alike; None leaves the ``random_state`` of the estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    experts_ : list of fitted learners, one for each decay
    weights_ : ndarray of shape (N,)
        The weights of the experts after the last row.
    n_seen_, n_mistakes_ : int
        Rows learned, and how many of them the weighted score had predicted wrongly before they were learned.

    Notes
    -----
    The loss of an expert is the hinge of its clipped scores, divided by its largest value (2, or 3 for more than two
    classes). It is convex in the scores and lies in [0, 1], so for any stream of n rows and any sequence of experts
    with s changes, the sum of the losses of the weighted score exceeds that of the sequence by at most

    .. math:: \frac{1}{\eta} \Bigl(\log N + s \log \frac{N}{a} + (n - 1 - s) \log \frac{1}{1 - a}\Bigr)
              + \frac{\eta n}{8}

    for the share a. The rate :math:`\eta = \sqrt{8 a (\log N + \log(N/a) + 1)}` makes both terms equal for one change
    per 1/a rows.

    Time and memory are those of the N experts together. An error leaves the model as it was before the call, Ctrl-C as
    it was after the last whole block.

    References
    ----------
    M. Herbster and M. K. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> from mercer import FOGDClassifier, Gaussian
    >>> from mercer.datasets import rotating_drift
    >>> from mercer.learners import TrackingClassifier
    >>> stream = rotating_drift(4000, random_state=0)
    >>> plain = FOGDClassifier(Gaussian(gamma=1.0), random_state=0)
    >>> tracking = TrackingClassifier(plain).fit(stream.X, stream.y)
    >>> bool(tracking.n_mistakes_ < 0.5 * plain.fit(stream.X, stream.y).n_mistakes_)
    True
    """

    _stored = Stored(
        n_seen_=Count(),
        n_mistakes_=Count(),
        experts_=Many(Member(_EXPERTS, {"n_features_in_": "d"}), "experts"),
        weights_=Reals(("experts",), dtypes=(np.float64,)),
    )

    n_jobs = None
    verbose = 0
    n_seen_: int
    n_mistakes_: int
    experts_: list[Expert]
    weights_: Array

    def __init__(
        self,
        estimator: Expert | None = None,
        *,
        decays: Sequence[float] = (1.0, 0.9999, 0.999, 0.99),
        share: float = 1e-3,
        random_state: Seed = None,
    ):
        self.estimator = estimator
        self.decays = decays
        self.share = share
        self.random_state = random_state

    def fit(self, X: Stream, y: Labels = None) -> Self:
        """Forget what was learned, and learn the rows of X in one pass, in their order, as ``FOGDClassifier.fit``."""
        return self._pass(X, y, None, fresh=True)

    def partial_fit(self, X: Stream, y: Labels = None, classes: Labels = None) -> Self:
        """Learn more rows in one pass, in their order. ``classes`` lists all classes; the first call needs it."""
        return self._pass(X, y, classes, fresh=False)

    def _pass(self, X: Stream, y: Labels, classes: Labels, *, fresh: bool) -> Self:
        learner, learned = unfitted(self) if fresh else copy(self), self
        name = type(self).__name__
        learner._check_params()
        first = not hasattr(learner, "n_features_in_")
        blocks, targets = training_rows(learner, X, y, None, Classes(name), reset=first)
        blocks = blocks.recut(BLOCK_ROWS, name)
        if fresh:
            classes = targets.of(classes_in(blocks, targets)).classes
        try:
            for block in blocks.labelled():
                labels = np.asarray(block.y if targets.checked else targets.check(block.y))
                learner = learned = learner._after(block, labels, classes)
        except KeyboardInterrupt:
            adopt(self, learned)  # the whole blocks so far
            raise
        adopt(self, learned)
        return self

    def _after(self, block: Block, labels: Array, classes: Labels) -> Self:
        """Return the learner after a block."""
        if block.sample_weight is not None:
            raise ValueError(
                f"{type(self).__name__}: rows learned one at a time have no sample_weight. Make the blocks without."
            )
        learner = copy(self)
        before = self.experts_ if self.__sklearn_is_fitted__() else self._unfitted_experts()
        learned = [_learned(expert, block.X, labels, classes) for expert in before]
        learner.experts_ = [expert for expert, _ in learned]
        learner.classes_ = learner.experts_[0].classes_
        scores = np.clip(np.stack([found for _, found in learned]), -1.0, 1.0)
        codes = np.searchsorted(learner.classes_, labels)
        start = self.weights_ if self.__sklearn_is_fitted__() else np.full(len(scores), 1 / len(scores))
        weights, learner.weights_ = tracked(start, losses_in_unit(scores, codes), self._rate(), float(self.share))
        mixed = np.einsum("tn,ntk->tk", weights, scores)
        found = mixed.argmax(axis=1) if mixed.shape[1] > 1 else mixed[:, 0] > 0
        learner.n_seen_ = getattr(self, "n_seen_", 0) + len(labels)
        learner.n_mistakes_ = getattr(self, "n_mistakes_", 0) + int(np.count_nonzero(found != codes))
        return learner

    def _unfitted_experts(self) -> list[Expert]:
        made = FOGDClassifier() if self.estimator is None else clone(self.estimator)
        if self.random_state is not None:
            made.set_params(random_state=int(check_random_state(self.random_state).randint(2**31 - 1)))
        return [clone(made).set_params(decay=float(decay)) for decay in self.decays]

    def _rate(self) -> float:
        n, share = len(self.decays), float(self.share)
        return sqrt(8 * share * (2 * log(n) - log(share) + 1))

    @override
    def _check_params(self) -> None:
        super()._check_params()
        name = type(self).__name__
        if self.estimator is not None and not isinstance(self.estimator, _EXPERTS):
            raise TypeError(
                f"{name}: estimator must be a FOGDClassifier, NOGDClassifier or BudgetClassifier, got "
                f"{self.estimator!r}."
            )
        if self.estimator is not None and self.estimator.new_classes != "error":
            raise ValueError(
                f"{name}: the estimator must have new_classes='error': name all classes on the first call."
            )
        if not isinstance(self.decays, Sequence) or isinstance(self.decays, str) or not len(self.decays):
            raise ValueError(f"{name}: decays must be a sequence of at least one number, got {self.decays!r}.")
        for decay in self.decays:
            if check_real(name, "decays", decay, least=0, strict=True) > 1:
                raise ValueError(f"{name}: decays must lie in (0, 1], got {decay}.")
        if check_real(name, "share", self.share, least=0, strict=True) >= 1:
            raise ValueError(f"{name}: share must lie in (0, 1), got {self.share}.")
        fitted = len(self.experts_) if self.__sklearn_is_fitted__() else len(self.decays)
        if fitted != len(self.decays):
            raise ValueError(
                f"{name}: decays must stay what they were on the first call to partial_fit: {fitted} numbers, got "
                f"{len(self.decays)}. Set them back, or start again with fit or a clone."
            )

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        same = all(np.array_equal(expert.classes_, self.classes_) for expert in self.experts_)
        require(same, "experts_ must have the classes of the model")
        require(bool((self.weights_ > 0).all()), "weights_ must be positive")

    @override
    def _n_scores(self, sizes: Sizes) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @override
    def _scores(self, X: Stream) -> Array:
        def work(rows: Rows) -> Array:
            found = [np.clip(expert.decision_function(rows), -1, 1) for expert in self.experts_]
            mixed = sum(float(w) * scores for w, scores in zip(self.weights_, found, strict=True))
            return np.asarray(mixed).reshape(rows.shape[0], -1)

        scores = self._results(X, work, "score", BLOCK_ROWS)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_seen_")


def _learned(expert: Expert, X: Rows, y: Array, classes: Labels) -> tuple[Expert, Array]:
    """Return an expert after a block, and its scores (n, k) before each row."""
    expert, heard = copy(expert), list[Array]()
    expert.listener = heard.append
    expert.partial_fit(X, y, classes=classes)
    del expert.listener
    return expert, np.vstack(heard)


def losses_in_unit(scores: Array, codes: Array) -> Array:
    """Return the losses (N, n), in [0, 1], of clipped scores (N, n, k) for classes by number."""
    if scores.shape[2] == 1:
        return np.asarray((1 - np.where(codes == 1, 1.0, -1.0) * scores[:, :, 0]) / 2)
    rows = np.arange(len(codes))
    others = scores.copy()
    others[:, rows, codes] = -np.inf
    return np.asarray(np.maximum(0.0, 1 + others.max(axis=2) - scores[:, rows, codes]) / 3)


def tracked(weights: Array, losses: Array, rate: float, share: float) -> tuple[Array, Array]:
    """Return the weights (n, N) of the experts before each row, and those after the last; ``losses`` are (N, n)."""
    now: list[float] = weights.tolist()
    before, floor = [], share / len(now)
    for factors in np.exp(-rate * losses.T).tolist():
        before.append(now)
        weighted = [weight * factor for weight, factor in zip(now, factors, strict=True)]
        scale = (1 - share) / sum(weighted)
        now = [scale * weight + floor for weight in weighted]
    return np.array(before), np.array(now)
