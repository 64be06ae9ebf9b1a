"""Ridge regression and classification on the features of a kernel."""

from numpy.typing import ArrayLike

from mercer._typing import Seed
from mercer.features import FeatureMap
from mercer.fitting.targets import ClassWeight
from mercer.kernels import Kernel
from mercer.learners.classification import KernelClassifier
from mercer.learners.deviations import Deviations
from mercer.learners.posterior import Posterior
from mercer.learners.regression import ManyTargets
from mercer.learners.ridge_base import Ridge
from mercer.learners.running_moments import GrowingRidge
from mercer.state import Member, Stored


class KernelRidge(Deviations, GrowingRidge, ManyTargets):
    r"""Kernel ridge regression at linear cost: least squares on D features with a squared penalty.

    .. math:: \min_{w, b} \sum_i w_i (y_i - \langle w, z(x_i) \rangle - b)^2 + \alpha \|w\|^2

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int, "auto" or "grow", default="auto"
        Number of features D. "auto" takes 1024 features, and more where the leave-one-out error of a sample says that
        more pay; for kernels that count parts of objects, 2^18 hashed columns, which are sparse. The choice and its
        curve are in ``solution_.details``; the rule is in ``mercer.fitting.width``. "grow" adds slabs of 4096 features
        to a shift-invariant kernel's map while they lower the error of held-out rows
        (``mercer.learners.slab_descent``); these errors are ``solution_.history``.
    features : feature map, optional
        A map of your own; ``kernel`` and ``n_components`` are then not used. With ``n_components="grow"`` it must be
        ``SeededBlocks``, whose ``n_components`` is then the largest number of features.
    alpha : float, "loo" or "gcv", default="loo"
        The penalty; or the rule that chooses it among ``alphas``. "loo" is the mean squared leave-one-out error, which
        is exact and takes one more pass over the rows. "gcv" is generalised cross-validation, which needs no such pass,
        but replaces the leverage of each row by the mean leverage: with a few rows far from all others it chooses alpha
        too small. For rows in memory, a warning says so if the leave-one-out error is more than 1.5 times its score.
        Where features are sparse and rows more than 2048, or D x D matrices exceed the memory, leave-one-out is not
        possible and "loo" means "gcv"; ``solution_.details["criterion"]`` says which rule has chosen. On features in
        slabs both mean the leave-one-out error of 2048 sampled rows with the exact kernel.
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
        The alphas tried, their scores (a mean squared error) and their coefficients; with "gcv" and "loo" only. The
        coefficients are not kept where sparse features are more than the rows.
    feature_map_ : fitted feature map
    solution_ : Solution

    Notes
    -----
    Time: n D^2 / 2 + D^3 / 3 multiplications for a number alpha; 4/3 D^3 in place of D^3 / 3 with "gcv"; 9 D^3, and
    n D^2 more, with "loo", which reads a stream three times instead of twice. Memory: a few matrices of D x D and a
    block of features per thread, whatever the number of rows.

    If sparse features are more than the rows, the problem is solved in the space of the rows: from their n x n Gram
    matrix up to 4608 rows, where all scores are exact, and by conjugate gradients beyond. Otherwise, if features are
    sparse or D x D matrices exceed the memory budget, conjugate gradients solve the problem, with one
    pass over the rows per iteration. "gcv" and "loo" then estimate the degrees of freedom with random signs, of the
    features or of the rows, whichever are fewer. One sequence of products serves all alphas, and separate passes
    measure their residuals. Alphas too small to converge have a score of inf.

    Far rows: a row is shrunk if one of its columns lies far outside the training rows, or if its leverage, estimated
    from 8 products per feature, shows that the error of its prediction exceeds the spread of y. The exact rule is
    continuous, and leaves rows like the training rows unchanged: ``mercer.learners.shrinkage``. Kernels that do not
    fall to 0 (linear, polynomial, and sums with them), and maps that follow the kernel (``Nystroem``), are left alone.

    A number alpha is then solved with a preconditioner: up to 1024 eigenvectors (512 of sparse features) from sampled
    rows. Beyond 32,768 features of a shift-invariant kernel the map is ``SeededBlocks``. Its features are made in slabs
    that are never stored, and no D x D matrix is made. Conjugate gradients then stop once four products together lower
    the objective by less than 1e-3 of what all have. Memory: about ten vectors of D k numbers, the eigenvectors, and a
    block of a slab per thread.

    ``partial_fit`` adds rows to a model that it began, and keeps a D x D matrix for that.

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
        **GrowingRidge._stored, posterior=Member(Posterior, {"n_features": "f"}, attribute="_posterior", optional=True)
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | str = "auto",
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


class KernelRidgeClassifier(Ridge, KernelClassifier):
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
        n_components: int | str = "auto",
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
