"""Maps of additive histogram kernels by sampling their spectrum (Vedaldi and Zisserman, 2012)."""

from collections.abc import Iterator

import numpy as np
from scipy import optimize, sparse
from sklearn.utils import Tags

from mercer import core
from mercer._typing import Array, Csr, Rows, is_sparse, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.hashes import draw_hashes, stored_hashes
from mercer.features.sketches.variances import PairMoments, tensor_sketch_variance
from mercer.kernels import AdditiveKernel, Chi2, Hellinger, Kernel
from mercer.state import LARGEST_DEGREE, Count, Real, Reals, Sizes, Stored, require
from mercer.validation import check_memory, check_non_negative

_LOG_RATIOS = np.linspace(0.0, 12.0, 601)
_STEPS = (0.02, 2.0)  # range of the search for the frequency step


class AdditiveFeatures(KernelMap):
    r"""The map of an additive kernel :math:`\sum_j \sqrt{x_j y_j}\, K(\log y_j / x_j)` of non-negative rows.

    K is the Fourier transform of a density kappa. Sampling kappa at 0, L, ..., nL gives 2n + 1 features per column:

    .. math:: \sqrt{x L \kappa(0)}, \quad \sqrt{2 x L \kappa(i L)}\, (\cos(i L \log x), \sin(i L \log x)).

    The map is not random: the error is a bias that decreases quickly with n. The step L minimises the mean squared
    error for entries uniform on [0, 1]. ``Hellinger`` is exact with one feature per column.

    Parameters
    ----------
    kernel : Chi2, Intersection, JensenShannon or Hellinger, default=Chi2()
    n_components : int, default=100
        Largest number of features: n is the largest order with (2n + 1) n_features <= n_components. If n_components is
        below n_features, the features of the map of order 1 are count-sketched to n_components features.
    random_state : int, RandomState or None
        Seed of the hashes of the count sketch; without a count sketch nothing is random.

    Attributes
    ----------
    order_ : int
        The order n.
    step_ : float
        The sampling step L.
    weights_ : ndarray of shape (n + 1,)
        The factors L kappa(0), 2 L kappa(iL) of the squared features.
    index_, sign_ : ndarray
        The hashes of the count sketch; empty without a count sketch.
    kernel_ : Kernel

    Notes
    -----
    Time and memory O(D) per row; with a sketch O(nnz(x) + D) for CSR rows and O(d + D) for dense ones. ``variance`` is
    the mean squared error: without a sketch, the squared bias.

    References
    ----------
    A. Vedaldi and A. Zisserman, "Efficient additive kernels via explicit feature maps", TPAMI 34(3), 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import AdditiveFeatures, Chi2
    >>> X = np.random.RandomState(0).dirichlet(np.ones(4), size=5)
    >>> additive = AdditiveFeatures(Chi2(), n_components=28)
    >>> Z = additive.fit_transform(X)
    >>> additive.order_, bool(np.abs(Z @ Z.T - Chi2()(X)).max() < 0.02)
    (3, True)
    """

    _stored = Stored(
        **stored_hashes("c", below="D"),
        order_=Count(most=LARGEST_DEGREE),
        step_=Real(positive=True),
        weights_=Reals(("o",), 0.0),
    )

    _natural_kernel = Chi2()

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, AdditiveKernel):
            raise ValueError(
                "AdditiveFeatures: kernel must be additive (Chi2, Intersection, JensenShannon or Hellinger), got "
                f"{kernel!r}. feature_map(kernel, n_components=...) chooses a map for every kernel that has one."
            )

    def _draw(self, kernel: AdditiveKernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:  # type: ignore[override]
        check_non_negative("AdditiveFeatures", "X", X)
        n_features = X.shape[1]
        sketched = n_components < n_features
        exact = isinstance(kernel, Hellinger)
        self.order_ = 0 if exact else 1 if sketched else (n_components // n_features - 1) // 2
        needed = 3 * 8 * len(_LOG_RATIOS) * (self.order_ + 1) + 8 * (2 * self.order_ + 1) * n_features
        check_memory("AdditiveFeatures", "n_components", n_components, needed, f"a map of order {self.order_}")
        self.step_ = 1.0 if exact else _best_step(kernel, self.order_)
        self.weights_ = _weights(kernel, self.order_, self.step_)
        width = (2 * self.order_ + 1) * n_features
        self.index_, self.sign_ = draw_hashes(rng, n_components, (width if sketched else 0,))
        return n_components if sketched else width

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(sizes["o"] == self.order_ + 1, "weights_ must have a number for each of the order_ + 1 samples")
        require(self.step_ <= _STEPS[1], f"step_ must be at most {_STEPS[1]:g}: cosines of large phases overflow")
        width = (2 * self.order_ + 1) * sizes["d"]
        require(width == (sizes["c"] or sizes["D"]), "there must be 2 order_ + 1 features per column")

    @override
    def writer(self, X: Rows) -> Writer:
        return self._sketch_writer(X) if len(self.index_) else self._exact_writer(X)

    def _sketch_writer(self, X: Rows) -> Writer:
        """Sketch one frequency at a time; CSR rows only at their non-zeros, since the features of 0 are 0."""
        tables = zip(*(table.reshape(-1, X.shape[1]) for table in (self.index_, self.sign_)), strict=True)
        hashes = list(tables)

        def write(rows: slice, out: Array) -> None:
            block, every = X[rows], slice(0, len(out))
            check_non_negative("AdditiveFeatures", "X", block, rows.start)
            sketch = np.empty(out.shape, dtype=out.dtype)
            out[...] = 0
            for values, (index, sign) in zip(self._parts(_values(block)), hashes, strict=True):
                core.count_sketch(_like(block, values), every, index, sign, sketch)
                out += sketch

        return write

    def _exact_writer(self, X: Rows) -> Writer:
        n_features = X.shape[1]

        def write(rows: slice, out: Array) -> None:
            block = X[rows]
            check_non_negative("AdditiveFeatures", "X", block, rows.start)
            if not is_sparse(block):
                for i, values in enumerate(self._parts(block)):
                    out[:, i * n_features : (i + 1) * n_features] = values
                return
            out[...] = 0
            places = np.repeat(np.arange(len(out)), np.diff(block.indptr))
            for i, values in enumerate(self._parts(block.data)):
                out[places, i * n_features + block.indices] = values

        return write

    def _parts(self, values: Array) -> Iterator[Array]:
        """Yield 2n + 1 arrays: the first feature of all entries, then the second, and so on."""
        amplitudes = np.sqrt(self.weights_).astype(values.dtype)
        root = np.sqrt(values)
        yield root * amplitudes[0]
        logs = np.log(np.where(values > 0, values, 1))  # if x = 0, sqrt(x) makes the feature 0
        for i in range(1, self.order_ + 1):
            phase = logs * values.dtype.type(i * self.step_)
            scaled = root * amplitudes[i]
            yield scaled * np.cos(phase)
            yield scaled * np.sin(phase)

    def sparse_features(self, X: sparse.csr_array, first_row: int) -> Csr:
        """Return the features of CSR rows as a CSR array."""
        check_non_negative("AdditiveFeatures", "X", X, first_row)
        return sparse.hstack([_like(X, values) for values in self._parts(X.data)], format="csr")

    @override
    def scratch_bytes(self, X: Rows) -> float:
        entries = X.nnz / max(1, X.shape[0]) if is_sparse(X) else X.shape[1]
        sketch = self.n_features_out_ if len(self.index_) else 0
        return float(X.dtype.itemsize * (8 * entries + sketch))

    @override
    def least_features(self, n_features: int) -> int:
        return min(self.n_components, n_features)  # more features come in whole orders; Hellinger uses no more

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        if not self.is_random:
            return np.zeros((X.shape[0], Y.shape[0]))
        features = PairMoments.of(self._exact_features(X), self._exact_features(Y))
        return tensor_sketch_variance([features], self.n_features_out_)

    @override
    def bias(self, X: Array, Y: Array) -> Array:
        return np.asarray(self._exact_features(X) @ self._exact_features(Y).T - self.kernel_(X, Y))

    @property
    @override
    def is_random(self) -> bool:
        return len(self.index_) > 0

    def _exact_features(self, X: Array) -> Array:
        out = np.empty((X.shape[0], (2 * self.order_ + 1) * X.shape[1]))
        self._exact_writer(X)(slice(0, X.shape[0]), out)
        return out

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return float(np.sqrt(self.weights_.max())) * (1 + norm) * max(1, len(self.index_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _weights(kernel: AdditiveKernel, order: int, step: float) -> Array:
    weights = 2 * step * kernel.density(step * np.arange(order + 1))
    weights[0] /= 2
    return np.asarray(weights)


def _best_step(kernel: AdditiveKernel, order: int) -> float:
    """Minimise the mean of x y (K' - K)^2 over x, y uniform on [0, 1], where log(y / x) has the density e^(-2|t|)."""
    target = kernel.signature(_LOG_RATIOS)
    mass = np.exp(-2 * _LOG_RATIOS)

    def error(step: float) -> float:
        waves = np.cos(np.outer(_LOG_RATIOS, step * np.arange(order + 1)))
        return float(mass @ np.square(waves @ _weights(kernel, order, step) - target))

    candidates = np.geomspace(*_STEPS, 60)
    best = int(np.argmin([error(step) for step in candidates]))
    around = candidates[max(best - 1, 0)], candidates[min(best + 1, len(candidates) - 1)]
    return float(optimize.minimize_scalar(error, bounds=around, method="bounded").x)


def _values(X: Rows) -> Array:
    return np.asarray(X.data if is_sparse(X) else X)


def _like(X: Rows, values: Array) -> Rows:
    """Return values in the positions of the entries of X; a CSR array if X is CSR."""
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape) if is_sparse(X) else values
