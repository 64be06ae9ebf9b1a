"""Online learning one row at a time: plain loops with the same results as the compiled loops.

``y`` (float64) holds -1 or +1 for two classes with one column of scores, the number of the class for several classes
with one column of scores per class, and the target for regression. Losses by number, as in ``LOSSES``:

* hinge: (1 - m)_+ for the margin m = y s, or for several classes m = s_y - max of the other scores;
* squared hinge: (1 - m)_+^2 / 2 with m = y s, or for several classes the sum over one-against-rest margins;
* logistic: log(1 + exp(-y s)), or for several classes the cross-entropy of the softmax;
* squared: (s - y)^2 / 2;
* absolute: abs(s - y).
"""

from math import exp, sqrt

import numpy as np

from mercer._typing import Array
from mercer.reference.types import LOSSES, OnlineResult

# Smallest logistic curvature p (1 - p): a row with p near 0 or 1 would cause a division by 0.
LEAST_CURVATURE = 1e-3


def slope(loss: int, scores: Array, y: float) -> tuple[Array, float]:
    """Return the derivative of the loss in the scores, and a curvature, which is 0 if the row has no loss.

    The curvature is the second derivative. For the hinge and absolute losses, which have no second derivative, the
    curvature is the squared derivative, as in the online Newton step; for the softmax, the largest over the classes.
    """
    if len(scores) > 1:
        return _slope_of_classes(loss, scores, int(y))
    score = float(scores[0])
    name = LOSSES[loss]
    if name == "hinge":
        derivative, curvature = (-y, 1.0) if y * score < 1 else (0.0, 0.0)
    elif name == "squared_hinge":
        derivative, curvature = (score - y, 1.0) if y * score < 1 else (0.0, 0.0)
    elif name == "logistic":
        wrong = _logistic(-y * score)
        derivative, curvature = -y * wrong, max(wrong * (1 - wrong), LEAST_CURVATURE)
    elif name == "squared":
        derivative, curvature = score - y, 1.0
    else:
        derivative, curvature = float(np.sign(score - y)), 1.0
    return np.array([derivative]), curvature if derivative else 0.0


def _slope_of_classes(loss: int, scores: Array, label: int) -> tuple[Array, float]:
    name = LOSSES[loss]
    derivative = np.zeros(len(scores))
    if name == "hinge":
        others = scores.copy()
        others[label] = -np.inf
        rival = int(np.argmax(others))
        if scores[label] - scores[rival] < 1:
            derivative[label], derivative[rival] = -1.0, 1.0
        return derivative, float(np.abs(derivative).max())
    signs = np.where(np.arange(len(scores)) == label, 1.0, -1.0)
    if name == "squared_hinge":
        derivative = np.where(signs * scores < 1, scores - signs, 0.0)
        return derivative, float(np.any(derivative))
    weights = np.exp(scores - scores.max())
    probabilities = weights / weights.sum()
    curvature = max(float(np.max(probabilities * (1 - probabilities))), LEAST_CURVATURE)
    return probabilities - (signs > 0), curvature


def _logistic(t: float) -> float:
    return 1 / (1 + exp(-t)) if t >= 0 else exp(t) / (1 + exp(t))


def online_gradient(
    Z: Array, y: Array, loss: int, steps: Array, W: Array, squares: Array, scores: Array, decay: float = 1.0
) -> None:
    """Descend along the gradient of each row of Z (n, D) in turn, changing W (k, D), and record the scores before.

    Row t has the step size steps[t]. With ``squares`` of the shape of W the steps are AdaGrad's: the step of a weight
    is divided by the square root of the sum of its squared derivatives, which ``squares`` holds. With empty ``squares``
    the steps are plain gradient descent. Before the step of each row, W and ``squares`` are multiplied by ``decay``.
    """
    for t, z in enumerate(Z.astype(np.float64)):
        scores[t] = W @ z
        derivative, curvature = slope(loss, scores[t], y[t])
        W *= decay
        squares *= decay
        if curvature == 0:
            continue
        gradient = np.outer(derivative, z)
        if len(squares):
            squares += gradient**2
            gradient /= np.sqrt(np.where(squares > 0, squares, 1.0))
        W -= steps[t] * gradient


def online_kernel_gradient(
    gram: Array, y: Array, loss: int, steps: Array, decay: float, limit: int, result: OnlineResult
) -> None:
    """Descend along the gradient of each of n rows in turn in the space of their kernel, gram (n, n).

    The j-th row with a loss is row active[j] and gets the coefficients coef[j]. The loop ends after ``limit`` rows with
    a loss. Before the step of each row, all coefficients are multiplied by ``decay``. The caller gives the part of the
    scores that comes from older coefficients without decay; the loop multiplies this part too.
    """
    scores, coef, active, counts = result
    n_active = 0
    for t in range(len(gram)):
        if n_active == limit:
            counts[:] = t, n_active
            return
        scores[t] = decay**t * scores[t] + gram[t, active[:n_active]] @ coef[:n_active]
        derivative, curvature = slope(loss, scores[t], y[t])
        coef[:n_active] *= decay
        if curvature == 0:
            continue
        coef[n_active], active[n_active] = -steps[t] * derivative, t
        n_active += 1
    counts[:] = len(gram), n_active


def online_newton(
    gram: Array, y: Array, loss: int, row_weight: Array, limit: int, factor: Array, result: OnlineResult
) -> None:
    r"""Take a Newton step for each of n rows in turn, from gram = Z P Z^T (n, n) and the scores alone.

    P is the inverse of A before the first row. A row with a loss and the weight v (``row_weight``) adds v c z z^T to A,
    and subtracts v A^-1 times its gradient from the weights. With q = z^T P z and P after the earlier rows, the step is

    .. math:: d^2 = 1/(v c) + q, \quad u = P z / d, \quad P \leftarrow P - u u^T, \quad w \leftarrow w - u\, g / (c d),

    and changes the scores of later rows only through their products with u, which follow from the Gram matrix and from
    the products with the earlier u_j: :math:`\langle u, z_t\rangle = (z^T P_0 z_t - \sum_j \langle u_j, z\rangle
    \langle u_j, z_t\rangle) /
    d`. The loop does not use the D x D matrix P, which the caller updates once for all n rows.

    ``limit`` is as in ``online_kernel_gradient``. Row j of ``factor`` (n, n) receives <u_j, z_t> for the rows t after
    active[j], d at t = active[j] and 0 before. So the columns ``active`` of ``factor`` are the transposed Cholesky
    factor L of diag(1 / (v c)) + Z P Z^T over these rows, and the u_j are the rows of L^-1 Z P. Row j of ``coef``
    receives the factors -g / (c d) of u_j.
    """
    scores, coef, active, counts = result
    n, n_active = len(gram), 0
    curvature_along = np.diag(gram).copy()
    for t in range(n):
        if n_active == limit:
            counts[:] = t, n_active
            return
        derivative, curvature = slope(loss, scores[t], y[t])
        if curvature == 0:
            continue
        # z^T P z is negative only by rounding.
        diagonal = sqrt(1 / (row_weight[t] * curvature) + max(curvature_along[t], 0.0))
        later = slice(t + 1, n)
        products = gram[t, later] - factor[:n_active, t] @ factor[:n_active, later]
        factor[n_active, :t], factor[n_active, t], factor[n_active, later] = 0.0, diagonal, products / diagonal
        coef[n_active], active[n_active] = -derivative / (curvature * diagonal), t
        curvature_along[later] -= factor[n_active, later] ** 2
        scores[later] += np.outer(factor[n_active, later], coef[n_active])
        n_active += 1
    counts[:] = n, n_active


def online_newton_by_rows(Z: Array, y: Array, loss: int, W: Array, P: Array, scores: Array, decay: float = 1.0) -> None:
    """Take a Newton step for each row of Z (n, D) in turn, directly by the formula, changing W (k, D) and P = A^-1.

    A is multiplied by ``decay`` at each row. This function is the test oracle of ``online_newton``; the cost is D^2
    multiplications per row, and there is no compiled version.
    """
    for t, z in enumerate(Z.astype(np.float64)):
        scores[t] = W @ z
        derivative, curvature = slope(loss, scores[t], y[t])
        P /= decay
        if curvature == 0:
            continue
        image = P @ z
        gain = image / (1 / curvature + z @ image)
        P -= np.outer(gain, image)
        W -= np.outer(derivative / curvature, gain)
