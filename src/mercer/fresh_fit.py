"""How every estimator is fitted: from its parameters alone, and all at once.

A ``fit`` works on ``unfitted(self)``, an estimator without a past, and ends with ``adopt(self, fitted)``. So nothing
of an earlier fit is left, and a fit that is refused or interrupted leaves the estimator as it was.
"""

from typing import Any, TypeVar

from mercer.state import attributes_of

Estimator = TypeVar("Estimator")

# The attribute that lists what ``fit`` has set beside what the class declares: a subclass of yours need not declare
# anything. The rest is not ours to drop: scikit-learn keeps requests for metadata, the container of outputs and
# callbacks on an estimator too, under names of its own.
_RECORD = "_fitted_names"


def unfitted(estimator: Estimator) -> Estimator:
    """Return an estimator with the same parameters, the objects themselves, and nothing that a ``fit`` has set."""
    params = estimator.get_params(deep=False)  # type: ignore[attr-defined]
    forgotten = {_RECORD, *estimator.__dict__.get(_RECORD, ()), *attributes_of(type(estimator))}.difference(params)
    cls: Any = type(estimator)
    other: Estimator = cls.__new__(cls)
    other.__dict__ = {name: value for name, value in estimator.__dict__.items() if name not in forgotten}
    return other


def adopt(estimator: Any, fitted: Any) -> None:
    """Give an estimator all attributes of a fitted one, in one step that no interruption can divide."""
    declared = attributes_of(type(estimator))
    names = set(fitted.__dict__).difference(unfitted(estimator).__dict__, declared, {_RECORD})
    estimator.__dict__ = {**fitted.__dict__, **({_RECORD: tuple(sorted(names))} if names else {})}
