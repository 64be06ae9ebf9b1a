"""The promise of a second fit: its result is that of a fresh estimator, bit for bit."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from mercer._typing import Array, Rows
from mercer.features import FeatureMap
from mercer.structures import Ragged
from mercer.testing.estimators import as_double, fitted_quietly, outputs, rows_for, seeded, targets_for
from mercer.testing.options import WITHOUT_EFFECT, other_values
from mercer.testing.sameness import assert_same

# Number of other values tried per parameter. Maps, which take milliseconds, try all kernels.
_MOST_VALUES = 2


def check_refits(
    estimator: BaseEstimator,
    X: Rows | None = None,
    y: Array | None = None,
    *,
    others: Mapping[str, Sequence[object]] | None = None,
) -> None:
    """Check that a fit forgets the earlier fit: a refitted estimator equals a fresh one, bit for bit.

    Fits on other rows (more columns, fewer, CSR, float32, other targets) and with another value of each constructor
    parameter are tried before and after a fit of the estimator as it is. All outputs and all attributes are compared,
    so that no attribute of the earlier fit stays. A refit that is refused must leave all attributes as they were.

    Parameters
    ----------
    estimator : unfitted map or learner
    X, y : arrays, optional
        Rows to fit on, in float64, or packed objects; by default 40 rows of 10 columns, with 3 classes, numbers or no y
        as it needs.
    others : dict of parameter name to values, optional
        Values to change a parameter to. Needed for a parameter if the kit knows no other value that ``fit`` takes; an
        empty list says that there is no other value.

    Notes
    -----
    ``warm_start=True`` is tried only before another fit: after a fit, it may start from the earlier solution.
    ``verbose`` is left out: it only prints.

    Examples
    --------
    >>> from mercer import FourierFeatures
    >>> from mercer.testing import check_refits
    >>> check_refits(FourierFeatures(n_components=16))
    """
    X = rows_for(estimator) if X is None else as_double(X)
    base = _Fit("as it is", seeded(estimator), X, targets_for(estimator, X) if y is None else y)
    assert base.fresh is not None, f"{estimator!r} cannot be fitted on these rows"
    for one, other in _pairs(base, others or {}):
        _check_pair(one, other)


@dataclass
class _Fit:
    """Parameters, rows and targets of a fit, and the freshly fitted estimator; None if the fit is refused."""

    what: str
    estimator: BaseEstimator
    X: Rows
    y: Array | None = None

    def __post_init__(self) -> None:
        self.fresh = None
        try:
            self.fresh = self.of(clone(self.estimator))
        except (ValueError, TypeError, MemoryError):
            return
        self.outputs = outputs(self.fresh, self.X)

    def of(self, estimator: BaseEstimator) -> BaseEstimator:
        """Fit an estimator, with these parameters."""
        estimator.set_params(**clone(self.estimator).get_params(deep=False))
        return fitted_quietly(estimator, self.X, self.y)


def _pairs(base: _Fit, others: Mapping[str, Sequence[object]]) -> Iterator[tuple[_Fit, _Fit]]:
    """Yield fits that follow each other."""
    rows = {fit.what: fit for fit in _on_other_rows(base)}
    for fit in (*rows.values(), *_with_other_values(base, others)):
        yield base, fit
        yield fit, base
    one, other = list(rows.values())[:2]
    yield one, other
    yield other, one


def _on_other_rows(base: _Fit) -> Iterator[_Fit]:
    estimator = base.estimator
    if isinstance(base.X, Ragged):
        yield from _on_other_objects(base, base.X)
        return
    for what, shape in (("more columns", (50, 70)), ("fewer columns", (30, 3))):
        X = rows_for(estimator, *shape)
        yield _Fit(what, estimator, X, targets_for(estimator, X))
    yield _Fit("CSR rows", estimator, sparse.csr_array(base.X), base.y)
    yield _Fit("float32 rows", estimator, base.X.astype(np.float32), base.y)
    y = targets_for(estimator, base.X, other=True)
    if y is not None:
        yield _Fit("other targets", estimator, base.X, y)


def _on_other_objects(base: _Fit, X: Ragged) -> Iterator[_Fit]:
    """Yield fits on fewer objects, on objects in another order, in another precision, and with other targets."""
    y = base.y
    half = len(X) // 2 + 1
    yield _Fit("fewer objects", base.estimator, X[:half], None if y is None else y[:half])
    yield _Fit("objects in another order", base.estimator, X[::-1], None if y is None else y[::-1])
    yield _Fit("float32 features", base.estimator, X.astype(np.float32), y)
    other = targets_for(base.estimator, X, other=True)
    if other is not None:
        yield _Fit("other targets", base.estimator, X, other)


def _with_other_values(base: _Fit, others: Mapping[str, Sequence[object]]) -> Iterator[_Fit]:
    estimator = base.estimator
    unknown = set(others) - set(estimator.get_params(deep=False))
    assert not unknown, f"others names {sorted(unknown)}, which {type(estimator).__name__} has no parameters for"
    for name, current in estimator.get_params(deep=False).items():
        if name not in WITHOUT_EFFECT:
            values = others[name] if name in others else other_values(name, current)
            # Both values of a bool are known, and an empty list says that there is no other.
            may_be_none = isinstance(current, bool) or (name in others and not values)
            yield from _with_values(base, name, values, may_be_none=may_be_none)


def _with_values(base: _Fit, name: str, values: Sequence[object], *, may_be_none: bool) -> Iterator[_Fit]:
    most = len(values) if isinstance(base.estimator, FeatureMap) and name == "kernel" else _MOST_VALUES
    n_taken, n_refused = 0, 0
    for value in values:
        changed = clone(base.estimator).set_params(**{name: value})
        fit = replace(base, what=f"{name}={value!r}", estimator=changed)
        n_taken, n_refused = n_taken + (fit.fresh is not None), n_refused + (fit.fresh is None)
        if fit.fresh is not None or n_refused == 1:
            yield fit
        if n_taken == most:
            return
    assert n_taken or may_be_none, (
        f"{type(base.estimator).__name__}: fit takes none of {list(values)} for {name!r}. Give values that it takes: "
        f"others={{{name!r}: [...]}}."
    )


def _check_pair(one: _Fit, other: _Fit) -> None:
    """Check the second of two fits."""
    if one.fresh is None or other.estimator.get_params(deep=False).get("warm_start", False):
        return
    message = f"{type(one.estimator).__name__}, fitted {one.what} and then {other.what}"
    refitted = deepcopy(one.fresh)
    if isinstance(refitted, FeatureMap):
        outputs(refitted, one.X)  # with what a map stores about its arrays
    if other.fresh is None:
        _check_refused(refitted, other, message)
        return
    refitted = other.of(refitted)
    left = set(refitted.__dict__) - set(other.fresh.__dict__)
    assert not left, f"{message}: the earlier fit has left {sorted(left)}"
    for name, value in other.fresh.__dict__.items():
        assert name in refitted.__dict__, f"{message}: {name} is missing"
        assert_same(refitted.__dict__[name], value, f"{message}: {name}")
    for name, values in outputs(refitted, other.X).items():
        assert_same(values, other.outputs[name], f"{message}: {name}(X)")


def _check_refused(fitted: BaseEstimator, other: _Fit, message: str) -> None:
    """Check that a refused fit changes nothing but the parameters that were set."""
    before, params = dict(fitted.__dict__), fitted.get_params(deep=False)
    try:
        other.of(fitted)
    except (ValueError, TypeError, MemoryError):
        fitted.set_params(**params)
    else:
        raise AssertionError(f"{message}: a fresh estimator refuses what this one took")
    assert set(fitted.__dict__) == set(before), f"{message}: the refused fit has changed the attributes"
    changed = [name for name, value in before.items() if fitted.__dict__[name] is not value]
    assert not changed, f"{message}: the refused fit has changed {changed}"
