"""The plain loops over rows that FOGD and NOGD equal."""

import numpy as np
from sklearn.base import clone

from mercer import reference
from mercer.core import LOSSES
from mercer.reference.online import online_newton_by_rows


def targets_of(y):
    """Return labels as the loops take them, and the columns of scores."""
    codes = np.unique(y, return_inverse=True)[1]
    k = codes.max() + 1
    return (np.where(codes == 1, 1.0, -1.0), 1) if k == 2 else (codes.astype(np.float64), k)


def by_rows(model, Z, y, k, W=None, P=None, first=0):
    """Learn the rows of Z one by one with the plain loops; return the scores before each, and the weights."""
    loss = LOSSES.index(model.loss)
    scores = np.zeros((len(Z), k))
    W = np.zeros((k, Z.shape[1])) if W is None else W
    if model.update == "newton":
        P = np.eye(Z.shape[1]) / model.alpha if P is None else P
        online_newton_by_rows(Z, y, loss, W, P, scores)
    else:
        t = np.arange(first + 1, first + len(Z) + 1)
        steps = model.step * t ** {"sqrt": -0.5, "constant": 0.0, "inverse": -1.0}[model.schedule]
        squares = np.zeros((k if model.update == "adagrad" else 0, Z.shape[1]))
        reference.online_gradient(Z, y, loss, steps, W, squares, scores)
    return scores, W


def with_constant(Z):
    return np.hstack([Z, np.ones((len(Z), 1))])


def mistakes(scores, y):
    return int(np.sum((scores[:, 0] > 0) != (y > 0) if scores.shape[1] == 1 else scores.argmax(axis=1) != y))


def _features_of_gram(K):
    """Return rows whose products are K: the kernel's own features on these rows."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def nogd_by_rows(model, kernel, X, y, k, n_first):
    """Learn in the kernel's space up to the budget, and from there on the features of the rows that had a loss.

    The budget is reached within the first ``n_first`` rows. Returns the landmarks, the scores and the weights.
    """
    loss, budget = LOSSES.index(model.loss), model.n_components
    F = _features_of_gram(kernel(X[:n_first]) + 1)
    plain = clone(model).set_params(update="gradient" if model.update == "adagrad" else model.update)
    scores, _ = by_rows(plain, F, y[:n_first], k)
    lossy = [t for t in range(n_first) if reference.online.slope(loss, scores[t], y[t])[1] > 0]
    switch, marks = lossy[budget - 1] + 1, lossy[:budget]
    # The features after the switch are exact for the landmarks, so their state there follows from the rows before it.
    P, W = np.eye(F.shape[1]) / model.alpha, np.zeros((k, F.shape[1]))
    by_rows(plain, F[:switch], y[:switch], k, W, P)
    Z = with_constant(model.feature_map_.transform(X))
    change = np.linalg.lstsq(F[marks], Z[marks], rcond=1e-12)[0]  # from one set of coordinates to the other
    P = change.T @ (P - np.eye(len(P)) / model.alpha) @ change + np.eye(Z.shape[1]) / model.alpha
    rest, W = by_rows(model, Z[switch:], y[switch:], k, W @ change, P, first=switch)
    return X[marks], np.vstack([scores[:switch], rest]), W
