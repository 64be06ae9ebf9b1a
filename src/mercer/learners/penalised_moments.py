"""The moments of a ridge problem with one penalty, factored once for all that a fitted model keeps of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from mercer import triangular
from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.stats import Moments

# Random signs per leverage: a standard error of 50 %.
SIGNS = 8


@dataclass(frozen=True)
class PenalisedMoments:
    """Moments about the means of features and targets, and the penalty of one solution.

    Leverages, standard deviations and the check of generalised cross-validation need the same Cholesky factor of
    G + alpha I. It takes D^3 / 3 multiplications, when it is first asked for.

    Attributes
    ----------
    moments : Moments
    gram, cross, squares : ndarrays of shapes (D, D), (D, k) and (k,)
        About the means.
    alpha : float

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learners.penalised_moments import PenalisedMoments
    >>> from mercer.stats import Moments
    >>> moments = Moments.of(1, 1).update(np.array([[0.0], [2.0]]), np.array([1.0, 5.0]))
    >>> system = PenalisedMoments.of(moments, alpha=2.0)
    >>> system.factor.tolist(), system.residual(np.array([[2.0]])).tolist()
    ([[2.0]], [0.0])
    """

    moments: Moments
    gram: Array
    cross: Array
    squares: Array
    alpha: float

    @classmethod
    def of(cls, moments: Moments, alpha: float) -> Self:
        """Return the moments about their means."""
        return cls(moments, *moments.centred(), alpha)

    def residual(self, coef: Array) -> Array:
        """Return the residual sum of squares of coefficients (D, k) for each target."""
        explained = np.einsum("ij,ij->j", coef, 2 * self.cross - self.gram @ coef)
        found: Array = np.maximum(self.squares - explained, 0.0)
        return found

    @cached_property
    def factor(self) -> Array | None:
        """L, lower triangular, with L L^T = G + alpha I; None where rounding leaves no factor."""
        penalised = np.array(self.gram, order="F")  # as LAPACK wants it
        penalised[np.diag_indices_from(penalised)] += self.alpha
        try:
            with one_blas_thread():
                found: Array = cholesky(penalised, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        return found

    @cached_property
    def sketch(self) -> Array | None:
        """(D, 8): the squared length of ``sketch.T (z - mean)`` estimates the leverage (Johnson, Lindenstrauss)."""
        return self.sketch_of(SIGNS, seed=0)

    def sketch_of(self, n_signs: int, seed: int) -> Array | None:
        """Return L^-T times random signs, (D, n_signs); None without a factor."""
        if self.factor is None:
            return None
        signs = np.random.RandomState(seed).choice([-1.0, 1.0], size=(len(self.gram), n_signs)) / n_signs**0.5
        with one_blas_thread():
            found: Array = solve_triangular(self.factor, signs, lower=True, trans="T", check_finite=False)
        return found

    def leverages(self, centred: Array) -> Array:
        """Return the leverages of rows of features about their mean, in D^2 / 2 multiplications per row and float64."""
        assert self.factor is not None  # noqa: S101, for the type checker: the caller has asked for it
        solved = triangular.solve(self.factor, centred.T)
        found: Array = np.square(solved).sum(axis=0, dtype=np.float64)
        return found
