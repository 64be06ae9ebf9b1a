"""The number of features needed for a given error: the smallest number that any applicable inequality gives."""

from math import isfinite
from typing import NoReturn

import numpy as np
from sklearn.utils import check_random_state

from mercer._typing import RowsLike, Seed
from mercer.features.base import FeatureMap
from mercer.features.bounds.rules import NAME, Components, Task, candidates
from mercer.features.dispatch import feature_map
from mercer.kernels import Kernel, Polynomial
from mercer.kernels.parameter import as_kernel
from mercer.validation import check_integer, check_matrix, check_real

_KINDS = ("relative", "absolute", "uniform")
_SOURCES = ("exact", "bound", "paper")


def components_for(
    kernel: Kernel | None,
    X: RowsLike,
    *,
    error: float,
    confidence: float = 0.95,
    kind: str = "relative",
    method: str = "auto",
    source: str = "exact",
    p: float = 2.0,
    n_samples: int = 300,
    random_state: Seed = 0,
) -> Components:
    """Return the number of features for which the error is at most ``error`` with probability ``confidence``.

    The map is the map that ``feature_map`` makes, also for sums, products, multiples, normalised kernels and kernels of
    some columns. The number is the smallest that any applicable inequality gives; ``alternatives`` lists the others.
    The number is a bound: the error is usually several times smaller. ``nature`` says whether the bound is proved.

    Parameters
    ----------
    kernel : Kernel
    X : array, CSR matrix or data frame
        Rows like the rows to be mapped. Variances are computed on a sample of X, radii on all rows.
    error : float
    confidence : float, default=0.95
    kind : {"relative", "absolute", "uniform"}
        ``"relative"``: |khat - k| <= error * k for each pair of rows. ``"absolute"``: |khat - k| <= error for each
        pair. ``"uniform"``: |khat - k| <= error for all pairs in a ball around X simultaneously, which gives a very
        large number. If the kernel scales or selects columns, the ball is in the scaled or selected columns.
        ``"relative"`` needs many features if k is near 0, as a Gaussian kernel of distant rows is: use ``"absolute"``
        then.
    method : str, default="auto"
        The map, as in ``feature_map``.
    source : {"exact", "bound", "paper"}
        Source of Tensor Sketch's variance. ``"exact"``: the closed form on the sampled pairs. ``"bound"``:
        Var <= (3^p - 1) |x|^2p |y|^2p / D, which holds for every pair. ``"paper"``: Lemmas 6 and 7 of Pham and Pagh,
        Var <= (<x,y>^2p + |x|^2p |y|^2p) / D, optimistic: the product of hashes is not 4-wise independent, and for
        x = y = 1/sqrt(d) the true D Var tends to 6, 14, 30 at p = 2, 3, 4 where the lemma says 2.
    p : float, default=2.0
        Base of Random Maclaurin's distribution of degrees.
    n_samples : int, default=300
    random_state : int, RandomState or None
        Seed of the sample.

    Returns
    -------
    Components

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Polynomial
    >>> from mercer.features import components_for
    >>> X = np.random.RandomState(0).rand(50, 10)
    >>> needed = components_for(Polynomial(2), X, error=0.5, confidence=0.9)
    >>> needed.inequality, int(needed) < 10_000
    ('Chebyshev, exact variance', True)
    """
    kernel = as_kernel(NAME, kernel, Polynomial(2))
    X = check_matrix(NAME, "X", X)
    kernel = kernel.resolve(X)
    error = check_real(NAME, "error", error, least=0, strict=True)
    if not 0 < confidence < 1:
        raise ValueError(f"{NAME}: confidence must lie between 0 and 1, got {confidence!r}.")
    _check_choice("kind", kind, _KINDS)
    _check_choice("source", source, _SOURCES)
    size = min(check_integer(NAME, "n_samples", n_samples), X.shape[0])
    rows = X[check_random_state(random_state).choice(X.shape[0], size, replace=False)]
    sample = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    chosen = feature_map(kernel, method=method)
    task = Task(kernel, X, sample, error, 1 - confidence, kind, source, p)
    found = sorted(candidates(chosen, task), key=lambda c: c.n_components)
    finite = [candidate for candidate in found if isfinite(candidate.n_components)]
    if not finite:
        _refuse(chosen, kind, found)
    best, *others = finite
    return Components(best.n_components, best.inequality, best.nature, best.n_sketches, tuple(others))


def _refuse(chosen: FeatureMap, kind: str, void: list[Components]) -> NoReturn:
    """Raise an error that says why there is no number, and what to do."""
    measure = "Measure instead: mercer.gram.approximation_error(map, X)."
    if not void and kind == "uniform":
        measure = f"The methods 'fourier', 'maclaurin' and 'tensor_sketch' have one. {measure}"
    if not void:
        raise ValueError(f"{NAME}: no inequality is known for kind={kind!r} and {_described(chosen)}. {measure}")
    asks = f"{void[0].inequality} asks for more than 2^62 features, or for no finite number"
    milder = "kind='absolute', a" if kind == "relative" else "A"
    raise ValueError(
        f"{NAME}: for kind={kind!r}, {asks}. Take {milder.lower()} larger error or another method. {measure}"
    )


def _described(chosen: FeatureMap) -> str:
    members = [chosen.map] if hasattr(chosen, "map") else list(getattr(chosen, "maps", None) or [])
    name = type(chosen).__name__
    return f"{name} of {', '.join(_described(member) for member in members)}" if members else name


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{NAME}: {name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
