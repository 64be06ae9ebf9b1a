"""The result of a solver: the value found, how the solver ended, and the iterations."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from mercer._typing import Array
from mercer.state import Count, Many, OneOf, Plain, Real, Stored, Table, Text, part


class Status(StrEnum):
    """How a solver ended. A member compares and prints as its text.

    >>> Status.STALLED == "stalled", f"{Status.STALLED}"
    (True, 'stalled')
    """

    SUCCESS = "success"  # the certificate is within the tolerance, or within rounding
    ITERATION_LIMIT = "iteration limit"  # the certificate still improved when the iterations ended
    STALLED = "stalled"  # rounding ended the progress before the tolerance
    CALLBACK = "stopped by the callback"  # the callback of config_context asked for this
    ILL_CONDITIONED = "ill-conditioned"  # the matrix has no factor in this precision


class Remedy(StrEnum):
    """What a user can change if a solver did not reach its tolerance: all advice consists of these."""

    MAX_ITER = "raise max_iter"
    MAX_ITER_OR_TOL = "raise max_iter or tol"
    ALPHA = "raise alpha"
    ALPHAS = "give larger alphas"
    LEAST_ALPHA = "raise the least of alphas"
    PENALTY = "raise the penalty (lower C)"
    COST = "lower C"
    SCALE = "scale the features"
    FLOAT64 = "pass float64 rows"
    MEMORY = "give more memory (config_context(memory=...)) or take fewer features, so that they are held"
    SQUARED_LOSS = "take the squared loss"
    BOUND = "lower the bound"
    FEWER_PAIRS = "ask for fewer pairs"


@part("Solution")
@dataclass(frozen=True, repr=False)
class Solution:
    """The value found, how the solver ended, and the iterations.

    Solvers make one by ``Solution.converged`` or ``Solution.stopped``; ``unfinished`` turns the first into the second.

    Attributes
    ----------
    value : ndarray
    status : Status
        "success", or what went wrong in a word or two.
    iterations : int
        0 for direct solvers.
    history : tuple of float
        The solver's measure of error after each iteration.
    advice : str
        What to change if the status is not success.
    details : dict
        Further results by name: the ``solver``, and from learners the ``block_rows``.
    gap : float or None
        Upper bound on the distance from the objective to its minimum, relative to the objective; None if the solver
        knows none.

    Examples
    --------
    >>> import numpy as np
    >>> Solution.converged(np.zeros(2), "cholesky")
    Solution(success, cholesky, value of shape (2,), 0 iterations)
    """

    _stored = Stored(
        value=Plain(),
        status=OneOf(tuple(status.value for status in Status), attribute="_status"),
        iterations=Count(),
        history=Many(Real(finite=False), of=tuple),
        advice=Text(),
        details=Table(Text(), Plain()),
        gap=Real(finite=False, nullable=True),
    )

    value: Array
    _status: str = Status.SUCCESS.value  # text, because a model file holds text
    iterations: int = 0
    history: tuple[float, ...] = ()
    advice: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    gap: float | None = None

    @classmethod
    def converged(
        cls,
        value: Array,
        solver: str,
        *,
        iterations: int = 0,
        history: tuple[float, ...] | list[float] = (),
        gap: float | None = None,
        **details: object,
    ) -> Self:
        """Return the solution of a solver whose certificate is within its tolerance."""
        history = tuple(history)
        return cls(value, Status.SUCCESS.value, iterations, history, "", {"solver": solver, **details}, gap)

    @classmethod
    def stopped(
        cls,
        value: Array,
        solver: str,
        status: Status,
        left: str,
        remedies: list[Remedy],
        *,
        iterations: int = 0,
        history: tuple[float, ...] | list[float] = (),
        gap: float | None = None,
        **details: object,
    ) -> Self:
        """Return the solution of a solver that ended before its tolerance.

        Parameters
        ----------
        value : ndarray
        solver : str
        status : Status
        left : str
            What the solver left undone, with its figures.
        remedies : list of Remedy
            What to change, the best first.
        iterations, history, gap, details : see ``Solution``
        """
        found = cls.converged(value, solver, iterations=iterations, history=history, gap=gap, **details)
        return found.unfinished(status, left, remedies)

    def unfinished(self, status: Status, left: str, remedies: list[Remedy]) -> Self:
        """Return the same solution with the status and the advice of a solver that ended before its tolerance."""
        *first, last = [str(remedy) for remedy in remedies]
        ways = f"{', '.join(first)}, or {last}" if len(first) > 1 else " or ".join([*first, last])
        return replace(self, _status=status.value, advice=f"{left}: {ways}.")

    @property
    def status(self) -> Status:
        """How the solver ended."""
        return Status(self._status)

    @property
    def success(self) -> bool:
        """Whether the solver reached its tolerance, or rounding left nothing to gain."""
        return self.status is Status.SUCCESS

    def with_details(self, **details: object) -> Self:
        """Return the same solution with further details."""
        return replace(self, details={**self.details, **details})

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.1e}"
        solver = self.details.get("solver", "unknown solver")
        shape = getattr(self.value, "shape", ())
        return f"Solution({self.status}, {solver}, value of shape {shape}, {self.iterations} iterations{gap})"
