"""The parameter ``kernel`` of estimators: a kernel object, or None for the natural kernel of the estimator."""

from mercer.kernels.base import Kernel

# What to write in place of the names that other libraries take.
_INSTEAD_OF_NAMES = {
    "rbf": "Gaussian(gamma=1.0)",
    "gaussian": "Gaussian(gamma=1.0)",
    "laplacian": "Laplacian(gamma=1.0)",
    "poly": "Polynomial(3, gamma=1.0, coef0=1.0)",
    "polynomial": "Polynomial(3, gamma=1.0, coef0=1.0)",
    "linear": "Linear()",
    "sigmoid": "Sigmoid(gamma=1.0)",
    "exponential": "Exponential(gamma=1.0)",
}


def as_kernel(owner: str, value: object, natural: Kernel) -> Kernel:
    """Return the kernel that an estimator was given, or its natural one for None; errors say what to write instead."""
    if value is None:
        return natural
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str):
        example = _INSTEAD_OF_NAMES.get(value.lower(), "Polynomial(2, coef0=1.0)")
        module = "from mercer import " + example.partition("(")[0]
        raise ValueError(
            f"{owner}: kernel must be a kernel object, got the name {value!r}. Write {example} ({module})."
        )
    raise ValueError(f"{owner}: kernel must be a kernel object such as {natural!r}, got {value!r}.")
