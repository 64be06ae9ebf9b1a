"""How every estimator is fitted: from its parameters alone, and all at once.

A ``fit`` works on ``unfitted(self)``, a copy that holds the parameters alone, and ends with ``adopt(self, fitted)``. So
nothing of an earlier fit is left, and a fit that is refused or interrupted leaves the estimator as it was.
"""

from typing import Protocol, TypeVar

from mercer.state import attributes_of


class HasParams(Protocol):
    """An estimator, as far as a fit is concerned."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name."""


Estimator = TypeVar("Estimator", bound=HasParams)

# The attribute that lists what ``fit`` has set in addition to what the class declares: a subclass of yours need not
# declare anything. All other attributes stay: scikit-learn too keeps some on an estimator (requests for metadata, the
# container of outputs, callbacks).
_RECORD = "_fitted_names"


def unfitted(estimator: Estimator) -> Estimator:
    """Return an estimator with the same parameters, the objects themselves, and nothing that a ``fit`` has set."""
    params = estimator.get_params(deep=False)
    forgotten = {_RECORD, *estimator.__dict__.get(_RECORD, ()), *attributes_of(type(estimator))}.difference(params)
    other = object.__new__(type(estimator))
    other.__dict__ = {name: value for name, value in estimator.__dict__.items() if name not in forgotten}
    return other


def adopt(estimator: Estimator, fitted: Estimator) -> None:
    """Give an estimator all attributes of a fitted one, in one step that no interruption can divide."""
    earlier = set(estimator.__dict__).difference(estimator.__dict__.get(_RECORD, ()))
    names = set(fitted.__dict__).difference(earlier, attributes_of(type(estimator)), {_RECORD})
    if names:
        names = names.difference(estimator.get_params(deep=False))
    estimator.__dict__ = {**fitted.__dict__, **({_RECORD: tuple(sorted(names))} if names else {})}
