"""Synthetic data whose truth is known: the function, the best accuracy, the spectrum, the correlations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter
from scipy.stats import chi2, norm
from sklearn.utils import check_random_state

from mercer._typing import Array, Seed
from mercer.kernels import Gaussian, Kernel
from mercer.validation import check_integer, check_real

# Coordinates of the state behind the frames of ``speech_frames``, and their correlation from frame to frame.
_STATES, _SMOOTH = 8, 0.9


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


def speech_frames(
    n_samples: int = 1000,
    *,
    n_classes: int = 40,
    n_bands: int = 40,
    context: int = 5,
    n_variants: int = 4,
    flip: float = 0.05,
    random_state: Seed = None,
) -> Synthetic:
    """Draw frames as an acoustic model of speech sees them: bands of a spectrum, with the frames before and after.

    A state of 8 coordinates moves smoothly in time (an autoregression with coefficient 0.9 per frame). The ``n_bands``
    bands of a frame are a random mixture of the state, with noise of a tenth of their size. A row holds a frame and the
    ``context`` frames on each side: 440 columns by default. Each class has ``n_variants`` random places in the space of
    the states, as a phone sounds different between other phones. The label is the class of the place nearest to the
    state, as a fixed linear function of the row finds it; a part ``flip`` of the labels is drawn again. The boundaries
    between 40 times 4 places are so many that the error falls with thousands of features and rows.

    The best accuracy is ``1 - flip (1 - 1 / n_classes)``. Rows are in the order of time and rows near each other are
    alike: for a test, take rows of the end.

    >>> from mercer.datasets import speech_frames
    >>> data = speech_frames(200, random_state=0)
    >>> data.X.shape, round(data.best, 3)
    ((200, 440), 0.951)
    """
    owner = "speech_frames"
    n_samples, n_bands = _sizes(owner, n_samples, n_bands)
    n_classes = check_integer(owner, "n_classes", n_classes, least=2)
    context = check_integer(owner, "context", context, least=0)
    n_variants = check_integer(owner, "n_variants", n_variants)
    flip = check_real(owner, "flip", flip, least=0)
    if flip > 1:
        raise ValueError(f"{owner}: flip must be at most 1, got {flip}.")
    rng = check_random_state(random_state)
    width = 2 * context + 1
    mixture = rng.standard_normal((_STATES, n_bands)) / _STATES**0.5
    places = rng.standard_normal((n_classes * n_variants, _STATES))
    state = lfilter(
        [(1 - _SMOOTH**2) ** 0.5], [1.0, -_SMOOTH], rng.standard_normal((n_samples + width + 99, _STATES)), 0
    )
    bands = state[100:] @ mixture + 0.1 * rng.standard_normal((n_samples + width - 1, n_bands))
    X = np.lib.stride_tricks.sliding_window_view(bands, width, axis=0).transpose(0, 2, 1).reshape(n_samples, -1)
    # the state of the middle frame, from its bands and half as much from its neighbours
    window = np.maximum(1.0 - np.abs(np.arange(width) - context) / 2.0, 0.0)
    inverse = np.kron(window[:, None] / window.sum(), np.linalg.pinv(mixture))

    def truth(X: Array) -> Array:
        found = X @ inverse
        distances = np.square(places).sum(axis=1) - 2.0 * found @ places.T
        return np.asarray(distances.argmin(axis=1) // n_variants)

    y = truth(X)
    turned = rng.random_sample(n_samples) < flip
    y = np.where(turned, rng.randint(n_classes, size=n_samples), y)
    return Synthetic(X, y, truth, 1 - flip * (1 - 1 / n_classes))


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
