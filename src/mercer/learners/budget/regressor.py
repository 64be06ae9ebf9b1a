"""Online regression with a budget of support vectors."""

from typing import Self

import numpy as np

from mercer._typing import Array, Seed
from mercer.data import Block
from mercer.fitting import Numbers, Targets
from mercer.learners.budget.base import BudgetLearner, KernelLike, Labels, Stream
from mercer.learners.budget.plan import LOSSES_OF_NUMBERS, BudgetPlan
from mercer.learners.regression import OneTarget


class BudgetRegressor(BudgetLearner, OneTarget):
    """Online regression by a sum of at most B kernel functions.

    With ``update="newton"`` this is KRLS-T: while there are at most B rows and ``decay`` is 1, the model is the kernel
    ridge regression of all rows seen, with the penalty alpha and no intercept.

    Parameters
    ----------
    loss : "squared" or "epsilon_insensitive", optional
        (s - y)^2 / 2, or what abs(s - y) has beyond epsilon. By default the former, and the latter for
        ``update="passive_aggressive"``. ``"newton"`` takes the squared loss only.
    update : "gradient", "passive_aggressive" or "newton", default="gradient"
    epsilon : float, default=0.1
        Errors that the epsilon-insensitive loss does not see: such rows do not become support vectors.
    kernel, budget, maintenance, alpha, tolerance, decay, random_state, n_jobs, verbose : as in ``BudgetClassifier``

    Attributes
    ----------
    support_vectors_, coef_, intercept_, n_seen_, cumulative_loss_, update_, maintenance_, state_ :
        as in ``BudgetClassifier``

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.learners import BudgetRegressor
    >>> X = np.random.RandomState(0).rand(2000, 2)
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    >>> model = BudgetRegressor(Gaussian(gamma=2.0), budget=40, update="newton", alpha=1e-3).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    _losses = LOSSES_OF_NUMBERS

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        budget: int = 100,
        loss: str | None = None,
        update: str = "gradient",
        maintenance: str | None = None,
        alpha: float | None = None,
        epsilon: float = 0.1,
        tolerance: float = 1e-3,
        decay: float = 1.0,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            kernel,
            budget=budget,
            loss=loss,
            update=update,
            maintenance=maintenance,
            alpha=alpha,
            tolerance=tolerance,
            decay=decay,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.epsilon = epsilon

    def partial_fit(self, X: Stream, y: Labels = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``."""
        return self._pass(X, y, fresh=False)

    def _targets(self) -> Numbers:
        return Numbers(type(self).__name__, several=False)

    def _numbers(self, targets: Targets, block: Block) -> Array:
        column: Array = targets.encode(block)[:, 0]
        return np.ascontiguousarray(column)

    def _losses_of(self, plan: BudgetPlan, scores: Array, y: Array) -> Array:
        errors = scores[:, 0] - y
        if plan.loss == "squared":
            return np.asarray(0.5 * np.square(errors))
        return np.asarray(np.maximum(np.abs(errors) - plan.rule.epsilon, 0.0))
