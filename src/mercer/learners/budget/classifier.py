"""Online classification with a budget of support vectors."""

from typing import Self

import numpy as np

from mercer._typing import Array, Seed
from mercer.data import Block, Blocks
from mercer.fitting import Classes, Targets
from mercer.fitting.targets import classes_in
from mercer.learners.budget.base import BudgetLearner, KernelLike, Labels, Stream
from mercer.learners.budget.objects import ObjectBlocks
from mercer.learners.budget.plan import LOSSES_OF_CLASSES, BudgetPlan
from mercer.learners.classification import ClassScores
from mercer.learners.online.steps import losses_of
from mercer.state import Count, Stored

NEW_CLASSES = ("error", "learn")


class BudgetClassifier(BudgetLearner, ClassScores):  # type: ignore[override] # coef_ is read from the state
    r"""Online classification by a sum of at most B kernel functions.

    .. math:: f(x) = \sum_{i=1}^{m} c_i\, k(x_i, x), \qquad m \le B

    Each row is predicted, its class is seen, and a row that has a loss becomes a support vector. ``update`` decides its
    coefficient. When there are B + 1 support vectors, ``maintenance`` decides which one leaves and what becomes of it.
    Unlike landmarks of NOGD, support vectors are replaced for ever, so f follows a stream that drifts.

    ==============================  ====================  ==================================
    Algorithm                       ``update``            ``maintenance``
    ==============================  ====================  ==================================
    BSGD, merging (the default)     "gradient"            "merge"
    BSGD, projection or removal     "gradient"            "project" or "remove"
    BOGD and BOGD++                 "gradient"            "stochastic", "stochastic_weighted"
    NORMA (a window)                "gradient"            "oldest"
    Random budget perceptron (RBP)  "perceptron"          "random"
    Forgetron                       "perceptron"          "shrink"
    Projectron                      "perceptron"          "project_newest"
    Projectron++                    "margin_perceptron"   "project_newest"
    BPA-S, BPA-NN and BPA-P         "passive_aggressive"  "absorb", "absorb_nearest", "project"
    KRLS-T                          "newton"              "project"
    ==============================  ====================  ==================================

    Parameters
    ----------
    kernel : Kernel or function, default=Gaussian()
        A function f(A, B) takes two arrays of rows, or two lists of objects such as strings, and returns the matrix of
        their kernel values.
    budget : int, default=100
        The most support vectors B.
    loss : "hinge", "squared_hinge", "logistic" or "squared", optional
        By default the hinge, and the squared loss for ``update="newton"``, which takes no other. Perceptrons have no
        loss of their own; the hinge is what ``cumulative_loss_`` adds up. For several classes as in
        ``FOGDClassifier``; the squared loss has a target of 1 or -1 for each class.
    update : str, default="gradient"
        * ``"gradient"``: f <- (1 - eta alpha) f - eta l' k(x, .) with eta = 1 / (alpha t + 1) at the t-th row;
        * ``"perceptron"``: a coefficient of 1 after each mistake;
        * ``"margin_perceptron"``: also a step along the projection of a row whose margin is between 0 and 1;
        * ``"passive_aggressive"``: the least change that leaves the row no loss, at most 1 / alpha (PA-I), and for
          squared losses divided by k(x, x) + alpha (PA-II);
        * ``"newton"``: kernel recursive least squares, O(B^2) per row.
    maintenance : str, optional
        By default "merge" for a Gaussian kernel, else "project".

        * ``"merge"``: the least support vector and the one that loses least with it become one between them, O(B d);
        * ``"project"``: the one that loses least is projected onto all others, O(B^2) per support vector;
        * ``"project_newest"``: the incoming row is projected onto the others, O(B^2);
        * ``"absorb"``: the one that loses least is projected onto the incoming row, O(B); ``"absorb_nearest"``: onto
          the incoming row and its own nearest neighbour, O(B^2);
        * ``"remove"``, ``"oldest"``, ``"random"``: the least, the oldest or a random one is dropped, O(B);
        * ``"shrink"``: all are shrunk, and the oldest is dropped, O(B);
        * ``"stochastic"``, ``"stochastic_weighted"``: a random one is dropped, uniformly or small ones first, and the
          others are divided by their chance to stay, O(B).
    alpha : float, optional
        The penalty of ``"gradient"`` (1e-4 by default), the inverse of the largest coefficient of
        ``"passive_aggressive"`` (1.0) and the noise of ``"newton"`` (0.1).
    tolerance : float, default=1e-3
        With projections, a row whose part outside the span of the support vectors is at most this part of its length
        does not join: it is projected. The parameter eta of the Projectron.
    decay : float, default=1.0
        Factor by which each row multiplies what earlier rows have taught: the coefficients, or in ``"newton"`` by how
        much the rows seen reduce the variance. 0.999 remembers about 1000 rows.
    new_classes : "error" or "learn", default="error"
        What ``partial_fit`` does with a class that was not named on its first call. With ``"learn"`` the first call
        need not name any.
    random_state : int, RandomState or None
        Decides removals by chance.
    n_jobs : int, optional
        Threads of predictions; rows are learned one after the other.
    verbose : int, default=0
        1 shows the progress of the pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_vectors_ : array or CSR matrix of shape (m, d)
        Dense after merging.
    coef_ : ndarray of shape (m,) for two classes, else (n_classes, m)
    intercept_ : 0.0 or zeros
    n_seen_, n_mistakes_, cumulative_loss_ : as in ``FOGDClassifier``
    update_, maintenance_ : str
        As at the first row; ``partial_fit`` refuses others.
    state_ : SupportSet
        The support vectors with their coefficients, and what the update carries from row to row.

    Notes
    -----
    Guarantees, for k(x, x) <= 1 and two classes; u is any function of the kernel's space with norm U, and L(u) the sum
    of its hinge losses on the stream.

    * Forgetron: for B >= 83 and U <= sqrt((B + 1) / log(B + 1)) / 4 there are at most 2 U^2 + 4 L(u) mistakes (Dekel
      et al.).
    * Projectron: as long as every projection leaves at most eta, with eta U < 1, M mistakes satisfy
      M (1 - eta U) <= L(u) + U sqrt(M): each mistake adds at least 1 - l(u) - eta U to <u, f> and at most 1 to |f|^2.
      For L(u) = 0 this is M <= (U / (1 - eta U))^2. Projectron++ satisfies the same with the progress of its steps on
      margin errors, tau (2 l - tau |P k|^2), added to M; every such step has a residual of at most eta l.
    * RBP: for U < sqrt(B), the expected number m of mistakes satisfies m (1 - U / sqrt(B)) <= L(u) + U sqrt(2 m), on a
      stream that does not depend on the removals. A mistake with a removal multiplies the mean of <u, f> by 1 - 1/B and
      adds at least 1 - l(u); the mean of |f|^2 becomes at most (1 - 2/B) |f|^2 + 2.
    * BSGD, for losses of slope at most 1: with the step eta = 1 / (alpha t + 1), the derivative g of the penalised loss
      F_t(f) = l_t(f) + alpha |f|^2 / 2, h = f - eta g, and v = h - f' taken away by the maintenance,
      sum F_t(f_t) - F_t(u) <= U^2 / 2 + sum eta |g|^2 / 2 + sum (|v|^2 / 2 - <v, h - u>) / eta. Without maintenance,
      v = 0 and |f| <= 1 / alpha, so that |g| <= 2 and n rows leave at most U^2 / 2 + (2 / alpha) log(1 + alpha n).
      "project" keeps |f| <= 1 / alpha, and v is orthogonal to f': it adds at most U sum |v| / eta. Both "merge" and
      "project" choose the v that is least.
    * BOGD, BOGD++: the mean of v over the removals is 0 as long as no coefficient is clipped at 1, the largest that a
      step gives; the bound of BSGD then holds in the mean without the term <v, h - u>. In BOGD
      v = B / (B - 1) (c_q k_q - m), where q leaves and m is the mean of all c_i k_i but the newest, so that the mean of
      |v|^2 is at most (c B / (B - 1))^2 for coefficients of at most c.
    * BPA: "passive_aggressive" with "absorb", "absorb_nearest" and "project" solves the budgeted problem of Wang and
      Vucetic exactly: the projection of the one that leaves is orthogonal to the incoming row's step.
    * KRLS-T: with no forgetting and B rows or fewer, f is kernel ridge regression with the penalty alpha.

    Kernel values of 128 rows are made at once, of eight for merging; the loop over the rows is compiled. Cuts of
    the stream leave the bits; with "project", "project_newest" and "newton", whose matrices change once per eight rows,
    cuts at multiples of eight rows do, and others change the last digits ("project_newest" with a full budget changes
    coefficients once per 64 rows: cuts at multiples of 128 leave the bits). Memory,
    whatever the number of rows: O(B d), a block of 4096 rows, and three B x B matrices at most. Parameters of the
    kernel that depend on the data are found on the first block (4096 rows at most). An error leaves the model as it was
    before the call. Ctrl-C leaves it as it was after the last whole block; ``n_seen_`` says how many rows that are.

    References
    ----------
    Z. Wang, K. Crammer and S. Vucetic, "Breaking the curse of kernelization: budgeted stochastic gradient descent for
    large-scale SVM training", JMLR 13, 2012.
    T. Glasmachers and S. Qaadan, "Speeding up budgeted stochastic gradient descent SVM training with precomputed
    golden section search", 2018.
    O. Dekel, S. Shalev-Shwartz and Y. Singer, "The Forgetron", SIAM Journal on Computing 37, 2008.
    G. Cavallanti, N. Cesa-Bianchi and C. Gentile, "Tracking the best hyperplane with a simple budget perceptron",
    Machine Learning 69, 2007.
    F. Orabona, J. Keshet and B. Caputo, "Bounded kernel-based online learning", JMLR 10, 2009.
    Z. Wang and S. Vucetic, "Online passive-aggressive algorithms on a budget", AISTATS 2010.
    P. Zhao, J. Wang, P. Wu, R. Jin and S. C. H. Hoi, "Fast bounded online gradient descent algorithms for scalable
    kernel-based online learning", ICML 2012.
    L. Csato and M. Opper, "Sparse on-line Gaussian processes", Neural Computation 14, 2002: the form of KRLS-T here.
    S. Van Vaerenbergh, M. Lazaro-Gredilla and I. Santamaria, "Kernel recursive least-squares tracker for time-varying
    regression", IEEE Transactions on Neural Networks and Learning Systems 23, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.learners import BudgetClassifier
    >>> rng = np.random.RandomState(0)
    >>> model = BudgetClassifier(Gaussian(gamma=1.0), budget=60)
    >>> for _ in range(10):
    ...     X = rng.randn(200, 2)
    ...     y = np.where(np.hypot(*X.T) > 1, "outside", "inside")
    ...     model = model.partial_fit(X, y, classes=["inside", "outside"])
    >>> model.n_seen_, bool(model.n_mistakes_ < 250), model.support_vectors_.shape
    (2000, True, (60, 2))
    """

    _stored = Stored(n_mistakes_=Count())

    _losses = LOSSES_OF_CLASSES
    n_mistakes_: int

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        budget: int = 100,
        loss: str | None = None,
        update: str = "gradient",
        maintenance: str | None = None,
        alpha: float | None = None,
        tolerance: float = 1e-3,
        decay: float = 1.0,
        new_classes: str = "error",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            kernel,
            budget=budget,
            loss=loss,
            update=update,
            maintenance=maintenance,
            alpha=alpha,
            tolerance=tolerance,
            decay=decay,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.new_classes = new_classes

    def partial_fit(self, X: Stream, y: Labels = None, classes: Labels = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``.

        ``classes`` lists all classes that the stream may hold. The first call needs it, unless
        ``new_classes="learn"``; later ones may leave it out.
        """
        return self._pass(X, y, fresh=False, classes=classes)

    def _plan(self) -> BudgetPlan:
        if self.new_classes not in NEW_CLASSES:
            raise ValueError(
                f"{type(self).__name__}: new_classes must be one of {list(NEW_CLASSES)}, got {self.new_classes!r}."
            )
        return super()._plan()

    def _targets(self) -> Classes:
        return Classes(type(self).__name__)

    def _known(self, blocks: Blocks | ObjectBlocks, targets: Targets, classes: Labels, *, fresh: bool) -> None:
        name, known = type(self).__name__, getattr(self, "classes_", None)
        if fresh:
            self.classes_ = classes_in(blocks, targets)
        elif known is not None and np.array_equal(known, np.asarray(classes)):
            pass  # as on the first call: nothing to check
        elif classes is not None:
            # Each class twice: scikit-learn warns of labels most of which differ.
            given = np.unique(targets.check(np.repeat(np.atleast_1d(np.asarray(classes)), 2, axis=0)))
            if known is not None and not np.array_equal(given, known):
                raise ValueError(
                    f"{name}: classes must stay what they were on the first call to partial_fit, {known.tolist()}, got "
                    f"{given.tolist()}. Leave classes out, or start again with fit or a clone."
                )
            self.classes_ = given
        elif known is None and self.new_classes == "error":
            raise ValueError(
                f"{name}: classes must be passed on the first call to partial_fit: all the classes that the stream "
                "may hold, partial_fit(X, y, classes=[...]). Or set new_classes='learn'."
            )

    def _n_columns(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _numbers(self, targets: Targets, block: Block) -> Array:
        labels: Array = np.asarray(block.y if targets.checked else targets.check(block.y))
        if self.new_classes == "learn":
            self._add_classes(labels)
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        unseen = np.flatnonzero(self.classes_[codes] != labels)
        if len(unseen):
            row, label = getattr(self, "n_seen_", 0) + int(unseen[0]), labels[unseen].tolist()[0]
            raise ValueError(
                f"{type(self).__name__}: y holds {label!r} at row {row} of the stream, which is not among the classes "
                f"{self.classes_.tolist()}. Name all classes on the first call: "
                "partial_fit(X, y, classes=[...]), or set new_classes='learn'."
            )
        return np.where(codes == 1, 1.0, -1.0) if len(self.classes_) == 2 else codes.astype(np.float64)

    def _add_classes(self, labels: Array) -> None:
        """Take in classes that were not known; predictions do not change until their rows are learned."""
        known: Array | None = getattr(self, "classes_", None)
        classes = np.unique(labels) if known is None else np.union1d(known, labels)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__}: the first rows hold one class, {classes.tolist()[0]!r}, and there is nothing "
                "to tell apart. Begin with rows of two classes, or name the classes: "
                "partial_fit(X, y, classes=[...])."
            )
        if known is not None and len(classes) > len(known) and "state_" in self.__dict__:
            places = np.searchsorted(classes, known)
            signs = np.ones(len(known))
            if len(known) == 2:  # margins of two classes are differences of scores, unless each class has its own loss
                half = 1.0 if self._plan().loss in ("squared", "squared_hinge") else 0.5
                signs = np.array([-half, half])
            self.state_ = self.state_.with_columns(places, signs, len(classes))
        self.classes_ = classes

    def _losses_of(self, plan: BudgetPlan, scores: Array, y: Array) -> Array:
        if plan.loss == "squared":
            wanted = (
                y[:, None] if scores.shape[1] == 1 else np.where(np.arange(scores.shape[1]) == y[:, None], 1.0, -1.0)
            )
            return np.asarray(0.5 * np.square(scores - wanted).sum(axis=1))
        return losses_of(plan.rule.loss, scores, y)

    def _mistakes(self, scores: Array, y: Array) -> dict[str, int]:
        wrong = (scores[:, 0] > 0) != (y > 0) if scores.shape[1] == 1 else scores.argmax(axis=1) != y
        return {"n_mistakes_": getattr(self, "n_mistakes_", 0) + int(np.count_nonzero(wrong))}
