"""Data sets: a registry with sources, licences and checksums, a loader, the papers' preparations, synthetic data.

``load`` finds a set in the folder named by ``MERCER_DATA``, in the cache or at OpenML; ``prepare`` scales, samples and
splits a set as a paper does; the generators return the true function of the data that they draw.
"""

from mercer.datasets.catalogue import Catalogue, DatasetInfo, catalogue
from mercer.datasets.dataset import Dataset, Graph
from mercer.datasets.drifting import DriftingStream, abrupt_drift, gradual_drift, rotating_drift
from mercer.datasets.errors import DatasetError
from mercer.datasets.loading import cache_folder, find, load
from mercer.datasets.preparation import PREPARATIONS, Preparation, prepare
from mercer.datasets.synthetic import (
    Synthetic,
    kernel_regression,
    rings,
    rows_with_spectrum,
    speech_frames,
    two_gaussians,
    two_views,
)

__all__ = [
    "PREPARATIONS",
    "Catalogue",
    "Dataset",
    "DatasetError",
    "DatasetInfo",
    "DriftingStream",
    "Graph",
    "Preparation",
    "Synthetic",
    "abrupt_drift",
    "cache_folder",
    "catalogue",
    "find",
    "gradual_drift",
    "kernel_regression",
    "load",
    "prepare",
    "rings",
    "rotating_drift",
    "rows_with_spectrum",
    "speech_frames",
    "two_gaussians",
    "two_views",
]
