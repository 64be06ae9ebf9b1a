"""The one place that words input errors: the argument, the rule, the value, the way out."""

from mercer.validation.csr import canonical_csr, check_csr
from mercer.validation.dates import dates_refused, is_date, refuse_dates
from mercer.validation.entries import (
    block_norm,
    check_finite_features,
    check_finite_result,
    check_non_negative,
    refuse_infinity,
)
from mercer.validation.frames import collected
from mercer.validation.memory import check_memory
from mercer.validation.numbering import row_number, rows_from
from mercer.validation.parameters import check_integer, check_jobs, check_real
from mercer.validation.rows import FLOATS, check_matrix, check_rows, check_same_width, refuse_collections
from mercer.validation.targets import check_finite_y, check_weights

__all__ = [
    "FLOATS",
    "block_norm",
    "canonical_csr",
    "check_csr",
    "check_finite_features",
    "check_finite_result",
    "check_finite_y",
    "check_integer",
    "check_jobs",
    "check_matrix",
    "check_memory",
    "check_non_negative",
    "check_real",
    "check_rows",
    "check_same_width",
    "check_weights",
    "collected",
    "dates_refused",
    "is_date",
    "refuse_collections",
    "refuse_dates",
    "refuse_infinity",
    "row_number",
    "rows_from",
]
