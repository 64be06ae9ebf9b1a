"""The promises of a learner: the same from arrays and streams, no change by an interrupted fit, never NaN."""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils.estimator_checks import check_estimator

from mercer._typing import Array, Rows
from mercer.config import changed_config
from mercer.data import Blocks, as_blocks
from mercer.testing.fitted import check_fitted
from mercer.testing.refits import check_refits

# Number of rows of the fits that are repeated many times.
_FEW_ROWS = 100


def check_learner(
    learner: BaseEstimator,
    X: Rows | None = None,
    y: Array | None = None,
    *,
    rtol: float = 1e-3,
    sklearn_checks: bool = True,
    others: Mapping[str, Sequence[object]] | None = None,
) -> None:
    """Check a learner: scikit-learn's contract, streams, threads, types, interruptions, refits, and no NaN.

    Parameters
    ----------
    learner : unfitted estimator
    X, y : arrays, optional
        Rows to learn from, in float64; by default 5000 rows, with 3 classes, numbers or no y as the learner needs.
    rtol : float
        Allowed difference between float32 and float64 rows, and between CSR and dense ones, in units of the largest
        score: the difference that the tolerance of the solver allows.
    sklearn_checks : bool
        Whether to run scikit-learn's own checks too.
    others : dict of parameter name to values, optional
        Values to change a parameter to between two fits, as in ``check_refits``.
    """
    if sklearn_checks:
        check_estimator(clone(learner))
    given = X
    X = np.random.RandomState(0).standard_normal((5000, 3)) if X is None else np.asarray(X, dtype=np.float64)
    if y is None and (is_classifier(learner) or is_regressor(learner)):
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
        y = np.array(["low", "middle", "top"])[np.digitize(y, [-0.5, 0.5])] if is_classifier(learner) else y
    model = clone(learner)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    expected = _outputs(clone(model).fit(X, y), X)
    for name, values in expected.items():
        assert values.dtype.kind not in "fc" or np.isfinite(values).all(), f"{name} returns NaN or inf"
    _check_streams(model, X, y, expected)
    _check_rows_as(model, X, y, expected, rtol)
    _check_interruptions(model, X, y)
    _check_never_nan(model, X, y)
    few, labels = (None, None) if given is None else (X[:_FEW_ROWS], None if y is None else y[:_FEW_ROWS])
    check_refits(learner, few, labels, others=others)
    check_fitted(learner, few, labels)


def _outputs(model: BaseEstimator, X: Rows) -> dict[str, Array]:
    names = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
    return {name: np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)}


def _check_streams(model: BaseEstimator, X: Array, y: Array | None, expected: dict[str, Array]) -> None:
    cuts = [0, 10, len(X) // 2, len(X)]

    def pieces() -> Iterator[object]:
        for a, b in pairwise(cuts):
            yield X[a:b] if y is None else (X[a:b], y[a:b])

    fits = {"blocks": as_blocks(X, y, block_rows=77), "an iterator of blocks": as_blocks(pieces), "an array": X}
    for what, source in fits.items():
        for threads in (1, 2):
            with changed_config(threads=threads):
                fitted = clone(model).fit(*((source,) if isinstance(source, Blocks) else (source, y)))
                fitted = pickle.loads(pickle.dumps(fitted))
                for name, values in _outputs(fitted, X).items():
                    message = f"{name} differs after a fit on {what} with {threads} threads"
                    np.testing.assert_array_equal(values, expected[name], err_msg=message)
                if "predict" in expected:
                    np.testing.assert_array_equal(fitted.predict(as_blocks(X)), expected["predict"])
                if is_classifier(model) or is_regressor(model):
                    # Two sums of squares in two orders: the last bits depend on the machine.
                    message = "blocks score otherwise than arrays"
                    np.testing.assert_allclose(
                        fitted.score(as_blocks(X, y)), fitted.score(X, y), 1e-12, err_msg=message
                    )


def _check_rows_as(model: BaseEstimator, X: Array, y: Array | None, expected: dict[str, Array], rtol: float) -> None:
    for what, rows in (("CSR", sparse.csr_array(X)), ("float32", X.astype(np.float32))):
        for name, values in _outputs(clone(model).fit(rows, y), rows).items():
            if values.dtype.kind in "fc":
                scale = np.abs(expected[name]).max()
                np.testing.assert_allclose(values, expected[name], atol=rtol * scale, err_msg=f"{what} differs")
            else:
                agree = np.mean(values == expected[name])
                assert agree >= 1 - 10 * rtol, f"{what} rows: {name} agrees with float64 on {agree:.2%} only"


class _Interrupted:
    """A source of rows that counts its passes, and is interrupted in the middle of one of them."""

    def __init__(self, X: Array, y: Array | None, at: int):
        self.X, self.y, self.at, self.passes = X, y, at, 0

    def __call__(self) -> Iterator[object]:
        half = len(self.X) // 2
        yield self.X[:half] if self.y is None else (self.X[:half], self.y[:half])
        self.passes += 1
        if self.passes == self.at:
            raise KeyboardInterrupt
        yield self.X[half:] if self.y is None else (self.X[half:], self.y[half:])


def _check_interruptions(model: BaseEstimator, X: Array, y: Array | None) -> None:
    """Interrupt each pass of a fit: an unfitted learner stays unfitted, a fitted learner stays as it was."""
    counted = _Interrupted(X, y, 0)
    fitted = clone(model).fit(as_blocks(counted))
    before = _outputs(fitted, X)
    attributes = set(vars(model))
    for at in range(1, counted.passes + 1):
        for one in (fitted, clone(model)):
            try:
                one.fit(as_blocks(_Interrupted(X, y, at)))
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError(f"the interruption of pass {at} was lost")
            if one is not fitted:
                assert set(vars(one)) == attributes, f"half fitted after an interruption of pass {at}"
        for name, values in _outputs(fitted, X).items():
            np.testing.assert_array_equal(values, before[name], err_msg=f"{name} changed by an interrupted fit")


def _check_never_nan(model: BaseEstimator, X: Array, y: Array | None) -> None:
    few, labels = X[:200], None if y is None else y[:200]
    for value in (np.nan, np.inf):
        broken = few.copy()
        broken[7, 1] = value
        for source in (broken, as_blocks(broken, labels)):
            message = ""
            try:
                clone(model).fit(*((source,) if isinstance(source, Blocks) else (source, labels)))
            except ValueError as error:
                message = str(error)
            assert "row 7" in message, f"a row with {value} was not refused by its number, but: {message or 'taken'}"
    large = few.astype(np.float32) * np.float32(1e30)
    try:
        outputs = _outputs(clone(model).fit(large, labels), large)
    except ValueError:
        return  # an error is right too
    for name, values in outputs.items():
        assert values.dtype.kind not in "fc" or np.isfinite(values).all(), f"{name} of large rows is NaN or inf"
