"""Kinds of single values: numbers, flags, text, and plain data."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mercer.state.kind import Kind, Sizes, UnsoundError, short

# The highest degree of a kernel in a file: higher degrees overflow on any data, and take long to read.
LARGEST_DEGREE = 2**16
LARGEST_COUNT = 2**62


@dataclass(frozen=True)
class Count(Kind):
    """An integer, which may set a named size."""

    size: str | None = None
    least: int = 0
    most: int = LARGEST_COUNT

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        whole = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else None
        if whole is None or not self.least <= whole <= self.most:
            raise UnsoundError(f"{name} must be an integer from {self.least} to {self.most}, got {short(value)}")
        if self.size is not None:
            sizes.match(self.size, whole, name)


@dataclass(frozen=True)
class Real(Kind):
    """A number: finite unless ``finite`` is False, and above 0 where it is ``positive``."""

    least: float = -math.inf
    positive: bool = False
    finite: bool = True

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            raise self._refusal(value, name)
        try:
            number = float(value)
        except OverflowError:  # an integer that is too large
            number = math.inf
        in_range = not number < self.least and not (self.positive and number <= 0)
        if not in_range or (self.finite and not math.isfinite(number)):
            raise self._refusal(value, name)

    def _refusal(self, value: object, name: str) -> UnsoundError:
        rule = " > 0" if self.positive else f" >= {self.least:g}" * (self.least > -math.inf)
        return UnsoundError(f"{name} must be a {'finite ' * self.finite}number{rule}, got {short(value)}")


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, bool | np.bool_):
            raise UnsoundError(f"{name} must be True or False, got {short(value)}")


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few values of plain types."""

    values: tuple[object, ...]

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if (type(value), value) not in [(type(one), one) for one in self.values]:
            raise UnsoundError(f"{name} must be one of {list(self.values)}, got {short(value)}")


@dataclass(frozen=True)
class Text(Kind):
    """A string."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, str):
            raise UnsoundError(f"{name} must be text, got {short(value)}")


@dataclass(frozen=True)
class Plain(Kind):
    """Numbers, text, None, arrays of these, and lists and dicts of them: values that no code computes with."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if isinstance(value, Mapping):
            self._check([*value, *value.values()], name, sizes)
        elif isinstance(value, list | tuple):
            for item in value:
                self._check(item, name, sizes)
        elif value is not None and not isinstance(value, str | numbers.Number | np.generic | np.ndarray):
            raise UnsoundError(f"{name} must hold numbers and text, got {short(value)}")
