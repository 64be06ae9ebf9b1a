"""The learners that the command line offers, by name."""

from typing import Any

import click

LEARNERS = ("ridge", "svm", "logistic")
# name -> the public names of its classifier and its regressor
_NAMES = {
    "ridge": ("KernelRidgeClassifier", "KernelRidge"),
    "svm": ("KernelSVC", "KernelSVR"),
    "logistic": ("KernelLogisticRegression", None),
}


def learners_of(learner: str, **options: Any) -> tuple[Any, Any]:
    """Return the classifier and the regressor of a name, unfitted; None where there is none."""
    import mercer  # noqa: PLC0415 - not for --help

    common = {"kernel": options["kernel"], "n_components": options["n_components"], "random_state": options["seed"]}
    if options["method"] != "auto":
        from mercer.features import feature_map  # noqa: PLC0415 - not for --help
        from mercer.kernels import Gaussian  # noqa: PLC0415 - not for --help

        kernel = options["kernel"] if options["kernel"] is not None else Gaussian()
        common["features"] = feature_map(
            kernel, options["n_components"], method=options["method"], random_state=options["seed"]
        )
    own = {"alpha": _alpha(options["alpha"])} if learner == "ridge" else {"C": options["C"]}
    made = [None if name is None else getattr(mercer, name)(**common, **own) for name in _NAMES[learner]]
    return made[0], made[1]


def _alpha(text: str) -> float | str:
    if text in ("gcv", "loo"):
        return text
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"it must be a number > 0, gcv or loo, got {text!r}.", param_hint="--alpha") from None
