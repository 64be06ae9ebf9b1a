"""Parameters of estimators that hold kernels, which never change, or lists of maps."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Self

from mercer.kernels import Kernel, Polynomial

# Parameters of kernels, which scikit-learn's estimators take in place of a kernel.
_OF_KERNELS = {"gamma": "Gaussian", "coef0": "Polynomial", "degree": "Polynomial"}


def _with_hint(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that refuses parameters of a kernel with the spelling of mercer."""
    known = signature(init).parameters

    @wraps(init)
    def __init__(self: object, *args: Any, **params: Any) -> None:  # noqa: N807 - it is one
        foreign = [name for name in _OF_KERNELS if name in params and name not in known]
        if foreign and "kernel" in known:
            raise TypeError(_hint(type(self).__name__, {name: params[name] for name in foreign}))
        init(self, *args, **params)

    return __init__


def _hint(owner: str, params: dict[str, object]) -> str:
    kind = _OF_KERNELS[list(params)[-1]]
    written = ", ".join(
        f"{name}={value!r}" for name, value in sorted(params.items(), key=lambda pair: pair[0] != "degree")
    )
    several = len(params) > 1
    return (
        f"{owner}: {' and '.join(params)} {'are parameters' if several else 'is a parameter'} of the kernel. "
        f"Write {owner}({kind}({written})), after: from mercer import {kind}."
    )


class NestedParams:
    """Mixin, left of BaseEstimator, that lets ``set_params`` reach into kernels and lists.

    A kernel is a frozen value: ``set_params(kernel__gamma=2.0)`` puts another kernel in its place, so the one that
    the caller holds stays as it was. Members of a list or tuple are reached as ``maps_0__n_components``.
    """

    _natural_kernel: ClassVar[Kernel] = Polynomial(2)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = _with_hint(cls.__init__)  # type: ignore[method-assign]

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name, those of members of lists as ``maps_0__n_components``."""
        params: dict[str, object] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep:
            for name, value in list(params.items()):
                for i, member in enumerate(value if isinstance(value, list | tuple) else ()):
                    if hasattr(member, "get_params"):
                        params[f"{name}_{i}"] = member
                        params |= {f"{name}_{i}__{key}": sub for key, sub in member.get_params().items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; ``kernel__gamma`` replaces the kernel, the natural one where it is None."""
        own = super().get_params(deep=False)  # type: ignore[misc]
        super().set_params(**{key: value for key, value in params.items() if key in own})  # type: ignore[misc]
        rest = {key: value for key, value in params.items() if key not in own}
        for key in list(rest):
            name, _, path = key.partition("__")
            if self._replace_kernel(name, path, rest[key]) or self._set_member(name, path, rest[key]):
                del rest[key]
        super().set_params(**rest)  # type: ignore[misc]
        return self

    def _replace_kernel(self, name: str, path: str, value: object) -> bool:
        current = getattr(self, name, None)
        if name == "kernel" and current is None:
            current = self._natural_kernel
        if not path or not isinstance(current, Kernel):
            return False
        setattr(self, name, current.with_params(**{path: value}))
        return True

    def _set_member(self, name: str, path: str, value: object) -> bool:
        holder, _, position = name.rpartition("_")
        members = getattr(self, holder, None) if holder and position.isdigit() else None
        if not isinstance(members, list | tuple) or int(position) >= len(members):
            return False
        if path:
            members[int(position)].set_params(**{path: value})
        else:
            replaced = [value if i == int(position) else member for i, member in enumerate(members)]
            setattr(self, holder, type(members)(replaced))
        return True
