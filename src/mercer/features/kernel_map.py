"""Maps whose kernel is a parameter: the kernel is checked and resolved, then the map is drawn for it."""

from abc import abstractmethod
from copy import copy
from typing import Self

import numpy as np

from mercer._typing import Rows, Seed, override
from mercer.features.base import LARGEST_WIDTH, FeatureMap
from mercer.kernels import Kernel
from mercer.kernels.parameter import as_kernel
from mercer.state import Sizes
from mercer.structures.domains import Domain
from mercer.validation import check_integer


class KernelMap(FeatureMap):
    """A feature map of a kernel that is its parameter.

    A subclass writes ``check_kernel`` (what it needs of a kernel), ``_draw`` (all its randomness), ``writer`` (the
    arithmetic) and, where theory gives it, ``exact_variance``. A map whose draw depends on the values of X also writes
    ``redrawn``.
    """

    def __init__(self, kernel: Kernel | None = None, *, n_components: int = 100, random_state: Seed = None):
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    @property
    @override
    def domain(self) -> Domain:
        if hasattr(self, "kernel_"):  # a change of the parameter does not change a fitted map
            return self.kernel_.domain
        kernel = self._natural_kernel if self.kernel is None else self.kernel
        return kernel.domain if isinstance(kernel, Kernel) else "rows"  # fit says what is wrong with others

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        name = type(self).__name__
        kernel = as_kernel(name, self.kernel, self._natural_kernel)
        self.check_kernel(kernel)
        kernel = self._approximated(kernel.resolve(X))
        self.n_features_out_ = self._draw(kernel, X, self._checked_width(), rng)
        self.kernel_ = kernel

    def _approximated(self, kernel: Kernel) -> Kernel:
        """Return the kernel that the map approximates, given the parameter ``kernel``, resolved."""
        return kernel

    def _checked_width(self) -> int:
        """Return ``n_components``, refusing what is not a number of features."""
        name = type(self).__name__
        n_components = check_integer(name, "n_components", self.n_components)
        if n_components > LARGEST_WIDTH:
            raise ValueError(
                f"{name}: n_components must be below 2^31, got {n_components}. Average several maps instead."
            )
        return n_components

    def _check_params(self) -> None:
        """Refuse parameters that ``fit`` refuses, whatever the rows."""
        self.check_kernel(as_kernel(type(self).__name__, self.kernel, self._natural_kernel))
        self._checked_width()

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        self.check_kernel(self.kernel_)

    @abstractmethod
    def check_kernel(self, kernel: Kernel) -> None:
        """Refuse a kernel that this map cannot approximate, naming one that can."""

    @abstractmethod
    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        """Draw and set the fitted arrays; return the number of features."""

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        """Return a copy with another draw, and all that ``fit`` learned from its rows kept.

        The draw sees a row of zeros, on purpose: there is nothing to learn from it. A map that learns more from the
        rows of ``fit`` than the parameters of ``kernel_``, or has another number of features than ``n_components``,
        writes its own.
        """
        other = copy(self)
        other._draw(self.kernel_, np.zeros((1, self.n_features_in_)), self.n_features_out_, rng)
        return other
