"""The base of ridge regression and classification on the features of a kernel."""

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array, Seed
from mercer.features import FeatureMap, SeededBlocks
from mercer.fitting import FeatureRows, MapPlan
from mercer.fitting.width import Solver
from mercer.kernels import Kernel
from mercer.learners.base import LINEAR, LinearLearner
from mercer.learners.gcv_check import warn_if_fooled
from mercer.learners.penalised_moments import PenalisedMoments
from mercer.learners.ridge_dual import is_dual, solve_dual
from mercer.learners.ridge_iterative import centred_system, solve_one, solve_path
from mercer.learners.ridge_wide import CRITERION as SAMPLE_CRITERION
from mercer.learners.ridge_wide import GAIN_TOL, sample_scores
from mercer.learners.shrinkage import Leverage
from mercer.learners.slab_descent import slab_descent
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

# Residuals at which conjugate gradients end, by the bytes of a feature.
_RESIDUAL = {8: 1e-10, 4: 1e-5}

# Features at which n_components="grow" ends, if the held-out error still falls.
_MOST_GROWN = 2**18

# The rules that choose alpha, as ``solution_`` names them.
CRITERIA = {"gcv": "generalised cross-validation", "loo": "leave-one-out"}


class Ridge(LinearLearner):
    """Base of ridge regression and of its classifier: least squares with a squared penalty."""

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
        n_components: int | str = "auto",
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

    def _solver(self) -> Solver:
        return Solver(n_squares=_SQUARE_MATRICES + 2)

    def _is_direct(self, rows: FeatureRows) -> bool:
        """Return whether a D x D matrix is made."""
        return not (rows.is_sparse or rows.in_slabs) and rows.fits_square(_SQUARE_MATRICES)

    def _reads_slabs(self) -> bool:
        return True

    def _samples_y(self, plan: MapPlan) -> bool:
        return plan.has_slabs and isinstance(self.alpha, str)

    def _solve(self, rows: FeatureRows) -> Solution:
        alphas = self._alphas()
        if self._grows():
            return self._grown(rows, alphas)
        if self._is_direct(rows):
            return self._of_moments(rows, self._moments_of(rows), alphas, rows.n_rows)
        if is_dual(rows):
            return self._in_dual(rows, alphas)
        if rows.in_slabs:
            return self._in_slabs(rows, alphas)
        # Leave-one-out needs a D x D matrix, so generalised cross-validation takes its place here.
        chooses = isinstance(self.alpha, str)
        # With few rows, few degrees of freedom are left: random signs of the rows can estimate them, of features not.
        signs_of_rows = chooses and rows.n_rows <= rows.n_features
        system = centred_system(rows, rows.targets.origin, with_probes=signs_of_rows)
        tol = _RESIDUAL[rows.dtype.itemsize]
        if chooses:
            solution, scores, coefs = solve_path(system, alphas, rows.targets.n_counted(system.weight), tol)
            solution.details["criterion"] = CRITERIA["gcv"]
            alpha = alphas[self._set_path(alphas, scores, coefs)] if np.isfinite(scores).any() else alphas.max()
        else:
            alpha = alphas[0]
            solution = solve_one(system, alpha, tol)
        self._set(rows, solution.value, system.feature_mean, system.target_mean[: rows.targets.n_columns], alpha)
        return solution

    def _map_plan(self) -> MapPlan:
        if not self._grows():
            return super()._map_plan()
        plan = self._plan_of(_MOST_GROWN)
        if not plan.has_slabs:
            what = f"kernel={plan.kernel!r}" if plan.given is None else f"features={plan.given!r}"
            raise ValueError(
                f"{type(self).__name__}: n_components='grow' adds slabs of Fourier features, which {what} has not. "
                "Take a shift-invariant kernel such as Gaussian(), features=SeededBlocks(...), or a number of features."
            )
        return plan

    def _grows(self) -> bool:
        """Return whether the held-out error chooses the number of features."""
        return isinstance(self.n_components, str) and self.n_components == "grow"

    def _stays_local(self) -> str:
        if not self._grows():
            return ""
        return (
            "n_components='grow' keeps the residual of each row in this process, which rows elsewhere do not allow. "
            "Give a number of features."
        )

    def _grown(self, rows: FeatureRows, alphas: Array) -> Solution:
        """Add slabs of features while they lower the error of held-out rows."""
        alpha, details = self._alpha_of_sample(rows, alphas)
        if not isinstance(self.feature_map_, SeededBlocks):
            raise TypeError(f"{type(self).__name__}: the map must be SeededBlocks, got {self.feature_map_!r}.")
        model = slab_descent(rows, self.feature_map_, alpha)
        self.feature_map_, self.alpha_ = model.feature_map, float(alpha)
        self._set_linear(rows.targets, model.solution.value.T, model.intercept)
        return model.solution.with_details(**details)

    def _alpha_of_sample(self, rows: FeatureRows, alphas: Array) -> tuple[float, dict[str, object]]:
        """Return the alpha that is given, or that sampled rows choose, and the name of the rule."""
        if not isinstance(self.alpha, str):
            return float(alphas[0]), {}
        scores = sample_scores(rows, alphas)
        self._check_scores(scores)
        self.alphas_, self.scores_ = alphas, scores
        return float(alphas[int(np.argmin(scores))]), {"criterion": SAMPLE_CRITERION}

    def _in_slabs(self, rows: FeatureRows, alphas: Array) -> Solution:
        """Solve by preconditioned conjugate gradients, for an alpha that sampled rows choose."""
        alpha, details = self._alpha_of_sample(rows, alphas)
        system = centred_system(rows, rows.targets.origin)
        solution = solve_one(system, alpha, _RESIDUAL[rows.dtype.itemsize], GAIN_TOL)
        self._set(rows, solution.value, system.feature_mean, system.target_mean, alpha)
        return solution.with_details(**details)

    def _in_dual(self, rows: FeatureRows, alphas: Array) -> Solution:
        """Solve in the space of the rows, which are fewer than the sparse features."""
        fit = solve_dual(rows, alphas, self.alpha if isinstance(self.alpha, str) else None)
        if fit.scores is not None and fit.criterion is not None:
            fit.solution.details["criterion"] = CRITERIA[fit.criterion]
            self._check_scores(fit.scores)
            self.alphas_, self.scores_ = alphas, fit.scores
        self._set(rows, fit.coef, fit.feature_mean, fit.target_mean, fit.alpha)
        return fit.solution

    def _moments_of(self, rows: FeatureRows, into: Moments | None = None) -> Moments:
        """Return the moments of all rows, from one pass, added to ``into`` if that is given."""
        if into is None:
            into = Moments.of(rows.n_features, rows.targets.n_columns, rows.origin, rows.targets.origin)
        return rows.reduce("moments", into.zero().of_block, into)

    def _of_moments(
        self, rows: FeatureRows, moments: Moments, alphas: Array, n_rows: int, *, by_rows: bool = True
    ) -> Solution:
        """Solve with the moments of ``n_rows`` rows; leave-one-out takes another pass over them.

        Without ``by_rows``, not all of these rows can be read: generalised cross-validation takes the place of "loo".
        """
        centred = gram, cross, squares = moments.centred()
        if not (np.isfinite(gram).all() and np.isfinite(cross).all()):
            raise ValueError(
                f"{type(self).__name__}: products of the features overflow {rows.dtype}. Scale X down "
                "(sklearn.preprocessing.StandardScaler), or pass float64."
            )
        if not isinstance(self.alpha, str):
            solution = cholesky(gram, cross, alphas[0])
            self._set_of_moments(rows, PenalisedMoments(moments, *centred, alphas[0]), solution.value, n_rows)
            return solution
        rule = self.alpha if by_rows else "gcv"
        few = by_rows and rows.dtype == np.float64 and rows.n_rows <= _FEW_ROWS and rows.fits
        rank, n_counted = n_rows - 1, rows.targets.n_counted(moments.weight)  # the rank of centred rows, at most
        if rule == "gcv" and rows.n_features > _FEW_FEATURES and not few:
            reduced = tridiagonal_path(gram, cross, rank)
            scores = np.array([reduced.gcv(alpha, squares, n_counted) for alpha in alphas])
            coefs, solver = reduced.coefs(alphas), "tridiagonal"
        else:
            path = self._path_of_few(rows, moments) if few else ridge_path(gram, cross, rank)
            if rule == "gcv":
                scores = np.array([path.gcv(alpha, squares, n_counted) for alpha in alphas])
            else:
                scores = self._left_out(rows, alphas, path, moments)
            coefs, solver = np.array([path.coef(alpha) for alpha in alphas]), "svd" if few else "eigh"
        best = self._set_path(alphas, scores, coefs)
        solution = Solution.converged(coefs[best], solver, criterion=CRITERIA[rule])
        system = PenalisedMoments(moments, *centred, alphas[best])
        if rule == "gcv" and by_rows:
            warn_if_fooled(type(self).__name__, rows, system, coefs[best], scores[best])
        self._set_of_moments(rows, system, solution.value, n_rows)
        return solution

    def _set_of_moments(self, rows: FeatureRows, system: PenalisedMoments, coef: Array, n_rows: int) -> None:
        self._set(rows, coef, system.moments.feature_mean, system.moments.target_mean, system.alpha)
        if self._shrinks_far_rows():
            self._leverage = Leverage.of(rows, system, coef, n_rows)
        self._keep_posterior(rows, system, coef)

    def _keep_posterior(self, rows: FeatureRows, system: PenalisedMoments, coef: Array) -> None:
        """Keep what standard deviations of predictions need."""

    @staticmethod
    def _path_of_few(rows: FeatureRows, moments: Moments) -> RidgePath:
        Z, Y, weight = rows.matrix()
        root = np.ones((len(Z), 1)) if weight is None else np.sqrt(weight)[:, None]
        return singular_path(root * (Z - moments.feature_mean), root * (Y - moments.target_mean), len(Z) - 1)

    def _set_path(self, alphas: Array, scores: Array, coefs: Array) -> int:
        """Keep the path, of shape (n_alphas, D, n_targets), and return which alpha is best."""
        self._check_scores(scores)
        self.alphas_, self.scores_, self.coef_path_ = alphas, scores, np.moveaxis(coefs, 2, 1)
        return int(np.argmin(scores))

    def _check_scores(self, scores: Array) -> None:
        if not np.isfinite(scores).any():
            raise ValueError(
                f"{type(self).__name__}: alpha={self.alpha!r} needs more rows than the model has degrees of freedom, "
                "and no alpha leaves any. Give larger alphas, more rows, or alpha as a number."
            )

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
