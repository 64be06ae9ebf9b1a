"""Gram matrices and how well they are approximated.

``approximation_error`` measures any map or operator against the exact kernel on a sample of rows, and says how sure it
is of what it measured.
"""

from mercer.gram.errors import ApproximationError, Estimate, approximation_error

__all__ = ["ApproximationError", "Estimate", "approximation_error"]
