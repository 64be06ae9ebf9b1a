"""The learners that the command line offers, by name."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from mercer.cli.options import KernelExpression, gathered

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels import Kernel

# name -> the names of its classifier and its regressor
LEARNERS = {
    "ridge": ("KernelRidgeClassifier", "KernelRidge"),
    "svm": ("KernelSVC", "KernelSVR"),
    "logistic": ("KernelLogisticRegression", None),
}


@dataclass(frozen=True)
class LearnerOptions:
    """Which learner to train, and its parameters."""

    learner: str = "ridge"
    kernel: "Kernel | None" = None
    n_components: int = 1024
    method: str = "auto"
    alpha: str = "1.0"
    C: float = 1.0

    def learners(self, seed: int) -> "tuple[BaseEstimator, BaseEstimator | None]":
        """Return the classifier and the regressor, unfitted; None if the learner has no regressor."""
        from mercer.cli import library  # noqa: PLC0415 - not for --help

        common: dict[str, object] = {"kernel": self.kernel, "n_components": self.n_components, "random_state": seed}
        if self.method != "auto":
            kernel = self.kernel if self.kernel is not None else library.Gaussian()
            common["features"] = library.feature_map(kernel, self.n_components, method=self.method, random_state=seed)
        common |= {"alpha": self._penalty()} if self.learner == "ridge" else {"C": self.C}
        classifier, regressor = (
            None if name is None else getattr(library, name)(**common) for name in LEARNERS[self.learner]
        )
        return classifier, regressor

    def _penalty(self) -> float | str:
        if self.alpha in ("gcv", "loo"):
            return self.alpha
        try:
            return float(self.alpha)
        except ValueError:
            message = f"it must be a number > 0, gcv or loo, got {self.alpha!r}."
            raise click.BadParameter(message, param_hint="--alpha") from None


learner_options = gathered(
    "chosen",
    LearnerOptions,
    click.option("--learner", type=click.Choice(list(LEARNERS)), default="ridge", show_default=True),
    click.option("--kernel", type=KernelExpression(), help='Such as "Gaussian(gamma=0.5) + 0.1*Linear()".'),
    click.option("--n-components", "-D", type=click.IntRange(min=1), default=1024, show_default=True),
    click.option("--method", default="auto", show_default=True, help="Feature map, such as fourier or nystroem."),
    click.option("--alpha", default="loo", show_default=True, help="Penalty, for ridge: a number, gcv or loo."),
    click.option(
        "--C", "C", type=float, default=1.0, show_default=True, help="Weight of the losses, for svm and logistic."
    ),
)
