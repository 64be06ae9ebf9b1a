"""First centres for k-means."""

import numpy as np

from mercer._typing import Array
from mercer.linalg import squared_distances


def kmeans_plus_plus(Z: Array, norms: Array, weight: Array, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return the numbers of the rows drawn as centres, by k-means++.

    A row is drawn with probability proportional to w_i times its squared distance to the nearest centre drawn before.
    Of 2 + log(k) such draws, the one with the lowest inertia is kept (greedy k-means++). If there are fewer distinct
    rows than clusters, some rows are drawn again. Time n D k (2 + log k).

    Parameters
    ----------
    Z : ndarray of shape (n, D)
    norms : ndarray of shape (n,)
        Squared lengths of the rows.
    weight : ndarray of shape (n,)
    n_clusters : int
    rng : RandomState

    References
    ----------
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.

    >>> import numpy as np
    >>> Z = np.array([[0.0], [0.0], [5.0]])
    >>> chosen = kmeans_plus_plus(Z, Z[:, 0] ** 2, np.ones(3), 2, np.random.RandomState(0))
    >>> sorted(Z[chosen].ravel().tolist())
    [0.0, 5.0]
    """
    n_draws = 2 + int(np.log(n_clusters))
    # A smaller squared distance is rounding: the row equals a centre.
    least = 8 * np.finfo(Z.dtype).eps * np.sqrt(Z.shape[1]) * float(norms.max())

    def distances(chosen: Array) -> Array:
        squares = squared_distances(Z, norms, Z[chosen].astype(np.float64))
        squares[squares < least] = 0
        return squares

    chosen = [int(_draws(weight, 1, rng)[0])]
    nearest = distances(np.array(chosen))[0]
    while len(chosen) < n_clusters:
        mass = weight * nearest
        draws = _draws(mass if mass.sum() > 0 else weight, n_draws, rng)
        squares = np.minimum(distances(draws), nearest)
        best = int(np.argmin(squares @ weight))
        chosen.append(int(draws[best]))
        nearest = squares[best]
    return np.array(chosen)


def random_rows(weight: Array, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return the numbers of rows drawn by weight without replacement; with replacement once all rows are drawn."""
    n_full = min(n_clusters, int(np.count_nonzero(weight)))
    chosen = rng.choice(len(weight), n_full, replace=False, p=weight / weight.sum())
    return np.concatenate([chosen, _draws(weight, n_clusters - n_full, rng)])


def _draws(mass: Array, size: int, rng: np.random.RandomState) -> Array:
    cumulative = np.cumsum(mass, dtype=np.float64)
    drawn: Array = np.searchsorted(cumulative, rng.random_sample(size) * cumulative[-1], "right")
    return np.minimum(drawn, len(mass) - 1)
