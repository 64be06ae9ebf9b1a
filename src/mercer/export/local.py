"""Ridge regression in leaves: the leaf of a row, and kernel values with the rows of that leaf and the landmarks."""

from collections.abc import Mapping

import numpy as np

from mercer._typing import Array, Rows, is_sparse
from mercer.export.graph import Graph, Tensor
from mercer.export.interpolation import interpolated
from mercer.export.kernels import FixedPairs, GatheredPairs, kernel_values, transformed
from mercer.export.linear_models import class_labels
from mercer.export.registry import writes_model
from mercer.kernels import TransformedKernel
from mercer.learners import LocalKernelRidge, LocalKernelRidgeClassifier
from mercer.learners.local.base import LocalLearner
from mercer.learners.local.calibration import ABOVE_HALF, Calibration
from mercer.solvers.local.trees import RandomTree


@writes_model(LocalKernelRidge)
def local_ridge(model: LocalKernelRidge, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the predictions, in the shape of y."""
    scores = leaf_scores(model, graph, X).cast(graph.dtype)
    return {"prediction": scores.flat() if model.loo_residuals_.ndim == 1 else scores}


@writes_model(LocalKernelRidgeClassifier)
def local_classifier(model: LocalKernelRidgeClassifier, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the labels and the probabilities of all classes."""
    scores = leaf_scores(model, graph, X)
    chances = probabilities(model.calibration_, scores).cast(graph.dtype)
    return {"label": class_labels(model.classes_, scores), "probabilities": chances}


def leaf_scores(model: LocalLearner, graph: Graph, X: Tensor) -> Tensor:
    """Write the scores (n, k) in float64."""
    X = X.cast(np.float64)  # so that a row falls into the same leaf as in mercer
    kernel = model.kernel_
    while isinstance(kernel, TransformedKernel):
        X, kernel = transformed(kernel, X), kernel.kernel
    of = model.expansion
    rows = _dense(of.rows)
    shared = None if of.landmarks is None else kernel_values(of.kernel, FixedPairs(X, _dense(of.landmarks)))
    total: Tensor | None = None
    for tree, dual, coef in zip(of.trees, of.dual, of.landmark_coef, strict=True):
        leaf = _leaf_of(tree, X)
        groups, weights = _padded(tree, rows), _padded(tree, dual)
        part = _own_sums(kernel_values(of.kernel, GatheredPairs(X, groups, leaf)), weights, leaf)
        part = part if shared is None else part + _own_sums(shared, coef, leaf)
        total = part if total is None else total + part
    assert total is not None  # noqa: S101 - there is at least one tree
    return (total * (1 / len(of.trees)) + of.intercept) * of.scale


def probabilities(calibration: Calibration, scores: Tensor) -> Tensor:
    """Write the probabilities (n, n_classes) of scores (n, k)."""
    if calibration.n_columns > 1:
        t, floor = (scores + 1.0) * 0.5, calibration.floor
        size = t.op("Abs")
        larger = (size + (size * size + 4 * floor**2).op("Sqrt")) * 0.5
        floored = (t > 0.0).where(larger, floor**2 / larger)
        return (floored.op("Log") * calibration.exponent).op("Softmax", axis=1)
    second = interpolated(scores, calibration.scores, calibration.fractions)
    second = (scores > 0.0).where(second.at_least(ABOVE_HALF), second.at_most(0.5))
    return scores.graph.concatenate([1.0 - second, second])


def _leaf_of(tree: RandomTree, X: Tensor) -> Tensor:
    """Write the number of the leaf of each row: the one leaf whose path agrees with every split on it."""
    if not len(tree.children):
        return (X.columns(0, 1).flat() * 0.0).cast(np.int64)
    along, paths = X @ tree.directions.T, _paths(tree)
    is_left = along.op("LessOrEqual", tree.thresholds, dtype=bool).cast(X.dtype)
    agreement = (is_left * 2.0 - 1.0) @ paths - np.abs(paths).sum(axis=0)
    return agreement.op("ArgMax", axis=1, keepdims=0, dtype=np.int64)


def _paths(tree: RandomTree) -> Array:
    """Return 1 and -1 where a leaf (across) is to the left and to the right of a node (down), else 0."""
    paths = np.zeros((len(tree.children), tree.n_leaves))
    waiting: list[tuple[int, dict[int, float]]] = [(0, {})]
    while waiting:
        node, sides = waiting.pop()
        for child, side in zip(tree.children[node].tolist(), (1.0, -1.0), strict=True):
            below = {**sides, node: side}
            if child >= 0:
                waiting.append((child, below))
            else:
                paths[list(below), -1 - child] = list(below.values())
    return paths


def _padded(tree: RandomTree, values: Array) -> Array:
    """Return what belongs to the rows of each leaf, (n_leaves, most rows, ...), filled with zeros."""
    widest = max(len(leaf) for leaf in tree.leaves)
    out = np.zeros((tree.n_leaves, widest, values.shape[1]))
    for place, leaf in zip(out, tree.leaves, strict=True):
        place[: len(leaf)] = values[leaf]
    return out


def _own_sums(values: Tensor, weights: Array, leaf: Tensor) -> Tensor:
    """Write the sums of values (n, m) times the weights (n_leaves, m, k) of each row's leaf."""
    own = values.graph.constant(weights, values.dtype).take(leaf)
    return (values.insert_axis(1) @ own).op("Squeeze", np.array([1]))


def _dense(rows: Rows) -> Array:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
