"""Kinds of single values: numbers, flags, text, and plain data."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mercer.state.kind import Kind, Sizes, UnsoundError, require, short

# The highest degree of a kernel in a file: higher ones overflow on any data, and would only keep the reader busy.
LARGEST_DEGREE = 2**16
LARGEST_COUNT = 2**62


@dataclass(frozen=True)
class Count(Kind):
    """An integer, which may be the size of a name."""

    size: str | None = None
    least: int = 0
    most: int = LARGEST_COUNT

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        whole = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else None
        if whole is None or not self.least <= whole <= self.most:
            raise UnsoundError(f"{name} must be an integer from {self.least} to {self.most}, got {short(value)}")
        sizes.match(self.size, whole, name)


@dataclass(frozen=True)
class Real(Kind):
    """A number: finite unless ``finite`` is False, and above 0 where it is ``positive``."""

    least: float = -math.inf
    positive: bool = False
    finite: bool = True

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        sound = False
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            number = _float(value)
            sound = math.isfinite(number) or not self.finite
            sound = sound and not number < self.least and not (self.positive and number <= 0)
        require(sound, f"{name} must be a {'finite ' * self.finite}number{self._rule()}, got {short(value)}")

    def _rule(self) -> str:
        return " > 0" if self.positive else f" >= {self.least:g}" * (self.least > -math.inf)


def _float(value: numbers.Real) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer that is too large
        return math.inf


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        require(isinstance(value, bool | np.bool_), f"{name} must be True or False, got {short(value)}")


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few values of plain types."""

    values: tuple[object, ...]

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        known = any(type(value) is type(one) and value == one for one in self.values)
        require(known, f"{name} must be one of {list(self.values)}, got {short(value)}")


@dataclass(frozen=True)
class Text(Kind):
    """A string."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        require(isinstance(value, str), f"{name} must be text, got {short(value)}")


@dataclass(frozen=True)
class Plain(Kind):
    """Numbers, text, None, arrays of them, and lists and dicts of all these: what nothing is computed from."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if isinstance(value, Mapping):
            self._check([*value, *value.values()], name, sizes)
        elif isinstance(value, list | tuple):
            for item in value:
                self._check(item, name, sizes)
        else:
            plain = value is None or isinstance(value, str | numbers.Number | np.generic | np.ndarray)
            require(plain, f"{name} must hold numbers and text, got {short(value)}")
