"""Kernel values between rows, as the loops of budget learners take them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer import core
from mercer._typing import Array, Rows, is_sparse
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.evaluation.distances import squared_distances

# Kernel values of a block's own rows are made for so many at a time, where they are not made in one triangle.
_OWN_ROWS = 32
# Exponents beyond are cut: their kernel value is 0, and sums of them stay finite.
_LARGEST_EXPONENT = 1e150


@dataclass(frozen=True)
class KernelValues:
    """A kernel whose parameters are numbers.

    Values of the Gaussian are given as exponents e of k = exp(-e): merging needs them, and the loop takes the
    exponentials of those alone that it meets. Their bits depend on the two rows alone, not on how a stream is cut.
    """

    kernel: Kernel

    @cached_property
    def gamma(self) -> float:
        """Of the exponents that ``between`` gives; 0 where it gives kernel values."""
        return self.kernel.bandwidth if isinstance(self.kernel, Gaussian) else 0.0

    def between(self, X: Rows, Y: Rows) -> Array:
        """Return the kernel values of all pairs of rows, or their exponents, in float64."""
        out = np.empty((X.shape[0], Y.shape[0]))
        self.write(X, Y, out)
        return out

    def write(self, X: Rows, Y: Rows, out: Array) -> None:
        """Overwrite ``out`` with what ``between`` returns."""
        gamma = self.gamma
        if not Y.shape[0]:
            return
        if gamma == 0:
            out[...] = self.kernel.evaluate(X, Y)
            self.kernel.check_finite(out)
        elif is_sparse(X) or is_sparse(Y):
            np.clip(gamma * squared_distances(X, Y), 0.0, _LARGEST_EXPONENT, out=out)
        else:
            core.gaussian_exponents(X, Y, gamma, out)

    def write_own(self, X: Rows, out: Array) -> None:
        """Overwrite the lower triangle of ``out`` with what ``between`` returns for the rows of X; the rest is free."""
        if self.gamma > 0 and not is_sparse(X):
            core.gaussian_exponents(X, X, self.gamma, out, lower=True)
            return
        for start in range(0, X.shape[0], _OWN_ROWS):
            stop = min(start + _OWN_ROWS, X.shape[0])
            self.write(X[start:stop], X[:stop], out[start:stop, :stop])

    def values(self, X: Rows, Y: Rows) -> Array:
        """Return the kernel values of all pairs of rows."""
        found = self.between(X, Y)
        return np.exp(np.negative(found, out=found), out=found) if self.gamma > 0 else found

    def norms(self, X: Rows) -> Array:
        """Return k(x, x) of all rows."""
        if self.gamma > 0:
            return np.ones(X.shape[0])
        norms = np.asarray(self.kernel.evaluate_diag(X), dtype=np.float64)
        self.kernel.check_finite(norms)
        return norms
