"""Parameters of estimators that hold kernels, which never change, or lists of maps."""

from typing import ClassVar, Self

from mercer.kernels import Kernel, Polynomial


class NestedParams:
    """Mixin, left of BaseEstimator, that lets ``set_params`` reach into kernels and lists.

    A kernel is a frozen value: ``set_params(kernel__gamma=2.0)`` puts another kernel in its place, so the one that
    the caller holds stays as it was. Members of a list or tuple are reached as ``maps_0__n_components``.
    """

    _natural_kernel: ClassVar[Kernel] = Polynomial(2)

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
