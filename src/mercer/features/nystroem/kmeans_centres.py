"""Centres of k-means as landmarks: Lloyd's algorithm on small data, mini-batches on large."""

from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning

from mercer._typing import Array, Rows, is_sparse
from mercer.validation import check_memory

# Entries (rows times clusters) up to which Lloyd's algorithm is used: it takes no longer than mini-batches there, and
# is closer to the optimum.
_LLOYD_ENTRIES = 2_000_000
# Entries that mini-batches are drawn from, in float64: 256 MiB of rows show where the centres lie. At least twenty rows
# per centre.
_BATCHED_ENTRIES, _ROWS_PER_CENTRE = 2**25, 20


def kmeans_centres(X: Rows, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return k-means centres in float64, fewer where there are fewer distinct rows.

    The arithmetic is float64 about the mean, so that a seed means the same centres in both precisions and layouts, and
    float32 rows far from the origin keep their distances.
    """
    if is_sparse(X):
        n_bytes, what = 10 * 8 * min(n_clusters, X.shape[0]) * X.shape[1], f"dense centres of {X.shape[1]} columns"
        check_memory("kmeans", "n_clusters", n_clusters, n_bytes, what, way_out="Take landmarks='rpcholesky'.")
    X, origin = _centred_rows(X, n_clusters, rng)
    if n_clusters >= X.shape[0]:
        return np.asarray((X.toarray() if is_sparse(X) else X) + origin)
    seed = int(rng.randint(2**31 - 1))
    if X.shape[0] * n_clusters <= _LLOYD_ENTRIES:
        model = KMeans(n_clusters, n_init=1, max_iter=20, random_state=seed, copy_x=False)
    else:
        batch = max(2048, 4 * n_clusters)
        model = MiniBatchKMeans(
            n_clusters, n_init=1, max_iter=5, batch_size=batch, init_size=3 * n_clusters, random_state=seed
        )
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: the centres then repeat
        centres = model.fit(X).cluster_centers_ + origin
    _, first = np.unique(centres, axis=0, return_index=True)
    return np.asarray(centres[np.sort(first)])  # in the order of k-means: sorting would let rounding decide ties


def _centred_rows(X: Rows, n_clusters: int, rng: np.random.RandomState) -> tuple[Rows, Array | float]:
    """Return a float64 copy of the rows less their mean, and the mean; CSR rows are not centred.

    If there are many rows, a sample of them is returned, so that the size of the copy does not grow with X.
    """
    most = max(_BATCHED_ENTRIES // X.shape[1], _ROWS_PER_CENTRE * n_clusters)
    if X.shape[0] > most and X.shape[0] * n_clusters > _LLOYD_ENTRIES:
        X = X[np.sort(rng.permutation(X.shape[0])[:most])]
    if is_sparse(X):
        return X.astype(np.float64), 0.0
    origin = X.mean(axis=0, dtype=np.float64)
    return X - origin, origin
