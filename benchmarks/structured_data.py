"""Sets of strings, graphs and trees, read from the folder that ``MERCER_DATA`` names."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mercer.structures import Graphs


def load(name: str) -> dict[str, Any]:
    """Return the arrays of a set."""
    folder = os.environ.get("MERCER_DATA")
    if not folder:
        raise SystemExit("Set MERCER_DATA to the folder of data sets.")
    path = Path(folder) / f"{name}.npz"
    path = path if path.exists() else Path(folder) / "structured" / f"{name}.npz"
    with np.load(path, allow_pickle=False) as data:
        return {key: data[key] for key in data.files}


def tu_graphs(name: str) -> tuple[dict[str, Any], Callable[[], Graphs]]:
    """Return the arrays of a set of graphs, and a function that packs them."""
    data = load(f"graphs_{name}")
    return data, lambda: Graphs.of_tu(data["edges"], data["graph_indicator"], data.get("node_labels"))
