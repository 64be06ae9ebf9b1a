"""Random kitchen sinks: any feature function of a random projection (Rahimi and Recht, 2008)."""

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from scipy import special

from mercer import core
from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.fourier.phases import require_shift_invariant
from mercer.kernels import ArcCosine, Gaussian, Kernel
from mercer.kernels.expected_product import Distribution, ExpectedProduct, Phi
from mercer.kernels.frequencies import frequency_distribution, is_shift_invariant
from mercer.state import OneOf, Real, Reals, Sizes, Stored, require
from mercer.validation import check_integer, check_memory

_ROOT2 = 2.0**0.5


class _Ready(NamedTuple):
    """A named feature function: its formula, its bound, and its kernel under the standard normal distribution."""

    function: Callable[[Array], Array]
    bound: float
    kernel: Kernel | None


# The factor sqrt(2) comes from the definition of the arc-cosine kernels.
_READY = {
    "cosine": _Ready(lambda t: _ROOT2 * np.cos(t), _ROOT2, None),
    "sigmoid": _Ready(special.expit, 1.0, None),
    "step": _Ready(lambda t: _ROOT2 * (t > 0), _ROOT2, ArcCosine(0)),
    "relu": _Ready(lambda t: _ROOT2 * np.maximum(t, 0), np.inf, ArcCosine(1)),
    "squared_relu": _Ready(lambda t: _ROOT2 * np.square(np.maximum(t, 0)), np.inf, ArcCosine(2)),
}


class KitchenSinks(FeatureMap):
    r"""Random kitchen sinks: features :math:`\phi(\langle w_i, x\rangle + b_i) / \sqrt{D}` of random projections.

    The features approximate :math:`k(x, y) = E[\phi(\langle w, x\rangle + b)\, \phi(\langle w, y\rangle + b)]`.
    ``"cosine"`` has uniform offsets, and its kernel is the kernel given as ``distribution``. ``"step"``, ``"relu"`` and
    ``"squared_relu"`` have the arc-cosine kernels of order 0, 1 and 2. ``"sigmoid"`` and a user's own function have
    kernels without a closed form.

    Parameters
    ----------
    phi : str or callable, default="cosine"
        The name of a built-in function, or a function that takes an array of projections (n, D) and returns an array of
        the same shape.
    distribution : shift-invariant kernel, callable or None
        The distribution of the frequencies: a kernel's spectral distribution; or a function ``distribution(rng,
        n_components, n_features)`` of a RandomState that returns W (n_features, n_components), or W and offsets b
        (n_components,). None: standard normal, with normal offsets for ``"sigmoid"``, and ``Gaussian()`` for
        ``"cosine"``.
    n_components : int, default=100
    random_state : int, RandomState or None

    Attributes
    ----------
    phi_ : str or callable
        The feature function used in ``fit``.
    weights_ : ndarray of shape (n_features, n_components)
    offsets_ : ndarray of shape (n_components,)
    bound_ : float
        Bound of abs(phi): inf if phi is unbounded, NaN if not known. Algorithm 4 of the paper needs a bound of 1.
    kernel_ : Kernel

    Notes
    -----
    Time O(nnz(x) D) per row, memory O(d D). ``variance`` is exact for ``"step"`` and ``"relu"`` under the normal
    distribution and for ``"cosine"``, and is estimated from re-drawn maps otherwise. If the kernel has no closed form,
    ``variance`` raises an error.

    References
    ----------
    A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KitchenSinks
    >>> sinks = KitchenSinks("relu", n_components=1000, random_state=0).fit(np.eye(3))
    >>> sinks.kernel_
    ArcCosine(1)
    """

    _stored = Stored(
        phi_=OneOf(tuple(_READY)),  # a user's function cannot be stored in a file
        weights_=Reals(("d", "D")),
        offsets_=Reals(("D",)),
        bound_=Real(0.0, finite=False),
    )

    _natural_kernel = Gaussian()

    def __init__(
        self,
        phi: str | Phi = "cosine",
        distribution: Distribution = None,
        *,
        n_components: int = 100,
        random_state: Seed = None,
    ):
        self.phi = phi
        self.distribution = distribution
        self.n_components = n_components
        self.random_state = random_state

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        self.phi_, n_components = self.phi, int(self.n_components)
        needed = 16 * (X.shape[1] + 2) * n_components  # the drawn weights, and their copy in X's precision
        check_memory("KitchenSinks", "n_components", n_components, needed, "the projections")
        distribution = Gaussian() if self.distribution is None and self.phi_ == "cosine" else self.distribution
        if isinstance(distribution, Kernel):
            distribution = distribution.resolve(X)
        self.weights_, self.offsets_ = self._projections(distribution, n_components, X.shape[1], rng)
        self.bound_ = _READY[self.phi_].bound if isinstance(self.phi_, str) else float("nan")
        self.n_features_out_ = n_components
        self.kernel_ = self._kernel_of(distribution)
        self._try_phi(X)

    def _check_params(self) -> None:
        if not callable(self.phi) and not (isinstance(self.phi, str) and self.phi in _READY):
            raise ValueError(
                f"KitchenSinks: phi must be a function of an array or one of {sorted(_READY)}, got {self.phi!r}."
            )
        if isinstance(self.distribution, Kernel):
            require_shift_invariant("KitchenSinks", self.distribution)
        elif self.distribution is not None and not callable(self.distribution):
            raise ValueError(
                "KitchenSinks: distribution must be a shift-invariant kernel, a function "
                f"(rng, n_components, n_features) or None, got {self.distribution!r}."
            )
        check_integer("KitchenSinks", "n_components", self.n_components)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        if self.phi_ == "cosine":
            require(is_shift_invariant(self.kernel_), "kernel_ must be shift-invariant for phi='cosine'")

    def _kernel_of(self, distribution: Distribution) -> Kernel:
        if self.phi_ == "cosine" and isinstance(distribution, Kernel):
            return distribution
        ready = _READY[self.phi_].kernel if isinstance(self.phi_, str) else None
        return ready if ready is not None and distribution is None else ExpectedProduct(self.phi_, distribution)

    def _projections(
        self, distribution: Distribution, n_components: int, n_features: int, rng: np.random.RandomState
    ) -> tuple[Array, Array]:
        offsets = np.zeros(n_components)
        if isinstance(distribution, Kernel):
            weights = frequency_distribution(distribution, n_features).draw(rng, n_components)
        elif distribution is None:
            weights = rng.standard_normal((n_features, n_components))
        else:
            weights, offsets = _drawn(distribution, rng, n_components, n_features)
        if self.phi_ == "cosine" and isinstance(distribution, Kernel):
            offsets = rng.uniform(0, 2 * np.pi, n_components)
        if self.phi_ == "sigmoid" and distribution is None:
            offsets = rng.standard_normal(n_components)
        return weights, offsets

    def _try_phi(self, X: Rows) -> None:
        """Call phi once in ``fit``, so that an unsuitable function is refused early."""
        if callable(self.phi_):
            few = X[: min(8, X.shape[0])]
            self.writer(few)(slice(0, few.shape[0]), np.empty((few.shape[0], self.n_features_out_), dtype=X.dtype))

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        distribution = self.kernel_.distribution if isinstance(self.kernel_, ExpectedProduct) else None
        if self.phi_ == "cosine" and distribution is None:
            distribution = self.kernel_
        other = copy(self)
        other.weights_, other.offsets_ = self._projections(distribution, self.n_features_out_, self.n_features_in_, rng)
        return other

    @override
    def writer(self, X: Rows) -> Writer:
        weights, offsets = self.weights_.astype(X.dtype, order="C"), self.offsets_.astype(X.dtype)
        widths = np.array([self.n_features_out_], dtype=np.int64)
        scale = X.dtype.type(self.n_features_out_**-0.5)
        function = _READY[self.phi_].function if isinstance(self.phi_, str) else partial(_users_values, self.phi_)

        def write(rows: slice, out: Array) -> None:
            core.project_product(X, rows, weights, widths, out)
            out += offsets
            out[...] = function(out)
            out *= scale

        return write

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return float(3 * X.dtype.itemsize * self.n_features_out_)  # temporary arrays of phi

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        k = self.kernel_(X, Y)
        if self.phi_ == "cosine":
            second = 1 + self.kernel_(2 * X, 2 * Y) / 2
        elif self.phi_ == "step":
            second = 2 * k
        elif self.phi_ == "relu":
            second = 2 * ArcCosine(2)(X, Y)
        else:
            return None
        return np.asarray(np.maximum(second - k**2, 0) / self.n_features_out_)


def _users_values(phi: Phi, projections: Array) -> Array:
    """Return the values of a user's function; refuse a wrong shape and values that are not finite."""
    values = np.asarray(phi(projections.copy()))  # a copy, since phi may change its argument in place
    if values.shape != projections.shape:
        raise ValueError(
            f"KitchenSinks: phi must return an array of the shape of its argument, {projections.shape}, got "
            f"{values.shape}. Use an elementwise function such as np.tanh."
        )
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"KitchenSinks: phi must return finite numbers, and phi({projections[row, column]:g}) is "
            f"{values[row, column]}. Clip the argument or the value of phi."
        )
    return values


def _drawn(
    distribution: Callable[..., Array | tuple[Array, Array]], rng: np.random.RandomState, n: int, n_features: int
) -> tuple[Array, Array]:
    drawn = distribution(rng, n, n_features)
    weights, offsets = drawn if isinstance(drawn, tuple) else (drawn, np.zeros(n))
    # Copies, since the function may keep the arrays that it returns and change them later.
    weights, offsets = np.array(weights, dtype=np.float64), np.array(offsets, dtype=np.float64)
    if weights.shape != (n_features, n) or offsets.shape != (n,):
        raise ValueError(
            f"KitchenSinks: distribution must return W of shape {(n_features, n)}, and offsets of shape {(n,)} if any, "
            f"got {weights.shape} and {offsets.shape}."
        )
    if not (np.isfinite(weights).all() and np.isfinite(offsets).all()):
        raise ValueError("KitchenSinks: distribution must return finite numbers, and returned NaN or inf.")
    return weights, offsets
