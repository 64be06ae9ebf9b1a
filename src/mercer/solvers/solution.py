"""What a solver returns."""

from dataclasses import dataclass, field
from typing import Any

from mercer._typing import Array
from mercer.state import Count, Many, Plain, Real, Stored, Table, Text, part


@part("Solution")
@dataclass(frozen=True)
class Solution:
    """The value found, how it ended, and what it took.

    Attributes
    ----------
    value : ndarray
    status : str
        "success", or what went wrong in a word or two.
    iterations : int
        0 for direct solvers.
    history : tuple of float
        The solver's measure of error after each iteration.
    advice : str
        What to change where the status is not success.
    details : dict
        What else there is to say, by name: the ``solver``, and from learners the ``block_rows``.
    gap : float or None
        How far the objective is from its minimum at most, relative to it, where the solver knows.
    """

    _stored = Stored(
        value=Plain(),
        status=Text(),
        iterations=Count(),
        history=Many(Real(finite=False), of=tuple),
        advice=Text(),
        details=Table(Text(), Plain()),
        gap=Real(finite=False, nullable=True),
    )

    value: Array
    status: str = "success"
    iterations: int = 0
    history: tuple[float, ...] = ()
    advice: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    gap: float | None = None

    @property
    def success(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.status == "success"
