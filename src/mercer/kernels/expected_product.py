"""The kernel of a random feature function, which in general has no closed form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel

# A function of an array, elementwise.
Phi: TypeAlias = Callable[[Array], Array]
# A shift-invariant kernel, or a function (rng, n_components, n_features) that returns W, or W and offsets.
Distribution: TypeAlias = Kernel | Callable[..., Array | tuple[Array, Array]] | None


@dataclass(frozen=True, repr=False)
class ExpectedProduct(Kernel):
    """The kernel E[phi(<w, x> + b) phi(<w, y> + b)] over a distribution of (w, b).

    Its map is ``KitchenSinks(phi, distribution)``. It stands for itself in expressions and reports; its values have no
    closed form.
    """

    phi: str | Phi
    distribution: Distribution

    def __post_init__(self) -> None:
        if not (isinstance(self.phi, str) or callable(self.phi)):
            raise ValueError(f"ExpectedProduct: phi must be a function or the name of one, got {self.phi!r}.")
        if not (self.distribution is None or isinstance(self.distribution, Kernel) or callable(self.distribution)):
            raise ValueError(
                f"ExpectedProduct: distribution must be a kernel, a function or None, got {self.distribution!r}."
            )

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        raise ValueError(
            f"{self!r} has no closed form. Compare with the features of a larger map: "
            "Z = KitchenSinks(phi, distribution, n_components=100000).fit_transform(X); Z @ Z.T."
        )

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return self.evaluate(X, X)
