"""What every kind of stored value shares: sizes with names, and refusals."""

import math
import numbers
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

# A dimension: a number, a name that is the same size everywhere in one object, or None for any.
Dimension = int | str | None


class UnsoundError(ValueError):
    """A fitted object that no ``fit`` makes."""


class Sizes(dict[str, int]):
    """The named sizes of one object, and the checks that wait until all of them are known."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[Callable[[], None]] = []

    def match(self, dimension: Dimension, size: int, what: str) -> None:
        """Give a name its size, or refuse a size that differs from the one it has."""
        wanted = self.setdefault(dimension, size) if isinstance(dimension, str) else dimension
        name = f"{dimension} = " if isinstance(dimension, str) else ""
        require(wanted is None or wanted == size, f"{what} must be {name}{wanted}, got {size}")

    def value(self, bound: Dimension | float) -> float:
        """Return a bound, given by its name or as a number."""
        return self[bound] if isinstance(bound, str) else math.inf if bound is None else bound


def require(condition: object, sentence: str) -> None:
    """Refuse an object, in a sentence."""
    if not condition:
        raise UnsoundError(sentence)


@dataclass(frozen=True)
class Kind:
    """What a stored value must be.

    Parameters
    ----------
    attribute : str, optional
        Where the object holds it, if not under the name in the file.
    nullable : bool
        May be None.
    optional : bool
        May be missing: some fits do not set it.
    """

    _: KW_ONLY
    attribute: str | None = None
    nullable: bool = False
    optional: bool = False

    def check(self, value: object, name: str, sizes: Sizes) -> None:
        """Refuse a value that is not of this kind."""
        if not (value is None and self.nullable):
            self._check(value, name, sizes)

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        raise NotImplementedError


def short(value: object) -> str:
    """Return a value, or the name of its class, in at most 60 characters."""
    text = repr(value) if isinstance(value, str | numbers.Number | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
