"""A loaded data set, and how it is made from the arrays of a file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from mercer._typing import Array, Seed
from mercer.datasets.catalogue import DatasetInfo
from mercer.validation import check_real

_MINUTES_A_DAY = 24 * 60


class Graph(NamedTuple):
    """A labelled graph: labels of the nodes, edges (both directions) between them, labels of the edges or None."""

    nodes: Array
    edges: Array
    edge_labels: Array | None


@dataclass(frozen=True)
class Dataset:
    """Rows and targets for training, and for testing if the set has a standard split.

    Attributes
    ----------
    info : DatasetInfo
    X, y : rows and targets
        X is an array, a CSR matrix, or a list of texts or of ``Graph``.
    X_test, y_test : the same, or None
    extras : dict
        What else the file holds, by name.
    """

    info: DatasetInfo
    X: Any
    y: Array
    X_test: Any = None
    y_test: Array | None = None
    extras: dict[str, Array] = field(default_factory=dict)

    def joined(self) -> "Dataset":
        """Return the set with the test rows after the training rows, and no test part."""
        if self.y_test is None:
            return self
        if isinstance(self.X, list):
            rows: Any = self.X + self.X_test
        else:
            rows = (
                sparse.vstack([self.X, self.X_test]).tocsr()
                if sparse.issparse(self.X)
                else np.concatenate([self.X, self.X_test])
            )
        return replace(self, X=rows, y=np.concatenate([self.y, self.y_test]), X_test=None, y_test=None)

    def split(self, test_fraction: float = 0.3, *, random_state: Seed = 0) -> "Dataset":
        """Return the set with a test part: the standard one if there is one, else a random one, stratified by class."""
        if self.y_test is not None:
            return self
        fraction = check_real("Dataset.split", "test_fraction", test_fraction, least=0, strict=True)
        labels = (
            self.y
            if "classification" in self.info.task and np.unique(self.y, return_counts=True)[1].min() > 1
            else None
        )
        parts = train_test_split(self.X, self.y, test_size=fraction, random_state=random_state, stratify=labels)
        return replace(self, X=parts[0], X_test=parts[1], y=parts[2], y_test=parts[3])


def from_arrays(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    """Return the data set that a file's arrays hold."""
    special = _SPECIAL.get(info.name)
    if special is not None:
        return special(info, arrays)
    names = ("X_train", "y_train", "X_test", "y_test") if info.n_test else ("X", "y")
    extras = {name: arrays[name] for name in arrays if name not in names}
    parts: list[Any] = [arrays[name] for name in names]
    return replace(Dataset(info, *parts), extras=extras)


def _letter(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    parts: list[Any] = [arrays[name] for name in ("X_train", "y_train", "X_test", "y_test")]
    return replace(Dataset(info, *parts), extras={"X_uci": arrays["X"], "y_uci": arrays["y"]})


def _reuters(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    def rows(part: str) -> Any:
        names = (f"X_{part}_data", f"X_{part}_indices", f"X_{part}_indptr")
        data, indices, indptr = (arrays[name] for name in names)
        shape = tuple(int(n) for n in arrays[f"X_{part}_shape"])
        return sparse.csr_array((data, indices.astype(np.int32), indptr), shape=shape)

    return Dataset(info, rows("train"), arrays["y_train"], rows("test"), arrays["y_test"])


def _texts(arrays: Mapping[str, Array]) -> list[str]:
    text, ends = arrays["text"].tobytes(), arrays["offsets"].tolist()
    return [text[a:b].decode("utf-8") for a, b in pairwise(ends)]


def _newsgroups(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    texts, y, first = _texts(arrays), arrays["y"], arrays["is_train"]
    train, test = ([text for text, chosen in zip(texts, part, strict=True) if chosen] for part in (first, ~first))
    return Dataset(info, train, y[first], test, y[~first], {"classes": arrays["classes"]})


def _sms(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    return Dataset(info, _texts(arrays), arrays["y"])


def _sequences(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    extras = {name: arrays[name] for name in arrays if name == "classes"}
    return Dataset(info, [bytes(row).decode("ascii") for row in arrays["seq"]], arrays["y"], extras=extras)


def _graphs(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    owner = arrays["graph_indicator"]
    n_graphs = len(arrays["graph_labels"])
    starts = np.searchsorted(owner, np.arange(n_graphs + 1))
    edges = arrays["edges"]
    order = np.argsort(owner[edges[:, 0]], kind="stable")
    ends = np.searchsorted(owner[edges[order, 0]], np.arange(n_graphs + 1))
    labels = arrays.get("edge_labels")
    graphs = []
    for i in range(n_graphs):
        own = order[ends[i] : ends[i + 1]]
        nodes = arrays["node_labels"][starts[i] : starts[i + 1]]
        graphs.append(Graph(nodes, edges[own] - starts[i], None if labels is None else labels[own]))
    return Dataset(info, graphs, arrays["graph_labels"])


def _flights(info: DatasetInfo, arrays: Mapping[str, Array]) -> Dataset:
    minute = arrays["minute"].astype("timedelta64[m]") + np.datetime64("2001-01-01T00:00")
    days, months = minute.astype("datetime64[D]"), minute.astype("datetime64[M]")
    X = np.empty((len(minute), 9), dtype=np.float32)
    X[:, 0] = months.astype(int) % 12 + 1
    X[:, 1] = (days - months.astype("datetime64[D]")).astype(int) + 1
    X[:, 2] = (days.astype(int) + 3) % 7  # 0 is Monday: 1 January 1970 was a Thursday
    X[:, 3] = arrays["minute"] % _MINUTES_A_DAY
    X[:, 4] = arrays["distance"]
    for i, end in enumerate(("origin", "dest")):
        X[:, 5 + 2 * i], X[:, 6 + 2 * i] = arrays["lat"][arrays[end]], arrays["lon"][arrays[end]]
    return Dataset(info, X, arrays["delay"].astype(np.float32))


_SPECIAL: dict[str, Callable[[DatasetInfo, Mapping[str, Array]], Dataset]] = {
    "flights3m": _flights,
    "graphs_mutag": _graphs,
    "graphs_nci1": _graphs,
    "letter": _letter,
    "newsgroups20": _newsgroups,
    "promoters": _sequences,
    "reuters": _reuters,
    "sms_spam": _sms,
    "splice": _sequences,
}
