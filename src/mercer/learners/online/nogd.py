"""Nystroem online gradient descent: first with the kernel itself, then on features of landmarks (Lu et al., 2016)."""

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features import Nystroem
from mercer.kernels import Kernel
from mercer.learners.online.base import Attributes, OnlineLearner, OnlineRegressor
from mercer.learners.online.classification import OnlineClassifier
from mercer.learners.online.steps import Rule, Weights, with_constant
from mercer.learners.online.support import Support
from mercer.state import Member, Sizes, Stored, require
from mercer.validation import check_integer, check_memory


class _NOGD(OnlineLearner):
    _stored = Stored(
        feature_map_=Member(Nystroem, {"n_features_in_": "d", "n_features_out_": "f"}, nullable=True),
        state_=Member((Support, Weights)),
    )

    rank: int | None
    feature_map_: Nystroem | None  # type: ignore[assignment]

    @override
    def _check_params(self) -> None:
        self._map_plan()
        if self.rank is not None:
            check_integer(type(self).__name__, "rank", self.rank)

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        state, n_columns = self.state_, sizes.get("k", 1)
        first = isinstance(state, Support)
        require(first == (self.feature_map_ is None), "state_ must be of rows as long as there is no feature_map_")
        shape = (sizes["f"], n_columns) if first else (n_columns, sizes["f"] + 1)
        require(state.coef.shape == shape, "state_ must have the shape of coef_")
        require(state.is_of(self.update_), "state_ must be that of update_")
        if isinstance(state, Support):
            require(state.rows.shape[1] == sizes["d"], "the rows of state_ must have the columns of X")

    @override
    def _begin(self, rule: Rule, X: Rows, rng: np.random.RandomState) -> Attributes:
        plan = self._map_plan()
        budget = plan.n_features
        what = f"the Gram matrix of {budget} rows and its factors"
        check_memory(plan.owner, "n_components", budget, 4 * 8 * budget**2, what)
        kernel = plan.kernel.resolve(X)
        return {"feature_map_": None, "state_": Support.none(kernel, X, self._n_columns())}

    @override
    def _learned(self, rule: Rule, X: Rows, y: Array) -> tuple[Attributes, Array]:
        """Learn with the kernel itself up to the budget, and the rest of the block on features."""
        name = type(self).__name__
        nystroem, state, scores = self.feature_map_, self.state_, np.zeros((0, self._n_columns()))
        if isinstance(state, Support):
            budget = self._map_plan().n_features  # which may change between two calls
            state, scores = state.learn(rule, X, y, self.n_seen_, budget)
            if len(state.coef) < budget:
                of_rows = np.vstack([state.coef, state.coef.sum(axis=0)]).T
                return {"state_": state, **self._split(of_rows)}, scores
            nystroem, state = state.explicit(name, rule, self.rank, self.n_seen_ + len(scores))
        n_done = len(scores)
        if nystroem is not None and n_done < X.shape[0]:
            Z = with_constant(nystroem.transform(X[n_done:].astype(np.float64)))
            state, rest = state.learn(rule, Z, y[n_done:], self.n_seen_ + n_done)
            scores = np.vstack([scores, rest])
        return {"feature_map_": nystroem, "state_": state, **self._split(state.coef)}, scores

    @override
    def _features(self, X: Rows) -> Array:
        # Always in float64: small eigenvalues of the landmarks' Gram matrix would amplify the rounding of float32.
        if isinstance(self.state_, Support):
            return self.state_.columns(X)
        Z: Array = self.feature_map_.transform(X.astype(np.float64))  # type: ignore[union-attr]
        return Z


class NOGDClassifier(OnlineClassifier, _NOGD):
    """Online classification with the kernel itself until B rows have had a loss, then on Nystroem features of those.

    In the first phase f is a sum of kernel functions of the rows that had a loss. When there are B such rows, they
    become landmarks, and f becomes a linear function of their Nystroem features. The curvature of Newton steps is
    carried over. At full rank f does not change, so predictions do not jump. A stream in which fewer than B rows have a
    loss is learned by the exact kernel machine to its end.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int or "auto", default="auto"
        The budget B of rows. "auto" takes 1024, fewer under a memory limit or with ``decay``, as in ``FOGDClassifier``.
    rank : int, optional
        Number of features to keep, along the leading principal directions; Lu et al. keep B / 5. Predictions then
        change when the second phase begins. By default all B are kept.
    loss, update, alpha, step, schedule, decay, new_classes, random_state, n_jobs, verbose : as in ``FOGDClassifier``
        In the first phase ``"adagrad"`` is plain gradient descent, since there are no coordinates to scale yet.
        ``decay`` forgets what was learned on the rows, not the landmarks: where the rows themselves move away from
        the first B that had a loss, prefer ``FOGDClassifier``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (D,) for two classes, else (n_classes, D)
        Coefficients of the features; in the first phase, of the kernel functions of the rows that had a loss.
    intercept_ : float or ndarray of shape (n_classes,)
    update_, alpha_, decay_, n_seen_, n_mistakes_, cumulative_loss_ : as in ``FOGDClassifier``
    feature_map_ : Nystroem, or None in the first phase
    state_ : Support in the first phase, then Weights

    Notes
    -----
    Time per row: B kernel values and B^2 multiplications for the features, and that of ``FOGDClassifier`` for D = B.
    In the first phase: B kernel values and, with Newton steps, B^2 multiplications. Memory: O(B^2 + B d), whatever the
    number of rows. Features and predictions are float64, since eigenvalues of the landmarks' Gram matrix may be as
    small as its rounding.

    References
    ----------
    J. Lu, S. C. H. Hoi, J. Wang, P. Zhao and Z.-Y. Liu, "Large scale online kernel learning", JMLR 17, 2016.
    D. Calandriello, A. Lazaric and M. Valko, "Efficient second-order online kernel learning with adaptive embedding",
    NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, NOGDClassifier
    >>> rng = np.random.RandomState(0)
    >>> model = NOGDClassifier(Gaussian(gamma=1.0), n_components=60)
    >>> for _ in range(10):
    ...     X = rng.randn(200, 2)
    ...     y = np.where(np.hypot(*X.T) > 1, "outside", "inside")
    ...     model = model.partial_fit(X, y, classes=["inside", "outside"])
    >>> model.n_seen_, bool(model.n_mistakes_ < 200), len(model.feature_map_.landmarks_)
    (2000, True, 60)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | str = "auto",
        rank: int | None = None,
        loss: str = "hinge",
        update: str = "newton",
        alpha: float = 0.1,
        step: float = 1.0,
        schedule: str = "sqrt",
        decay: float = 1.0,
        new_classes: str = "error",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            kernel,
            n_components=n_components,
            loss=loss,
            update=update,
            alpha=alpha,
            step=step,
            schedule=schedule,
            decay=decay,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.rank = rank
        self.new_classes = new_classes


class NOGDRegressor(OnlineRegressor, _NOGD):
    """Online regression with the kernel itself until B rows have had a loss, then on Nystroem features of those.

    With ``update="newton"`` and the squared loss, the first phase is kernel ridge regression with the penalty alpha and
    a constant feature, updated row by row.

    Parameters
    ----------
    loss : "squared" or "absolute", default="squared"
        With the squared loss every row that is not predicted exactly has a loss: usually the first B rows.
    kernel, n_components, rank, update, alpha, step, schedule, decay, random_state, n_jobs, verbose :
        as in ``NOGDClassifier``

    Attributes
    ----------
    coef_ : ndarray of shape (D,)
    intercept_ : float
    update_, alpha_, decay_, n_seen_, cumulative_loss_, feature_map_, state_ : as in ``NOGDClassifier``

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, NOGDRegressor
    >>> X = np.random.RandomState(0).rand(2000, 2)
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    >>> model = NOGDRegressor(Gaussian(gamma=1.0), alpha=1e-3).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | str = "auto",
        rank: int | None = None,
        loss: str = "squared",
        update: str = "newton",
        alpha: float = 0.1,
        step: float = 1.0,
        schedule: str = "sqrt",
        decay: float = 1.0,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            kernel,
            n_components=n_components,
            loss=loss,
            update=update,
            alpha=alpha,
            step=step,
            schedule=schedule,
            decay=decay,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.rank = rank
