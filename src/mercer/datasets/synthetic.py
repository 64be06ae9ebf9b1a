"""Synthetic data whose truth is known: the function, the best accuracy, the spectrum, the correlations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, norm
from sklearn.utils import check_random_state

from mercer._typing import Array, Seed
from mercer.kernels import Gaussian, Kernel
from mercer.validation import check_integer, check_real


@dataclass(frozen=True)
class Synthetic:
    """Rows, targets and what no learner is told.

    Attributes
    ----------
    X, y : ndarray
    truth : callable
        The regression function, or the label that the best classifier gives.
    best : float
        The best mean squared error or accuracy on fresh rows that any learner can have.
    """

    X: Array
    y: Array
    truth: Callable[[Array], Array]
    best: float


def kernel_regression(
    n_samples: int = 1000,
    n_features: int = 5,
    *,
    kernel: Kernel | None = None,
    n_centres: int = 20,
    noise: float = 0.1,
    random_state: Seed = None,
) -> Synthetic:
    """Draw y = f(x) + noise with f a sum of kernel functions around ``n_centres`` random centres.

    Rows are standard normal; f has mean square 1 on them; the noise is normal of the given deviation, so that the best
    mean squared error is ``noise**2``.

    >>> from mercer.datasets import kernel_regression
    >>> data = kernel_regression(100, 3, noise=0.5, random_state=0)
    >>> data.X.shape, data.best
    ((100, 3), 0.25)
    """
    n_samples, n_features = _sizes("kernel_regression", n_samples, n_features)
    noise = check_real("kernel_regression", "noise", noise, least=0)
    rng = check_random_state(random_state)
    k = Gaussian(gamma=0.5 / n_features) if kernel is None else kernel
    centres = rng.standard_normal((check_integer("kernel_regression", "n_centres", n_centres), n_features))
    weights = rng.standard_normal(len(centres))
    weights /= np.sqrt(np.mean((k(rng.standard_normal((2000, n_features)), centres) @ weights) ** 2))

    def truth(X: Array) -> Array:
        return np.asarray(k(X, centres) @ weights)

    X = rng.standard_normal((n_samples, n_features))
    return Synthetic(X, truth(X) + noise * rng.standard_normal(n_samples), truth, noise**2)


def rings(n_samples: int = 1000, n_features: int = 2, *, flip: float = 0.1, random_state: Seed = None) -> Synthetic:
    """Draw normal rows labelled by whether they lie outside the median radius, a part ``flip`` of the labels turned.

    No linear classifier does better than chance; the best accuracy is ``1 - flip``.

    >>> from mercer.datasets import rings
    >>> data = rings(500, flip=0.2, random_state=0)
    >>> data.best
    0.8
    """
    n_samples, n_features = _sizes("rings", n_samples, n_features)
    flip = check_real("rings", "flip", flip, least=0)
    if flip > 0.5:
        raise ValueError(f"rings: flip must be at most 0.5, got {flip}.")
    rng = check_random_state(random_state)
    median = chi2.median(n_features)

    def truth(X: Array) -> Array:
        return np.asarray((X**2).sum(axis=1) > median, dtype=np.int64)

    X = rng.standard_normal((n_samples, n_features))
    turned = rng.random_sample(n_samples) < flip
    return Synthetic(X, np.where(turned, 1 - truth(X), truth(X)), truth, 1 - flip)


def two_gaussians(
    n_samples: int = 1000, n_features: int = 5, *, distance: float = 2.0, random_state: Seed = None
) -> Synthetic:
    """Draw two equally likely classes, normal around means that lie ``distance`` apart.

    The best classifier is linear; its accuracy is Phi(distance / 2).
    """
    n_samples, n_features = _sizes("two_gaussians", n_samples, n_features)
    distance = check_real("two_gaussians", "distance", distance, least=0)
    rng = check_random_state(random_state)
    direction = rng.standard_normal(n_features)
    direction /= np.linalg.norm(direction)
    y = rng.randint(2, size=n_samples)
    X = rng.standard_normal((n_samples, n_features)) + np.outer((y - 0.5) * distance, direction)
    return Synthetic(X, y, lambda rows: (rows @ direction > 0).astype(np.int64), float(norm.cdf(distance / 2)))


def rows_with_spectrum(n_samples: int, variances: Sequence[float], *, random_state: Seed = None) -> tuple[Array, Array]:
    """Draw normal rows with the given variances along random orthogonal directions.

    Returns
    -------
    X : ndarray of shape (n_samples, d)
    directions : ndarray of shape (d, d)
        One a row, in the order of the variances: the principal directions of the population.
    """
    n_samples = check_integer("rows_with_spectrum", "n_samples", n_samples)
    scales = np.sqrt([check_real("rows_with_spectrum", "variances", value, least=0) for value in variances])
    rng = check_random_state(random_state)
    directions, upper = np.linalg.qr(rng.standard_normal((len(scales), len(scales))))
    directions = (directions * np.sign(np.diag(upper))).T  # signs fixed: uniform over the orthogonal group
    return rng.standard_normal((n_samples, len(scales))) * scales @ directions, directions


def two_views(
    n_samples: int, correlations: Sequence[float], *, n_features: int = 5, random_state: Seed = None
) -> tuple[Array, Array]:
    """Draw two views of the same rows with the given canonical correlations, the others 0.

    Each view is a random invertible mixture of normal coordinates, of which the first ``len(correlations)`` correlate
    with their partners in the other view.
    """
    n_samples, n_features = _sizes("two_views", n_samples, n_features)
    rho = np.asarray(correlations, dtype=np.float64)
    if len(rho) > n_features or not ((rho >= 0) & (rho <= 1)).all():
        raise ValueError(
            f"two_views: correlations must be numbers from 0 to 1, at most n_features={n_features}, got {rho.tolist()}."
        )
    rng = check_random_state(random_state)
    one, other = rng.standard_normal((2, n_samples, n_features))
    other[:, : len(rho)] = rho * one[:, : len(rho)] + np.sqrt(1 - rho**2) * other[:, : len(rho)]
    mixtures = [np.eye(n_features) + rng.standard_normal((n_features, n_features)) / (4 * n_features) for _ in range(2)]
    return one @ mixtures[0], other @ mixtures[1]


def _sizes(owner: str, n_samples: object, n_features: object) -> tuple[int, int]:
    return check_integer(owner, "n_samples", n_samples), check_integer(owner, "n_features", n_features)
