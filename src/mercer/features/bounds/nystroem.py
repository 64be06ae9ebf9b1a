"""The number of landmarks of a rank-k Nystroem approximation, by the theorem of Drineas and Mahoney (2005)."""

from collections.abc import Iterator
from math import ceil, exp, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from mercer._typing import Array
from mercer.features.bounds.rules import Components, Task, register_bounds
from mercer.features.nystroem.map import Nystroem
from mercer.validation import check_integer, check_real

_LOG_MOST = log(2.0**62)


def drineas_mahoney_components(rank: int, epsilon: float, *, delta: float | None = None, norm: str = "fro") -> int:
    r"""Return the number c of landmarks for which the theorem of Drineas and Mahoney holds.

    Let c landmarks be drawn with replacement with probabilities :math:`p_i = G_{ii}^2 / \sum_j G_{jj}^2`, and
    :math:`\tilde G_k = C W_k^+ C^T` (``Nystroem(landmarks="weighted", rank=k, reduction="landmarks")``). Then

    .. math:: E \|G - \tilde G_k\|_F \le \|G - G_k\|_F + \epsilon \tau \quad (c \ge 64 k / \epsilon^4),

    .. math:: E \|G - \tilde G_k\|_2 \le \|G - G_k\|_2 + \epsilon \tau \quad (c \ge 4 / \epsilon^2),

    with :math:`\tau^2 = \sum_i G_{ii}^2 / p_i = n \sum_i G_{ii}^2`. If c is larger by the factor
    :math:`\eta^2 = (1 + \sqrt{8 \log(1/\delta)})^2`, the same holds without the mean, with probability
    :math:`1 - \delta` and :math:`\rho = \max_i G_{ii} / p_i` in the place of tau. The paper writes
    :math:`\sum_i G_{ii}^2` for tau. Both agree if k(x, x) = 1; otherwise the paper's term does not scale as G does.

    Proof: let G = X^T X, A = X X^T, and B = sum of x_i x_i^T / (c p_i) over the draws. The approximation is X^T P X,
    where P is the projector on the leading k eigenvectors of B. X^T (I - P) X has the eigenvalues of (I - P) A (I - P),
    so in both norms its size is at most

    .. math:: \|(I-P) B (I-P)\| + \|A - B\| = \|B - B_k\| + \|A - B\| \le \|A - A_k\| + 2 \|A - B\|.

    B is a mean of c independent matrices with mean A, so
    :math:`E\|A - B\|_F^2 \le \frac1c \sum_i |x_i|^4 / p_i = \tau^2 / c`, and the added term is at most
    :math:`2 \tau / \sqrt c`: epsilon tau at c = 4 / epsilon^2, in both norms. The paper's 64 k / epsilon^4 is larger
    for epsilon up to :math:`4 \sqrt k`; above, the larger of the two numbers is used. One draw changes
    :math:`\|A - B\|_F` by at most 2 rho / c, so by McDiarmid's inequality :math:`\|A - B\|_F` exceeds its mean by
    :math:`\rho \sqrt{2 \log(1/\delta) / c}` with probability at most delta; the paper has 8 instead of this 2.

    The bound is loose, because it holds for the worst matrix. To find how many landmarks a given matrix needs, read the
    residual trace of ``rpcholesky``.

    Parameters
    ----------
    rank : int
        The rank k.
    epsilon : float
        The added term divided by tau (tau is n for a kernel with k(x, x) = 1).
    delta : float in (0, 1), optional
        Probability of failure; None bounds the mean.
    norm : {"fro", "spectral"}

    References
    ----------
    P. Drineas and M. Mahoney, "On the Nystroem method for approximating a Gram matrix for improved kernel-based
    learning", JMLR 6, 2005, Theorem 3.

    Examples
    --------
    >>> from mercer.features import drineas_mahoney_components
    >>> drineas_mahoney_components(10, 0.5)
    10240
    """
    name = "drineas_mahoney_components"
    rank = check_integer(name, "rank", rank)
    epsilon = check_real(name, "epsilon", epsilon, least=0, strict=True)
    confidence = _confidence(name, delta)
    least = 4 / epsilon**2
    exact = confidence * (max(64 * rank / epsilon**4, least) if _is_frobenius(name, norm) else least)
    return max(rank, ceil(exact))


def drineas_mahoney_error(
    n_components: int, rank: int, diagonal: ArrayLike, *, delta: float | None = None, norm: str = "fro"
) -> float:
    r"""Return the term that c landmarks add to the error of the best rank k: epsilon tau, epsilon rho with ``delta``.

    The inverse of ``drineas_mahoney_components``; ``diagonal`` holds the :math:`G_{ii}`.

    >>> from mercer.features import drineas_mahoney_error
    >>> drineas_mahoney_error(10240, 10, [1.0] * 100)
    50.0
    """
    name = "drineas_mahoney_error"
    c = check_integer(name, "n_components", n_components)
    rank = check_integer(name, "rank", rank)
    ratio = _confidence(name, delta) / c
    least = sqrt(4 * ratio)
    epsilon = max((64 * rank * ratio) ** 0.25, least) if _is_frobenius(name, norm) else least
    return float(epsilon * _size(np.asarray(diagonal, dtype=np.float64), delta))


def _size(diagonal: Array, delta: float | None) -> float:
    """Return tau, or rho if ``delta`` is given; rows with k(x, x) = 0 are never drawn and have no error."""
    positive = diagonal[diagonal > 0]
    squares = float(np.square(positive).sum())
    if not len(positive):
        return 0.0
    return float(np.sqrt(len(positive) * squares)) if delta is None else squares / float(positive.min())


def _is_frobenius(owner: str, norm: str) -> bool:
    if norm not in ("fro", "spectral"):
        raise ValueError(f"{owner}: norm must be 'fro' or 'spectral', got {norm!r}.")
    return norm == "fro"


def _confidence(owner: str, delta: float | None) -> float:
    """Return eta^2."""
    if delta is None:
        return 1.0
    delta = check_real(owner, "delta", delta, least=0, strict=True)
    if delta >= 1:
        raise ValueError(f"{owner}: delta must be a probability below 1, got {delta!r}.")
    return (1 + sqrt(8 * log(1 / delta))) ** 2


def _entry_bounds(chosen: Nystroem, task: Task) -> Iterator[Components]:
    """Bound every entry of the Gram matrix of X by the spectral norm of the error, with k = c in the theorem.

    The (c + 1)-th eigenvalue is at most trace / (c + 1), so the error is at most that plus 2 eta rho / sqrt(c).
    With all rows as landmarks there is no error; the theorem gives a smaller number only if the diagonal is small.
    """
    if task.kind != "absolute":
        return
    yield Components(task.X.shape[0], "all rows as landmarks")
    diagonal = task.kernel.diag(task.X).astype(np.float64)
    added = 2 * sqrt(_confidence("components_for", task.delta)) * _size(diagonal, task.delta)

    def excess(log_c: float) -> float:
        c = exp(log_c)
        return float(diagonal.sum() / (c + 1) + added / sqrt(c) - task.error)

    if excess(0.0) <= 0:
        needed: float = 1
    elif excess(_LOG_MOST) > 0:
        needed = inf
    else:
        needed = ceil(exp(brentq(excess, 0.0, _LOG_MOST, xtol=1e-9)) * (1 + 1e-8))
    yield Components(needed, "Drineas and Mahoney, spectral norm, all pairs of X")


register_bounds(Nystroem, _entry_bounds)
