"""What a budget learner does with a row and with a support vector too many: parameters, checked, and what fits what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mercer import core
from mercer._typing import Array
from mercer.core import BUDGET_MAINTENANCE
from mercer.kernels import Gaussian, Kernel
from mercer.validation import check_integer, check_real

_ANY_STEP = ("merge", "project", "project_newest", "absorb", "absorb_nearest", "remove", "oldest", "random")
_BY_CHANCE = ("stochastic", "stochastic_weighted")
# The maintenance that each update goes with, and why not with the others.
MAINTENANCE: Mapping[str, tuple[str, ...]] = {
    "gradient": (*_ANY_STEP, *_BY_CHANCE),
    "perceptron": (*_ANY_STEP, "shrink"),
    "margin_perceptron": ("project_newest",),
    "passive_aggressive": _ANY_STEP,
    "newton": ("project", "oldest"),
}
_WHY_NOT: Mapping[str, str] = {
    "shrink": "the shrinking of the Forgetron is tuned to the mistakes of update='perceptron'",
    "stochastic": "unbiased removal is analysed for update='gradient' alone",
    "stochastic_weighted": "unbiased removal is analysed for update='gradient' alone",
    "margin_perceptron": "Projectron++ takes its steps on margin errors along the projection of the newest row",
    "newton": "Newton steps carry the posterior of a Gaussian process, where a support vector can only be marginalised",
}
# The losses of each update, of classes and of numbers, the usual one first.
LOSSES_OF_CLASSES: Mapping[str, tuple[str, ...]] = {
    "gradient": ("hinge", "squared_hinge", "logistic", "squared"),
    "perceptron": ("hinge",),
    "margin_perceptron": ("hinge",),
    "passive_aggressive": ("hinge", "squared_hinge", "squared"),
    "newton": ("squared",),
}
LOSSES_OF_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "gradient": ("squared", "epsilon_insensitive"),
    "passive_aggressive": ("epsilon_insensitive", "squared"),
    "newton": ("squared",),
}
_ALPHAS: Mapping[str, float] = {"gradient": 1e-4, "passive_aggressive": 1.0, "newton": 0.1}
_LIPSCHITZ = ("hinge", "logistic", "epsilon_insensitive")


class BudgetParameters(Protocol):
    """The parameters of a budget learner, as its constructor stores them."""

    budget: int
    loss: str | None
    update: str
    maintenance: str | None
    alpha: float | None
    epsilon: float
    tolerance: float
    decay: float


@dataclass(frozen=True)
class BudgetPlan:
    """The parameters of a budget learner, checked, with the values that None stands for."""

    rule: core.BudgetRule
    loss: str
    alpha: float
    decay: float

    @classmethod
    def of(
        cls, owner: str, params: BudgetParameters, kernel: Kernel, losses: Mapping[str, tuple[str, ...]]
    ) -> "BudgetPlan":
        """Check the parameters of an estimator and its kernel; ``losses`` are those that each update goes with."""
        update = _one_of(owner, "update", params.update, tuple(losses))
        maintenance = _maintenance(owner, update, params.maintenance, kernel)
        loss = losses[update][0] if params.loss is None else params.loss
        known = losses[update]
        if maintenance in _BY_CHANCE:
            known = tuple(name for name in known if name in _LIPSCHITZ)
            loss = known[0] if params.loss is None else loss
        if not isinstance(loss, str) or loss not in known:
            raise ValueError(
                f"{owner}: loss must be one of {list(known)} with update={update!r} and maintenance={maintenance!r}, "
                f"got {loss!r}. Choose one of these, or leave loss out."
            )
        given = _ALPHAS.get(update, 1.0) if params.alpha is None else params.alpha
        alpha = check_real(owner, "alpha", given, least=0, strict=True)
        epsilon = check_real(owner, "epsilon", params.epsilon, least=0)
        tolerance = check_real(owner, "tolerance", params.tolerance, least=0)
        number = core.LOSSES.index("absolute" if loss == "epsilon_insensitive" else loss)
        budget = check_integer(owner, "budget", params.budget)
        rule = core.BudgetRule(update, maintenance, number, min(budget, 2**62), epsilon, alpha, tolerance)
        return cls(rule, loss, alpha, _decay(owner, params.decay))

    @property
    def keeps_between(self) -> bool:
        """Whether kernel values between support vectors are kept."""
        maintenance, newton = self.rule.maintenance, self.rule.update == "newton"
        return newton or self.keeps_inverse or maintenance in ("shrink", "absorb_nearest")

    @property
    def keeps_inverse(self) -> bool:
        """Whether the inverse of their Gram matrix is kept."""
        return self.rule.update == "newton" or self.rule.maintenance in ("project", "project_newest")

    @property
    def state(self) -> tuple[str, str, bool, bool]:
        """What a later call must not change: what is kept of the support vectors depends on it."""
        return self.rule.update, self.rule.maintenance, self.keeps_between, self.keeps_inverse

    def steps(self, n_seen: int, norms: Array) -> tuple[Array, Array]:
        """Return the step sizes of the next rows, and the factors by which each shrinks the coefficients before it.

        The steps of gradient descent are 1 / (alpha t + 1) at the t-th row, as in Pegasos but for the 1, which bounds
        the first; with a decay, t is the sum of the weights of the rows so far. Steps for squared losses never go
        beyond their least value.
        """
        n = len(norms)
        if self.rule.update != "gradient":
            return np.ones(n), np.full(n, self.decay)
        t = np.arange(n_seen + 1, n_seen + n + 1, dtype=np.float64)
        if self.decay < 1:
            t = (1 - self.decay**t) / (1 - self.decay)
        steps = 1 / (self.alpha * t + 1)
        shrinks = self.decay * (1 - self.alpha * steps)
        if self.loss in ("squared", "squared_hinge"):
            steps = np.minimum(steps, 1 / np.maximum(norms, np.finfo(np.float64).tiny))
        return steps, shrinks


def _maintenance(owner: str, update: str, given: str | None, kernel: Kernel) -> str:
    allowed = MAINTENANCE[update]
    mergeable = isinstance(kernel, Gaussian)
    if given is None:
        return allowed[0] if allowed[0] != "merge" or mergeable else "project"
    maintenance = _one_of(owner, "maintenance", given, BUDGET_MAINTENANCE)
    if maintenance not in allowed:
        why = _WHY_NOT.get(maintenance) or _WHY_NOT[update]
        raise ValueError(
            f"{owner}: maintenance={maintenance!r} does not go with update={update!r}: {why}. "
            f"Choose one of {list(allowed)}."
        )
    if maintenance == "merge" and not mergeable:
        raise ValueError(
            f"{owner}: maintenance='merge' needs a Gaussian kernel, of which one support vector between two stands in "
            f"for both, got {kernel!r}. Choose maintenance='project', which takes any kernel."
        )
    return maintenance


def _one_of(owner: str, name: str, value: object, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{owner}: {name} must be one of {list(known)}, got {value!r}.")
    return value


def _decay(owner: str, value: float) -> float:
    decay = check_real(owner, "decay", value, least=0, strict=True)
    if decay > 1:
        raise ValueError(f"{owner}: decay must lie in (0, 1], got {decay}. 1 forgets nothing, 0.999 about 1000 rows.")
    return decay
