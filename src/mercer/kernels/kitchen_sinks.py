"""The kernel of a random feature function, which in general has no closed form."""

from dataclasses import dataclass
from typing import Any

from mercer._typing import Array, override
from mercer.kernels.base import Kernel


@dataclass(frozen=True, repr=False)
class ExpectedProduct(Kernel):
    """The kernel E[phi(<w, x> + b) phi(<w, y> + b)] over a law of (w, b). Its map is ``KitchenSinks(phi, law)``.

    It stands for itself in expressions and reports; its values have no closed form.
    """

    phi: Any
    law: Any

    def __post_init__(self) -> None:
        if not (isinstance(self.phi, str) or callable(self.phi)):
            raise ValueError(f"ExpectedProduct: phi must be a function or the name of one, got {self.phi!r}.")
        if not (self.law is None or isinstance(self.law, Kernel) or callable(self.law)):
            raise ValueError(f"ExpectedProduct: law must be a kernel, a function or None, got {self.law!r}.")

    @override
    def evaluate(self, X: Any, Y: Any) -> Array:
        raise ValueError(
            f"{self!r} has no closed form. Compare with the features of a larger map: Z = KitchenSinks(phi, law, "
            "n_components=100000).fit_transform(X); Z @ Z.T."
        )

    @override
    def evaluate_diag(self, X: Any) -> Array:
        return self.evaluate(X, X)
