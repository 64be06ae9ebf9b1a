"""Targets y and sample weights."""

import numbers

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array
from mercer.validation.numbering import row_number

_LARGEST_WEIGHT = 1e100


def check_finite_y(owner: str, y: Array) -> Array:
    """Return y, or name its first row that is not finite, in words that scikit-learn's checks look for."""
    if y.dtype.kind != "f" or np.isfinite(y).all():
        return y
    row = row_number(int(np.argmin(np.isfinite(y).reshape(len(y), -1).all(axis=1))))
    what = "NaN" if np.isnan(y).any() else f"infinity or a value too large for {y.dtype!r}"
    raise ValueError(f"{owner}: Input y contains {what}. The first is in row {row}. Leave such rows out.")


def check_weights(owner: str, weights: ArrayLike, n_rows: int, *, all_zero: bool = False) -> Array:
    """Return sample weights as float64: one finite number >= 0 per row, not all 0 unless ``all_zero``."""
    values: Array = np.asarray(weights)
    if values.ndim == 0 and isinstance(weights, numbers.Real):
        values = np.full(n_rows, weights)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{owner}: sample_weight.shape == {values.shape}, expected {(n_rows,)}: each row needs one weight."
        )
    if values.dtype.kind not in "biufO":
        raise ValueError(
            f"{owner}: sample_weight must hold finite numbers >= 0, got an array of {values.dtype}. Convert it first."
        )
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{owner}: sample_weight must hold finite numbers >= 0, but {error}.") from None
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{owner}: sample_weight must hold finite numbers >= 0, got {values[row]} at row {row_number(row)}."
        )
    if values.max(initial=0.0) > _LARGEST_WEIGHT:
        row = int(np.argmax(values))
        raise ValueError(
            f"{owner}: sample_weight must hold numbers up to {_LARGEST_WEIGHT:g}, so that sums and squares of them are "
            f"finite, got {values[row]} at row {row_number(row)}. Divide all weights by one number."
        )
    if not all_zero and not values.any():
        raise ValueError(f"{owner}: sample_weight must not be all zero. Leave it out for equal weights.")
    return values
