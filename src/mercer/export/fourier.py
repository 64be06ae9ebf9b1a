"""Fourier maps: cosines and sines of projections, by a matrix of frequencies or by products with Hadamard matrices."""

import numpy as np
from scipy.linalg import hadamard

from mercer.export.graph import Graph, Tensor
from mercer.export.registry import features, writes_map
from mercer.features import ExponentialChi2Features, ShiftInvariantFeatures
from mercer.features.fourier.phases import MatrixProjections, PhaseFeatures
from mercer.features.fourier.structured import HadamardProjections


@writes_map(PhaseFeatures)
def phase_features(feature_map: PhaseFeatures, graph: Graph, X: Tensor) -> Tensor:
    """Write [cosines, sines] of the pairs, then cosines with offsets, as ``PhaseFeatures`` orders them."""
    turns = _turns(feature_map, graph, X)
    n_single = len(feature_map.offsets_)
    n_pairs = (feature_map.n_features_out_ - n_single) // 2
    parts = []
    if n_pairs:
        angles = _angles(turns.columns(0, n_pairs))
        parts += [angles.op("Cos"), angles.op("Sin")]
    if n_single:
        alone = _angles(turns.columns(n_pairs, n_pairs + n_single))
        parts.append((alone + feature_map.offsets_).op("Cos"))
    return graph.concatenate(parts) * (2 / feature_map.n_features_out_) ** 0.5


@writes_map(ShiftInvariantFeatures)
def shift_invariant(feature_map: ShiftInvariantFeatures, graph: Graph, X: Tensor) -> Tensor:
    """Write the map that was chosen."""
    return features(feature_map.map_, graph, X)


@writes_map(ExponentialChi2Features)
def exponential_chi2(feature_map: ExponentialChi2Features, graph: Graph, X: Tensor) -> Tensor:
    """Write Fourier features of the additive chi-squared map."""
    return features(feature_map.fourier_, graph, features(feature_map.additive_, graph, X))


def _angles(turns: Tensor) -> Tensor:
    """Return angles between -pi and pi: of large angles, cosines in float32 lose digits."""
    return (turns - turns.op("Round")) * (2 * np.pi)


def _turns(feature_map: PhaseFeatures, graph: Graph, X: Tensor) -> Tensor:
    projections = feature_map.projections
    if isinstance(projections, MatrixProjections):
        return X @ (projections.frequencies / (2 * np.pi))
    assert isinstance(projections, HadamardProjections)  # noqa: S101 - the only other kind
    return _fast_turns(projections, graph, X, feature_map.n_features_in_)


def _fast_turns(projections: HadamardProjections, graph: Graph, X: Tensor, n_features: int) -> Tensor:
    """Write H D_s ... H D_2 P H D_1 [x, 0] for each block: matrices of p x p are small, and all blocks share one."""
    size, n_blocks = projections.diagonals.shape[2], projections.diagonals.shape[1]
    matrix = hadamard(size).astype(np.float64)
    H = graph.constant(matrix)
    blocks = []
    for b in range(n_blocks):
        first = projections.diagonals[0, b, :n_features]
        Z = X @ (first[:, None] * matrix[:n_features])
        for stage in range(1, len(projections.diagonals)):
            if stage == 1 and len(projections.permutation):
                Z = Z.take(projections.permutation[b], axis=1)
            Z = (Z * projections.diagonals[stage, b]) @ H
        blocks.append(Z)
    turns = projections.turns_per_unit
    return graph.concatenate(blocks).columns(0, len(turns)) * turns
