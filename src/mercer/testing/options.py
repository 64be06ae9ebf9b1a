"""Other values for the parameters of an estimator: by name if the name has one meaning, else by type."""

from collections.abc import Sequence

from mercer.features import LinearFeatures, TensorSketch
from mercer.kernels import (
    ArcCosine,
    Cauchy,
    Chi2,
    Composed,
    Exponential,
    ExponentialChi2,
    Gaussian,
    Hellinger,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    SameCategory,
    Spectrum,
    Subsequence,
    Subtree,
    WeisfeilerLehman,
)

# Parameters that do not change the model: they only print.
WITHOUT_EFFECT = frozenset({"verbose"})

# One kernel of each kind that some map treats differently.
_KERNELS = (
    Gaussian(gamma=0.7),
    Polynomial(3, coef0=1.0),
    Laplacian(gamma=0.5),
    Exponential(gamma=0.5),
    Linear(),
    Composed(Exponential(gamma=1.0), Gaussian(gamma=0.5)),
    Matern(1.5, length_scale=2.0),
    Gaussian(gamma="scale"),
    Chi2(),
    Hellinger(),
    ExponentialChi2(sigma=2.0),
    SameCategory(offset=1.0),
    ArcCosine(1),
    Spectrum(1),
    Subsequence(1),
    WeisfeilerLehman(1),
    Subtree(0.5),
    Composed(Polynomial(3), Spectrum(1)),
)
_MAPS = (LinearFeatures(), TensorSketch(n_components=8, random_state=0))  # a learner does not change the seed of a map
_LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "absolute")
_BY_NAME: dict[str, tuple[object, ...]] = {
    "alpha": ("gcv", "loo"),
    "alphas": ([0.1, 1.0],),
    "class_weight": ("balanced",),
    "far_rows": ("keep",),
    "features": _MAPS,
    "init": ("random",),
    "kernel": _KERNELS,
    "landmarks": ("uniform", "leverage", "kmeans", "rpcholesky", "greedy", "weighted", [0, 3, 1]),
    "distribution": _KERNELS,
    "loss": (*_LOSSES, "epsilon_insensitive", "squared_epsilon_insensitive"),
    "map": _MAPS,
    "maps": (list(_MAPS), [_MAPS[0]]),
    "method": ("maclaurin", "tensor_sketch"),
    "n_init": (2,),
    "new_classes": ("error", "learn"),
    "outer": (Gaussian(gamma=0.7), Cauchy(), Polynomial(3)),
    "phi": ("cosine", "sigmoid", "step", "relu"),
    "psd": ("clip", "shift", None),
    "reduction": ("pca", "landmarks"),
    "schedule": ("sqrt", "constant", "inverse"),
    "sparse_output": (True, False),
    "structured": (True, False),
    "update": ("newton", "adagrad", "gradient"),
    "y_features": _MAPS,
    "y_kernel": _KERNELS,
}


def other_values(name: str, current: object) -> Sequence[object]:
    """Return values of a parameter that differ from the current one; ``fit`` may refuse some of them."""
    found = [*_BY_NAME.get(name, ()), *_by_type(current)]
    return [value for value in found if type(value) is not type(current) or repr(value) != repr(current)]


def _by_type(current: object) -> Sequence[object]:
    if isinstance(current, bool):
        return (not current,)
    if isinstance(current, int):
        return (current + 1, max(1, current // 2))
    if isinstance(current, float):
        return (current / 2, 2 * current)
    if isinstance(current, list | tuple):
        return (current[::-1], current[:1])
    return (1, 2, 20, True) if current is None else ()
