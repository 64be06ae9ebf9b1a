"""One-class support vector machine on the features of a kernel: which rows are unlike the others."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin

from mercer._typing import Array, RowsLike, Seed
from mercer.data import Blocks
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows, Unweighted
from mercer.kernels import Kernel
from mercer.learners.base import SOLVED, LinearLearner
from mercer.learners.far_rows import FarRows
from mercer.solvers import Solution, one_class
from mercer.state import Count, Real, Reals, Stored
from mercer.validation import check_integer, check_memory, check_real


class KernelOneClassSVM(OutlierMixin, LinearLearner):
    r"""One-class support vector machine at linear cost: the half-space of D features that most rows lie in.

    .. math:: \min_{w, \rho} \tfrac12 \|w\|^2 - \rho
              + \frac{1}{\nu n} \sum_i \max(0, \rho - \langle w, z(x_i) \rangle)

    This is the problem of ``sklearn.svm.OneClassSVM`` divided by nu n: ``coef_``, ``offset_`` and the scores of
    ``decision_function`` and ``score_samples`` are those of scikit-learn divided by nu n, and do not grow with the
    rows. Labels and the order of the rows are the same. The offset rho is not penalised. There are no sample weights,
    since nu counts rows.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int or "auto", default="auto"
        Number of features D. "auto" takes 1024 features, or fewer under a memory limit; for kernels that count parts of
        objects, 2^18 hashed columns, which are sparse.
    features : feature map, optional
        A map of your own; ``kernel`` and ``n_components`` are then not used.
    nu : float in (0, 1], default=0.5
        At most this share of the training rows are outliers.
    tol : float, default=1e-4
        Largest duality gap, relative to the objective.
    max_iter : int, default=1000
        Most epochs over the rows.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads, at most one per core; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    coef_ : ndarray of shape (D,)
    offset_ : float
        rho. Rows with a lower score are outliers.
    intercept_ : float
        -rho.
    n_iter_ : int
        Epochs taken.
    feature_map_ : fitted feature map
    solution_ : Solution

    Notes
    -----
    Time n D per epoch. The features of all rows are held, n D numbers; a fit beyond half the memory budget is refused.

    References
    ----------
    B. Schoelkopf, J. Platt, J. Shawe-Taylor, A. Smola and R. Williamson, "Estimating the support of a high-dimensional
    distribution", Neural Computation 13, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelOneClassSVM
    >>> X = np.random.RandomState(0).randn(500, 2)
    >>> model = KernelOneClassSVM(Gaussian(gamma=0.5), nu=0.1, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [4.0, 4.0]]).tolist()
    [1, -1]
    """

    _stored = Stored(**SOLVED, coef_=Reals(("f",)), intercept_=Real(), offset_=Real(), n_iter_=Count())

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | str = "auto",
        features: FeatureMap | None = None,
        nu: float = 0.5,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: RowsLike | Blocks, y: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Fit the map and the half-space.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
        y : ignored

        Returns
        -------
        self
        """
        return super().fit(X)

    def decision_function(self, X: RowsLike | Blocks) -> Array:
        """Return the scores of the rows of X, an array or ``Blocks``, less ``offset_``: negative for outliers.

        Multiply by nu n, with n training rows, for the scale of ``sklearn.svm.OneClassSVM``.
        """
        return self._scores(X)

    def score_samples(self, X: RowsLike | Blocks) -> Array:
        """Return the scores of the rows of X, an array or ``Blocks``: the higher, the more like the training rows."""
        return np.asarray(self._scores(X) + self.offset_)

    def predict(self, X: RowsLike | Blocks) -> Array:
        """Return -1 for the outliers among the rows of X, an array or ``Blocks``, and 1 for the others."""
        return np.where(self._scores(X) < 0, -1, 1)

    _has_curve = False

    def _far_rows(self) -> FarRows:
        return FarRows(None)  # far rows are what this model looks for

    def _targets(self, rng: np.random.RandomState) -> Unweighted:
        return Unweighted(type(self).__name__)

    def _check_params(self) -> None:
        super()._check_params()
        name = type(self).__name__
        if check_real(name, "nu", self.nu, least=0, strict=True) > 1:
            raise ValueError(f"{name}: nu must be a number in (0, 1], a share of the rows, got {self.nu!r}.")
        check_real(name, "tol", self.tol, least=0, strict=True)
        check_integer(name, "max_iter", self.max_iter)

    def _stays_local(self) -> str:
        return "a dual variable of each row is kept in this process, which rows elsewhere do not allow. Fit a sample."

    def _solve(self, rows: FeatureRows) -> Solution:
        name, nu, tol, max_iter = type(self).__name__, float(self.nu), float(self.tol), self.max_iter
        if not rows.fits:
            n_bytes = 2 * rows.n_rows * rows.n_features * rows.dtype.itemsize
            check_memory(name, "n_components", rows.n_features, n_bytes, f"{rows.n_rows} rows of features, held")
            raise MemoryError(
                f"{name}: the solver holds the features of all {rows.n_rows} rows, and the memory ended. Lower "
                f"n_components={rows.n_features}, or fit on fewer rows."
            )
        solution = one_class(rows.matrix()[0], nu, tol=tol, max_iter=max_iter)
        self.coef_, self.intercept_ = solution.value[0, :-1], float(solution.value[0, -1])
        self.offset_ = -self.intercept_
        return solution
