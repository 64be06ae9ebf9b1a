"""The Nystroem map: kernel values with landmarks times a projection."""

import numpy as np

from mercer.export.expansions import columns
from mercer.export.graph import Graph, Tensor
from mercer.export.registry import writes_map
from mercer.features import Nystroem
from mercer.kernels import PrecomputedKernel


@writes_map(Nystroem)
def nystroem(feature_map: Nystroem, graph: Graph, X: Tensor) -> Tensor:
    """Write k(x, landmarks) times the projection; rows of a precomputed kernel hold the kernel values."""
    if isinstance(feature_map.kernel_, PrecomputedKernel):
        return X.take(np.asarray(feature_map.landmark_indices_), axis=1) @ feature_map.projection_
    values = columns("Nystroem", feature_map.kernel_, feature_map.landmarks_, X)
    return (values @ feature_map.projection_).cast(graph.dtype)
