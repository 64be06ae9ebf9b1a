"""Ridge regression and classification on the features of a kernel."""

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array, Seed
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows
from mercer.fitting.targets import ClassWeight
from mercer.kernels import Kernel
from mercer.learners.base import LINEAR, LinearLearner
from mercer.learners.classification import KernelClassifier
from mercer.learners.deviations import Deviations
from mercer.learners.gcv_check import warn_if_fooled
from mercer.learners.posterior import Posterior
from mercer.learners.regression import ManyTargets
from mercer.learners.ridge_iterative import centred_system, solve_one, solve_path
from mercer.learners.shrinkage import Leverage
from mercer.solvers import RidgePath, Solution, cholesky, ridge_path, singular_path, tridiagonal_path
from mercer.state import Member, Real, Reals, Stored
from mercer.stats import Moments, Totals
from mercer.validation import check_real

# Matrices of D x D in float64 that a direct solve holds at once: total, parts in work, factor or eigenvectors.
_SQUARE_MATRICES = 6

# Up to so many features, eigenvectors take milliseconds and lose fewer digits for alphas far below the eigenvalues. Up
# to so many rows, singular values of the rows lose fewer digits still.
_FEW_FEATURES = 256
_FEW_ROWS = 512

# The rules that choose alpha, as ``solution_`` names them.
CRITERIA = {"gcv": "generalised cross-validation", "loo": "leave-one-out"}


class _Ridge(LinearLearner):
    _stored = Stored(
        **LINEAR,
        leverage=Member(Leverage, {"n_features": "f"}, attribute="_leverage", nullable=True, optional=True),
        alpha_=Real(positive=True),
        alphas_=Reals(("a",), positive=True, optional=True),
        scores_=Reals(("a",), finite=False, optional=True),
        coef_path_=Reals(("a", None, "f"), optional=True),
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        features: FeatureMap | None = None,
        alpha: float | str = "loo",
        alphas: ArrayLike | None = None,
        far_rows: str = "shrink",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.alpha = alpha
        self.alphas = alphas
        self.far_rows = far_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_params(self) -> None:
        super()._check_params()
        self._alphas()

    def _solve(self, rows: FeatureRows) -> Solution:
        alphas = self._alphas()
        if not rows.is_sparse and rows.fits_square(_SQUARE_MATRICES):
            return self._by_moments(rows, alphas)
        # Leave-one-out needs a D x D matrix, so generalised cross-validation takes its place here.
        chooses = isinstance(self.alpha, str)
        # With few rows, few degrees of freedom are left: random signs of the rows can estimate them, of features not.
        signs_of_rows = chooses and rows.n_rows <= rows.n_features
        system = centred_system(rows, rows.targets.origin, with_probes=signs_of_rows)
        tol = 1e-10 if rows.dtype == np.float64 else 1e-5
        if chooses:
            solution, scores, coefs = solve_path(system, alphas, rows.targets.n_counted(system.weight), tol)
            solution.details["criterion"] = CRITERIA["gcv"]
            alpha = alphas[self._set_path(alphas, scores, coefs)] if np.isfinite(scores).any() else alphas.max()
        else:
            alpha = alphas[0]
            solution = solve_one(system, alpha, tol)
        self._set(rows, solution.value, system.feature_mean, system.target_mean[: rows.targets.n_columns], alpha)
        return solution

    def _by_moments(self, rows: FeatureRows, alphas: Array) -> Solution:
        """Solve with the moments of one pass; leave-one-out takes a second."""
        empty = Moments.of(rows.n_features, rows.targets.n_columns, rows.origin, rows.targets.origin)
        moments = rows.reduce("moments", empty.of_block, empty.zero())
        gram, cross, squares = moments.centred()
        if not (np.isfinite(gram).all() and np.isfinite(cross).all()):
            raise ValueError(
                f"{type(self).__name__}: products of the features overflow {rows.dtype}. Scale X down "
                "(sklearn.preprocessing.StandardScaler), or pass float64."
            )
        if not isinstance(self.alpha, str):
            solution = cholesky(gram, cross, alphas[0])
            self._set_of_moments(rows, moments, solution.value, alphas[0])
            return solution
        few = rows.dtype == np.float64 and rows.n_rows <= _FEW_ROWS and rows.fits
        rank, n_counted = rows.n_rows - 1, rows.targets.n_counted(moments.weight)  # the rank of centred rows, at most
        if self.alpha == "gcv" and rows.n_features > _FEW_FEATURES and not few:
            reduced = tridiagonal_path(gram, cross, rank)
            scores = np.array([reduced.gcv(alpha, squares, n_counted) for alpha in alphas])
            coefs, solver = reduced.coefs(alphas), "tridiagonal"
        else:
            path = self._path_of_few(rows, moments) if few else ridge_path(gram, cross, rank)
            if self.alpha == "gcv":
                scores = np.array([path.gcv(alpha, squares, n_counted) for alpha in alphas])
            else:
                scores = self._left_out(rows, alphas, path, moments)
            coefs, solver = np.array([path.coef(alpha) for alpha in alphas]), "svd" if few else "eigh"
        best = self._set_path(alphas, scores, coefs)
        solution = Solution.converged(coefs[best], solver, criterion=CRITERIA[self.alpha])
        if self.alpha == "gcv":
            warn_if_fooled(type(self).__name__, rows, moments, coefs[best], alphas[best], scores[best])
        self._set_of_moments(rows, moments, solution.value, alphas[best])
        return solution

    def _set_of_moments(self, rows: FeatureRows, moments: Moments, coef: Array, alpha: float) -> None:
        self._set(rows, coef, moments.feature_mean, moments.target_mean, alpha)
        if self._shrinks_far_rows():
            self._leverage = Leverage.of(rows, moments, coef, alpha)
        self._keep_posterior(rows, moments, coef, alpha)

    def _keep_posterior(self, rows: FeatureRows, moments: Moments, coef: Array, alpha: float) -> None:
        """Keep what standard deviations of predictions need."""

    @staticmethod
    def _path_of_few(rows: FeatureRows, moments: Moments) -> RidgePath:
        Z, Y, weight = rows.matrix()
        root = np.ones((len(Z), 1)) if weight is None else np.sqrt(weight)[:, None]
        return singular_path(root * (Z - moments.feature_mean), root * (Y - moments.target_mean), len(Z) - 1)

    def _set_path(self, alphas: Array, scores: Array, coefs: Array) -> int:
        """Keep the path, of shape (n_alphas, D, n_targets), and return which alpha is best."""
        if not np.isfinite(scores).any():
            raise ValueError(
                f"{type(self).__name__}: alpha={self.alpha!r} needs more rows than the model has degrees of freedom, "
                "and no alpha leaves any. Give larger alphas, more rows, or alpha as a number."
            )
        self.alphas_, self.scores_, self.coef_path_ = alphas, scores, np.moveaxis(coefs, 2, 1)
        return int(np.argmin(scores))

    def _left_out(self, rows: FeatureRows, alphas: Array, path: RidgePath, moments: Moments) -> Array:
        """Return the mean squared leave-one-out error of each alpha."""
        mean, centre = moments.feature_mean, moments.target_mean
        path = path.for_rows_of(rows.dtype)

        def work(Z: Array, Y: Array, weight: Array | None) -> Totals:
            Z -= mean.astype(Z.dtype)
            left_out = None if weight is None else np.minimum(weight, rows.targets.weight_of_one(Y))
            return Totals(path.leave_one_out(Z, Y - centre, alphas, moments.weight, weight, left_out))

        totals = rows.reduce("leave-one-out", work, Totals.of(len(alphas)))
        return np.asarray(totals.values / moments.weight)

    def _set(self, rows: FeatureRows, coef: Array, feature_mean: Array, target_mean: Array, alpha: float) -> None:
        self.alpha_ = float(alpha)
        self._set_linear(rows.targets, coef.T, target_mean - feature_mean @ coef)

    def _alphas(self) -> Array:
        """Return the alphas to try: one, or those the rule chooses from."""
        name = type(self).__name__
        if not isinstance(self.alpha, str):
            return np.array([check_real(name, "alpha", self.alpha, least=0, strict=True)])
        if self.alpha not in CRITERIA:
            raise ValueError(f"{name}: alpha must be a number > 0, 'gcv' or 'loo', got {self.alpha!r}.")
        alphas = np.logspace(-6, 3, 30) if self.alphas is None else np.ravel(self.alphas)
        if not len(alphas):
            raise ValueError(f"{name}: alphas must hold at least one number > 0, got {self.alphas!r}.")
        return np.array([check_real(name, "alphas", value, least=0, strict=True) for value in alphas.tolist()])


class KernelRidge(Deviations, _Ridge, ManyTargets):
    r"""Kernel ridge regression at linear cost: least squares on D features with a squared penalty.

    .. math:: \min_{w, b} \sum_i w_i (y_i - \langle w, z(x_i) \rangle - b)^2 + \alpha \|w\|^2

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int, default=100
        Number of features D.
    features : feature map, optional
        A map of your own; ``kernel`` and ``n_components`` are then not used.
    alpha : float, "loo" or "gcv", default="loo"
        The penalty; or the rule that chooses it among ``alphas``. "loo" is the mean squared leave-one-out error, which
        is exact and takes one more pass over the rows. "gcv" is generalised cross-validation, which needs no such pass,
        but replaces the leverage of each row by the mean leverage: with a few rows far from all others it chooses alpha
        too small. For rows in memory, a warning says so if the leave-one-out error is more than 1.5 times its score.
        Where features are sparse, or D x D matrices exceed the memory, leave-one-out is not possible and "loo" means
        "gcv"; ``solution_.details["criterion"]`` says which rule has chosen.
    alphas : array, optional
        30 from 1e-6 to 1e3 by default.
    posterior : bool, default=False
        Keep what ``predict(X, return_std=True)`` needs: a D x D matrix, in memory and in model files (8 D^2 bytes).
    far_rows : "shrink" or "keep", default="shrink"
        Predictions of rows far from the training rows return to the mean of y, as those of an exact kernel machine do
        and those on random Fourier features do not; or are left as they are. See Notes.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads, at most one per core; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    coef_ : ndarray of shape (D,) or (n_targets, D)
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_ : float
    alphas_, scores_, coef_path_ : ndarray
        The alphas tried, their scores (a mean squared error) and their coefficients; with "gcv" and "loo" only.
    feature_map_ : fitted feature map
    solution_ : Solution

    Notes
    -----
    Time: n D^2 / 2 + D^3 / 3 multiplications for a number alpha; 4/3 D^3 in place of D^3 / 3 with "gcv"; 9 D^3, and
    n D^2 more, with "loo", which reads a stream three times instead of twice. Memory: a few matrices of D x D and a
    block of features per thread, whatever the number of rows.

    If features are sparse, or D x D matrices exceed the memory budget, conjugate gradients solve the problem, with one
    pass over the rows per iteration. "gcv" and "loo" then estimate the degrees of freedom with random signs, of the
    features or of the rows, whichever are fewer. One sequence of products serves all alphas, and separate passes
    measure their residuals. Alphas too small to converge have a score of inf.

    Far rows: a row is shrunk if one of its columns lies far outside the training rows, or if its leverage, estimated
    from 8 products per feature, shows that the error of its prediction exceeds the spread of y. The exact rule is
    continuous, and leaves rows like the training rows unchanged: ``mercer.learners.shrinkage``. Kernels that do not
    fall to 0 (linear, polynomial, and sums with them), and maps that follow the kernel (``Nystroem``), are left alone.

    The map, and parameters of the kernel that depend on the data, are fitted on a uniform sample of 4096 rows (4 D rows
    if that is more), or on all rows if they are fewer. The exact solution, at cost n^3, is
    ``sklearn.kernel_ridge.KernelRidge``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelRidge
    >>> X = np.random.RandomState(0).rand(500, 2)
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    >>> model = KernelRidge(Gaussian(gamma=1.0), n_components=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.999)
    True
    """

    _stored = Stored(
        **_Ridge._stored, posterior=Member(Posterior, {"n_features": "f"}, attribute="_posterior", optional=True)
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        features: FeatureMap | None = None,
        alpha: float | str = "loo",
        alphas: ArrayLike | None = None,
        posterior: bool = False,
        far_rows: str = "shrink",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            kernel,
            n_components=n_components,
            features=features,
            alpha=alpha,
            alphas=alphas,
            far_rows=far_rows,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.posterior = posterior


class KernelRidgeClassifier(_Ridge, KernelClassifier):
    """Classification by ridge regression on targets +1 and -1: one column per class, a single one for two classes.

    Parameters
    ----------
    kernel, n_components, features, alpha, alphas, far_rows, random_state, n_jobs, verbose : as in ``KernelRidge``
    class_weight : dict or "balanced", optional
        Factors of the weights of the rows of each class. "balanced" is W / (n_classes W_c), with W and W_c the sums of
        the sample weights of all rows and of the rows of class c.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (D,) for two classes, else (n_classes, D)
    intercept_, alpha_, alphas_, scores_, coef_path_, feature_map_, solution_ : as in ``KernelRidge``

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelRidgeClassifier
    >>> X = np.random.RandomState(0).randn(300, 2)
    >>> y = np.where(np.hypot(*X.T) > 1, "outside", "inside")
    >>> model = KernelRidgeClassifier(Gaussian(gamma=1.0), random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        features: FeatureMap | None = None,
        alpha: float | str = "loo",
        alphas: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        far_rows: str = "shrink",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            kernel,
            n_components=n_components,
            features=features,
            alpha=alpha,
            alphas=alphas,
            far_rows=far_rows,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight
