"""Frozen values whose fields are their parameters: how they print, and how parameters are read and replaced."""

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields, replace
from typing import Self


@dataclass(frozen=True, repr=False)
class Value:
    """A frozen dataclass that prints as the expression that makes it. Its fields may be values, or tuples of values."""

    def __repr__(self) -> str:
        in_order = sorted(fields(self), key=lambda field: bool(field.kw_only))  # an ancestor's keywords come first
        arguments = [_argument(field, getattr(self, field.name)) for field in in_order]
        return f"{type(self).__name__}({', '.join(filter(None, arguments))})"

    def inner_values(self) -> "Iterator[tuple[str, Value]]":
        """Yield the values among the fields and in tuples, by names such as ``kernel`` and ``terms_0``."""
        for field in fields(self):
            yield from _values_in(field.name, getattr(self, field.name))

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name, as scikit-learn does; those of nested kernels as ``terms_0__gamma``."""
        params: dict[str, object] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            params[field.name] = value
            if deep:
                for name, inner in _values_in(field.name, value):
                    if name != field.name:
                        params[name] = inner
                    params |= {f"{name}__{key}": sub for key, sub in inner.get_params().items()}
        return params

    def with_params(self, **params: object) -> Self:
        """Return this kernel with some parameters replaced, nested ones by names such as ``terms_0__gamma``.

        >>> from mercer import Linear, Polynomial
        >>> (Linear() + Polynomial(2)).with_params(terms_1__degree=3)
        Linear() + Polynomial(3)
        """
        own, changes = {field.name for field in fields(self)}, dict[str, object]()
        for path, new in params.items():
            name, _, rest = path.partition("__")
            if name in own and not rest:
                changes[name] = new
                continue
            holder = name if name in own else name.rpartition("_")[0]
            current = changes.get(holder, getattr(self, holder, None))
            inner = dict(_values_in(holder, current)).get(name)
            if inner is None:
                raise ValueError(f"{self!r} has no parameter {path!r}. It has {', '.join(sorted(self.get_params()))}.")
            replaced = inner.with_params(**{rest: new}) if rest else new
            changes[holder] = _with_inner(holder, current, name, replaced)
        return replace(self, **changes)

    def __sklearn_clone__(self) -> Self:
        """Return self: a frozen value needs no copy, and ``clone`` then sees the identical parameter."""
        return self


def _argument(field: Field[object], value: object) -> str:
    if field.kw_only:
        return "" if field.default is not MISSING and value == field.default else f"{field.name}={value!r}"
    return repr(value)


def _values_in(name: str, value: object) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Value):
        yield name, value
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            if isinstance(item, Value):
                yield f"{name}_{i}", item


def _with_inner(holder: str, current: object, name: str, new: object) -> object:
    if not isinstance(current, tuple):
        return new
    position = int(name.removeprefix(f"{holder}_"))
    return (*current[:position], new, *current[position + 1 :])
