"""Online learning with a budget of support vectors, one row at a time: the plain loops that the compiled ones equal."""

from mercer.reference.budget.exponents import gaussian_exponents
from mercer.reference.budget.loop import budget_learn

__all__ = ["budget_learn", "gaussian_exponents"]
