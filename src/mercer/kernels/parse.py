"""Kernel expressions from text, by a parser of a dozen lines of grammar: nothing is ever evaluated as Python.

    sum     := product (("+" | "-") product)*
    product := signed (("*" | "/") signed)*
    signed  := "-"? value
    value   := number | text | None | True | False | Name "(" arguments ")" | "(" sum ")" | sequence

Kernels add and multiply; numbers may also be subtracted and divided, so that ``gamma=1/784`` can be written.
"""

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from difflib import get_close_matches
from functools import cache
from inspect import isabstract
from math import isfinite
from operator import add, mul, sub, truediv
from typing import NamedTuple, TypeAlias

from mercer.kernels.base import Kernel
from mercer.kernels.values import Value

_LONGEST = 200_000  # characters: a weight for each of some thousand columns
_DEEPEST = 40
_SHOWN = 60  # characters shown on either side of the error

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
      | (?P<text>'[^'\\\n]*'|"[^"\\\n]*")
      | (?P<mark>[-+*/(),=\[\]])
      | (?P<end>$)
    )""",
    re.VERBOSE | re.ASCII,
)
_OTHER_NAMES = {
    "rbf": "Gaussian",
    "squaredexponential": "Gaussian",
    "poly": "Polynomial",
    "laplace": "Laplacian",
    "chisquared": "Chi2",
    "minmax": "Intersection",
}
# What a part of an expression may be.
_Operand: TypeAlias = Kernel | int | float
_Value: TypeAlias = "_Operand | Value | str | tuple[_Value, ...] | None"
_CONSTANTS = {"None": None, "True": True, "False": False}
_OPERATIONS: dict[str, Callable[[_Operand, _Operand], _Operand]] = {"+": add, "-": sub, "*": mul, "/": truediv}


class KernelSyntaxError(ValueError):
    """An expression that is no kernel, with the column (from 1) at fault and a caret under it."""

    def __init__(self, message: str, text: str, column: int):
        before, after = text[:column][-_SHOWN:], text[column:][:_SHOWN]
        line = f"{'…' * (column > _SHOWN)}{before}"
        shown = re.sub(r"\s", " ", f"{line}{after}{'…' * (len(text) > column + _SHOWN)}")
        super().__init__(f"{message} (column {column + 1})\n  {shown}\n  {' ' * len(line)}^")
        self.message = message
        self.column = column + 1


def parse_kernel(text: str) -> Kernel:
    """Return the kernel that an expression writes, as every kernel prints itself.

    Parameters
    ----------
    text : str
        Names of kernels with their parameters, ``+``, ``*``, numbers and brackets. Kernels that hold a function of
        your own (``DotProduct``) cannot be written as text.

    Raises
    ------
    KernelSyntaxError
        A ``ValueError`` that points at the column.

    Examples
    --------
    >>> from mercer import parse_kernel
    >>> parse_kernel("Gaussian(gamma=0.5) + 0.1*Linear()")
    Gaussian(gamma=0.5) + 0.1 * Linear()
    >>> parse_kernel("Gausian(gamma=0.5)")
    Traceback (most recent call last):
    mercer.kernels.parse.KernelSyntaxError: there is no kernel 'Gausian'; did you mean 'Gaussian'? (column 1)
      Gausian(gamma=0.5)
      ^
    """
    if not isinstance(text, str):
        raise ValueError(f"parse_kernel: text must be a string such as 'Gaussian(gamma=0.5)', got {text!r}.")
    if len(text) > _LONGEST:
        raise KernelSyntaxError(f"the expression is longer than {_LONGEST} characters", text, _LONGEST)
    return _Parser(text).kernel()


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _Parser:
    def __init__(self, text: str):
        self._text = text
        self._tokens = self._tokenised()
        self._next = 0
        self._depth = 0

    def kernel(self) -> Kernel:
        if self._here.kind == "end":
            raise self._fault("the expression is empty; write a kernel such as Gaussian(gamma=0.5)", self._here)
        first = self._here
        value = self._sum()
        if self._here.kind != "end":
            raise self._fault(f"unexpected {self._here.text!r}; expected +, * or the end", self._here)
        if not isinstance(value, Kernel):
            raise self._fault("this is no kernel; write one such as Gaussian(gamma=0.5)", first)
        return value

    def _tokenised(self) -> list[_Token]:
        tokens: list[_Token] = []
        position = 0
        while not tokens or tokens[-1].kind != "end":
            match = _TOKEN.match(self._text, position)
            if match is None:
                position += len(self._text[position:]) - len(self._text[position:].lstrip())
                found = self._text[position]
                what = "a text without its closing quote" if found in "'\"" else f"unexpected character {found!r}"
                raise KernelSyntaxError(what, self._text, position)
            kind = str(match.lastgroup)
            tokens.append(_Token(kind, match.group(kind), match.start(kind)))
            position = match.end()
        return tokens

    @property
    def _here(self) -> _Token:
        return self._tokens[self._next]

    def _fault(self, message: str, token: _Token) -> KernelSyntaxError:
        return KernelSyntaxError(message, self._text, token.start)

    def _take(self) -> _Token:
        token = self._here
        self._next += 1
        return token

    def _take_mark(self, *marks: str) -> _Token | None:
        return self._take() if self._here.kind == "mark" and self._here.text in marks else None

    def _expect(self, mark: str) -> None:
        if not self._take_mark(mark):
            found = "the end of the expression" if self._here.kind == "end" else repr(self._here.text)
            raise self._fault(f"expected {mark!r}, found {found}", self._here)

    def _sum(self) -> _Value:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._fault(f"brackets are nested deeper than {_DEEPEST} levels", self._here)
        value = self._chain(self._product, "+", "-")
        self._depth -= 1
        return value

    def _product(self) -> _Value:
        return self._chain(self._signed, "*", "/")

    def _chain(self, operand: Callable[[], _Value], *marks: str) -> _Value:
        """Read operands between operators, applied from the left as Python does."""
        value = operand()
        while operator := self._take_mark(*marks):
            value = self._applied(operator, value, operand())
        return value

    def _applied(self, operator: _Token, left: _Value, right: _Value) -> _Value:
        if not isinstance(left, Kernel | int | float) or not isinstance(right, Kernel | int | float):
            raise self._fault(f"{operator.text} takes kernels and numbers", operator)
        n_kernels = isinstance(left, Kernel) + isinstance(right, Kernel)
        if n_kernels and operator.text in "-/":
            way_out = "write a factor such as 0.5 * kernel" if operator.text == "/" else "only + keeps them kernels"
            raise self._fault(f"kernels have no {operator.text}; {way_out}", operator)
        if n_kernels == 1 and operator.text == "+":
            raise self._fault("a number cannot be added to a kernel; a constant is Polynomial(1, coef0=...)", operator)
        try:
            value = _OPERATIONS[operator.text](left, right)
        except (ValueError, ArithmeticError) as error:
            raise self._fault(_sentence(error), operator) from error
        self._check_finite(value, operator)
        return value

    def _check_finite(self, value: _Operand, token: _Token) -> None:
        if isinstance(value, float) and not isfinite(value):
            raise self._fault("the number is too large", token)

    def _signed(self) -> _Value:
        minus = self._take_mark("-")
        value = self._value()
        if minus is None:
            return value
        if not isinstance(value, int | float):
            raise self._fault("a kernel has no minus: it would not be positive definite", minus)
        return -value

    def _value(self) -> _Value:
        token = self._take()
        if token.kind == "number":
            return self._number(token)
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "name":
            return self._named(token)
        if token.kind == "mark" and token.text in "([":
            return self._bracketed(")" if token.text == "(" else "]")
        found = "the end of the expression" if token.kind == "end" else repr(token.text)
        raise self._fault(f"expected a kernel or a number, found {found}", token)

    def _number(self, token: _Token) -> int | float:
        if not token.text.isdigit():
            number = float(token.text)
            self._check_finite(number, token)
            return number
        if len(token.text) > 18:
            raise self._fault("the whole number is too large; write it with a point", token)
        return int(token.text)

    def _bracketed(self, closing: str) -> _Value:
        """Read what follows an opening bracket: a sequence, or for round ones without a comma a value."""
        items: list[_Value] = []
        is_sequence = closing == "]"
        while not self._take_mark(closing):
            items.append(self._sum())
            if self._take_mark(","):
                is_sequence = True
            else:
                self._expect(closing)
                break
        return tuple(items) if is_sequence or not items else items[0]

    def _named(self, token: _Token) -> _Value:
        if token.text in _CONSTANTS and not (self._here.kind == "mark" and self._here.text == "("):
            return _CONSTANTS[token.text]
        cls = _kernels().get(token.text)
        if cls is None:
            raise self._fault(_unknown(token.text), token)
        if self._here.text != "(" or self._here.kind != "mark":
            raise self._fault(f"expected '(' after {token.text}: write {token.text}(...)", self._here)
        self._take()
        return self._made(token, cls)

    def _made(self, token: _Token, cls: type[Value]) -> Value:
        """Read the arguments and make the kernel; an error points at the argument that it is about."""
        named = {field.name: field for field in fields(cls) if field.init}
        in_order = [name for name, field in named.items() if not field.kw_only]
        values: dict[str, _Value] = {}
        places: dict[str, _Token] = {}
        while not self._take_mark(")"):
            place = self._here
            if place.kind == "end":
                self._expect(")")
            name = self._keyword() or self._positional(cls, in_order, values)
            if name not in named:
                listed = ", ".join(named) or "none"
                raise self._fault(
                    f"{token.text} has no parameter {name!r}{_hint(name, list(named))}; it takes {listed}", place
                )
            if name in values:
                raise self._fault(f"{token.text}: {name} is given twice", place)
            values[name], places[name] = self._sum(), place
            if not self._take_mark(","):
                self._expect(")")
                break
        missing = [name for name, field in named.items() if field.default is MISSING and name not in values]
        if missing:
            raise self._fault(f"{token.text} needs {' and '.join(missing)}", token)
        try:
            return cls(**values)
        except (ValueError, TypeError, ArithmeticError) as error:
            message = _sentence(error)
            about = re.match(rf"{cls.__name__}: (\w+)", message)
            raise self._fault(message, places.get(about[1], token) if about else token) from error

    def _keyword(self) -> str | None:
        following = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        if self._here.kind != "name" or following.text != "=":
            return None
        name = self._take().text
        self._take()
        return name

    def _positional(self, cls: type[Value], in_order: list[str], values: dict[str, _Value]) -> str:
        for name in in_order:
            if name not in values:
                return name
        names = [field.name for field in fields(cls) if field.kw_only]
        way_out = f"; write {names[0]}=..." if names else ""
        raise self._fault(f"{cls.__name__} takes {len(in_order)} arguments without a name{way_out}", self._here)


@cache
def _kernels() -> dict[str, type[Value]]:
    """Return the kernels that text can write: all but those made from a function or a matrix."""
    from mercer import kernels  # noqa: PLC0415 - the package imports this file

    values = {name: getattr(kernels, name) for name in kernels.__all__}
    known = (Kernel, kernels.Decomposition)
    classes = {name: value for name, value in values.items() if isinstance(value, type) and issubclass(value, known)}
    return {name: cls for name, cls in classes.items() if not isabstract(cls) and name not in _NOT_TEXT}


_NOT_TEXT = {
    "DotProduct": "a function",
    "FunctionKernel": "a function",
    "Parts": "a function",
    "PrecomputedKernel": "a matrix",
}


def _unknown(name: str) -> str:
    if name in _NOT_TEXT:
        return f"{name} holds {_NOT_TEXT[name]}, which cannot be written as text; make it in Python"
    return f"there is no kernel {name!r}{_hint(name, list(_kernels()))}"


def _hint(name: str, names: list[str]) -> str:
    key = name.lower().replace("_", "").removesuffix("kernel")
    nearest = get_close_matches(key, [known.lower() for known in names], 1)
    known = {known.lower(): known for known in names}
    found = _OTHER_NAMES.get(key) if _OTHER_NAMES.get(key) in names else known[nearest[0]] if nearest else None
    return f"; did you mean {found!r}?" if found else ""


def _sentence(error: Exception) -> str:
    return str(error).removesuffix(".")
