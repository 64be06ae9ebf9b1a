"""The promise of a fitted estimator: only another fit changes its results."""

from collections.abc import Iterator
from copy import deepcopy
from typing import NoReturn

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer._typing import Array, Rows
from mercer.structures import Ragged
from mercer.testing.estimators import as_double, fitted_quietly, outputs, rows_for, seeded, targets_for
from mercer.testing.sameness import assert_same

# Parameters that a fitted estimator may read: they say how to compute, not what.
_READ_AFTER_FIT = frozenset({"n_jobs", "verbose"})


def check_fitted(estimator: BaseEstimator, X: Rows | None = None, y: Array | None = None) -> None:
    """Check that later changes of parameters and of training arrays do not change the results of a fitted estimator.

    After ``fit``, each parameter but ``n_jobs`` and ``verbose`` is set to a value that cannot be used, and the arrays,
    lists and dicts among the parameters, X and y are overwritten in place.

    Parameters
    ----------
    estimator : unfitted map or learner
    X, y : arrays, optional
        Rows to fit on, in float64, or packed objects; by default 40 rows of 10 columns, with 3 classes, numbers or no y
        as it needs.

    Examples
    --------
    >>> from mercer.features import Rescale
    >>> from mercer.testing import check_fitted
    >>> check_fitted(Rescale(scale=2.0))
    """
    X = rows_for(estimator) if X is None else as_double(X)
    y = targets_for(estimator, X) if y is None else y
    for rows in (X,) if isinstance(X, Ragged) else (X, sparse.csr_array(X)):
        _check_parameters(seeded(estimator), rows, y)
        _check_arrays(estimator, rows, y)


class _Unusable:
    """A value that cannot be used: any read fails with the name of the parameter."""

    def __init__(self, name: str):
        self._name = name

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise AssertionError(f"{self._name} is read after fit")

    __bool__ = __len__ = __iter__ = __call__ = __getitem__ = __contains__ = __array__ = _refuse
    __int__ = __float__ = __index__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def _check_parameters(estimator: BaseEstimator, X: Rows, y: Array | None) -> None:
    model = fitted_quietly(estimator, X, y)
    expected = outputs(model, X)
    for name, value in model.get_params(deep=False).items():
        if name in _READ_AFTER_FIT:
            continue
        what = f"{type(model).__name__}, with another {name} after fit"
        for other in (_Unusable(what), None):
            model.set_params(**{name: other})
            for method, values in outputs(model, X).items():
                assert_same(values, expected[method], f"{what}: {method}(X)")
        model.set_params(**{name: value})


def _check_arrays(estimator: BaseEstimator, X: Rows, y: Array | None) -> None:
    given_X, given_y = deepcopy(X), deepcopy(y)
    model = seeded(estimator)
    given = {name: deepcopy(value) for name, value in model.get_params(deep=False).items()}
    model = fitted_quietly(model.set_params(**given), given_X, given_y)
    expected = outputs(model, X)
    for what, values in (("X", given_X), ("y", given_y), *given.items()):
        if not _overwrite(values):
            continue
        for method, values_now in outputs(model, X).items():
            message = f"{type(model).__name__}, with {what} overwritten after fit: {method}(X)"
            assert_same(values_now, expected[method], message)


def _overwrite(value: object) -> bool:
    """Overwrite a value that can be changed in place; return whether anything was overwritten."""
    arrays = list(_arrays(value))
    for array in arrays:
        array[...] = array.ravel()[::-1].reshape(array.shape) if array.dtype.kind in "OUS" else 7
    if isinstance(value, list | dict):
        value.clear()
    return bool(arrays) or isinstance(value, list | dict)


def _arrays(value: object) -> Iterator[Array]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, sparse.csr_array | sparse.csr_matrix):
        yield value.data
    elif isinstance(value, BaseEstimator):
        for inner in value.get_params(deep=False).values():
            yield from _arrays(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _arrays(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _arrays(inner)
