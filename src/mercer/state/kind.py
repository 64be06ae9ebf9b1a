"""The base of all kinds of stored values, the named sizes of one object, and the error of an unsound object."""

import math
import numbers
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

# A dimension: a number, a name that is the same size everywhere in one object, or None for any.
Dimension = int | str | None


class UnsoundError(ValueError):
    """The attributes of an object are not what any ``fit`` sets."""


class Sizes(dict[str, int]):
    """The named sizes of one object, and the checks that run once all sizes are known."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[Callable[[], None]] = []

    def match(self, dimension: Dimension, size: int, what: str) -> None:
        """Record the size of a name; refuse a size that differs from the one recorded before."""
        wanted = self.setdefault(dimension, size) if isinstance(dimension, str) else dimension
        if wanted is not None and wanted != size:
            name = f"{dimension} = " if isinstance(dimension, str) else ""
            raise UnsoundError(f"{what} must be {name}{wanted}, got {size}")

    def value(self, bound: Dimension | float) -> float:
        """Return a bound, given by its name or as a number."""
        return self[bound] if isinstance(bound, str) else math.inf if bound is None else bound


def require(condition: object, sentence: str) -> None:
    """Raise an ``UnsoundError`` with this sentence unless the condition holds."""
    if not condition:
        raise UnsoundError(sentence)


@dataclass(frozen=True)
class Kind:
    """What a stored value must be.

    Parameters
    ----------
    attribute : str, optional
        The attribute of the object, if its name differs from the name in the file.
    nullable : bool
        The value may be None.
    optional : bool
        The attribute may be missing: some fits do not set it.
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
    """Return the text of a number or a string, or the class of another value, in at most 60 characters."""
    text = repr(value) if isinstance(value, str | numbers.Number | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
