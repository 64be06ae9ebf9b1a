"""The learners that the command line offers, by name."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from mercer.cli.options import KernelExpression, gathered

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels import Kernel
    from mercer.structures.domains import Domain

# name -> the names of its classifier and its regressor
LEARNERS = {
    "tuned": ("TunedClassifier", "TunedRegressor"),
    "ridge": ("KernelRidgeClassifier", "KernelRidge"),
    "svm": ("KernelSVC", "KernelSVR"),
    "logistic": ("KernelLogisticRegression", None),
}
_COMPONENTS = 1024


# domain of objects -> the kernel that is taken if none is named
OF_OBJECTS = {"strings": "Normalized(Spectrum(5, least=3))", "graphs": "Normalized(WeisfeilerLehman(3))"}


@dataclass(frozen=True)
class LearnerOptions:
    """Which learner to train, and its parameters; None where the user has said nothing."""

    learner: str | None = None
    kernel: "Kernel | None" = None
    n_components: int | str | None = None
    method: str | None = None
    alpha: str | None = None
    C: float | None = None
    time_budget: float | None = None

    @property
    def name(self) -> str:
        """The learner: tuned, unless a kernel, a map or a penalty asks for another."""
        if self.learner is not None:
            return self.learner
        asks = (self.kernel, self.n_components, self.method, self.alpha)
        return "ridge" if any(value is not None for value in asks) else "tuned" if self.C is None else "svm"

    def on(self, domain: "Domain | None") -> "LearnerOptions":
        """Return the options for objects of a domain: a kernel of the domain, and features that suit it."""
        if domain is None:
            return self
        kernel = self.kernel
        if kernel is None:
            from mercer.kernels.parse import parse_kernel  # noqa: PLC0415 - not for --help

            kernel = parse_kernel(OF_OBJECTS[domain])
        return replace(self, kernel=kernel, n_components="auto" if self.n_components is None else self.n_components)

    def learners(self, seed: int) -> "tuple[BaseEstimator | None, BaseEstimator | None]":
        """Return the classifier and the regressor, unfitted; None if the learner has no regressor."""
        from mercer.cli import library  # noqa: PLC0415 - not for --help

        self._check()
        common: dict[str, object] = {"random_state": seed}
        if self.name == "tuned":
            common["time_budget"] = self.time_budget
        else:
            n_components = _COMPONENTS if self.n_components is None else self.n_components
            common |= {"kernel": self.kernel, "n_components": n_components}
            if self.method not in (None, "auto"):
                kernel = self.kernel if self.kernel is not None else library.Gaussian()
                width = 2**18 if isinstance(n_components, str) else n_components
                common["features"] = library.feature_map(kernel, width, method=self.method, random_state=seed)
            common |= {"alpha": self._penalty()} if self.name == "ridge" else {"C": 1.0 if self.C is None else self.C}
        classifier, regressor = (
            None if name is None else getattr(library, name)(**common) for name in LEARNERS[self.name]
        )
        return classifier, regressor

    def _check(self) -> None:
        """Refuse an option that the learner does not have."""
        of_maps = {"--kernel": self.kernel, "--n-components": self.n_components, "--method": self.method}
        allowed: dict[str, set[str]] = {
            "tuned": {"--time-budget"},
            "ridge": {*of_maps, "--alpha"},
            "svm": {*of_maps, "--C"},
            "logistic": {*of_maps, "--C"},
        }
        given = of_maps | {"--alpha": self.alpha, "--C": self.C, "--time-budget": self.time_budget}
        for option, value in given.items():
            if value is not None and option not in allowed[self.name]:
                models = [name for name, options in allowed.items() if option in options]
                raise click.UsageError(f"{option} is an option of --model {' and '.join(models)}, not of {self.name}.")

    def _penalty(self) -> float | str:
        if self.alpha is None or self.alpha in ("gcv", "loo"):
            return self.alpha or "loo"
        try:
            return float(self.alpha)
        except ValueError:
            message = f"it must be a number > 0, gcv or loo, got {self.alpha!r}."
            raise click.BadParameter(message, param_hint="--alpha") from None


learner_options = gathered(
    "chosen",
    LearnerOptions,
    click.option(
        "--model",
        "--learner",
        "learner",
        type=click.Choice(list(LEARNERS)),
        help="tuned (default) chooses everything itself; ridge, svm and logistic train on random features.",
    ),
    click.option("--kernel", type=KernelExpression(), help='Such as "Gaussian(gamma=0.5) + 0.1*Linear()".'),
    click.option(
        "--n-components",
        "-D",
        type=click.IntRange(min=1),
        help="Features, for ridge, svm and logistic; 1024 by default.",
    ),
    click.option("--method", help="Feature map, such as fourier or nystroem; chosen from the kernel by default."),
    click.option("--alpha", help="Penalty, for ridge: a number, gcv or loo (default)."),
    click.option("--C", "C", type=float, help="Weight of the losses, for svm and logistic; 1 by default."),
    click.option(
        "--time-budget",
        type=click.FloatRange(0, min_open=True),
        help="Seconds, a soft limit, for tuned; none by default.",
    ),
)
