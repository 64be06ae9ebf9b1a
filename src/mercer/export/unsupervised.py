"""Kernel PCA, canonical correlation and k-means."""

from collections.abc import Mapping

import numpy as np

from mercer.export.graph import Graph, Tensor
from mercer.export.registry import features, writes_model
from mercer.learners import KernelCCA, KernelKMeans, KernelPCA
from mercer.solvers.clustering.nearest import first_of_equals


@writes_model(KernelPCA)
def kernel_pca(model: KernelPCA, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the scores along the principal axes."""
    Z = features(model.feature_map_, graph, X)
    return {"transformed": (Z - model.mean_) @ model.components_.T}


@writes_model(KernelCCA)
def kernel_cca(model: KernelCCA, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the scores of the first view, as ``transform`` of X alone returns them."""
    Z = features(model.feature_map_, graph, X)
    return {"transformed": (Z - model.x_mean_) @ model.x_weights_}


@writes_model(KernelKMeans)
def kernel_kmeans(model: KernelKMeans, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the number of the nearest centre, and the distances to all centres in the space of features."""
    centres = model.cluster_centers_
    Z = features(model.feature_map_, graph, X).cast(np.float64)  # a small distance is a difference of large numbers
    squares = Z.square().sum(1) + np.square(centres).sum(axis=1) - (Z @ centres.T) * 2.0
    first = first_of_equals(np.arange(len(centres)), centres)
    label = graph.constant(first).take(squares.op("ArgMin", axis=1, keepdims=0, dtype=np.int64))
    return {"label": label, "distances": squares.at_least(0.0).op("Sqrt").cast(graph.dtype)}
