"""Arrays of other libraries: tensors of PyTorch and other arrays in the memory of the CPU, taken and returned.

scikit-learn's convention holds: with ``sklearn.config_context(array_api_dispatch=True)`` a result follows X, in library
and device. Otherwise results are NumPy arrays. The memory is shared by DLPack both ways, so that nothing is copied.
"""

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np
from sklearn import get_config

# The methods of estimators that take rows.
_METHODS = (
    "fit",
    "partial_fit",
    "transform",
    "inverse_transform",
    "fit_transform",
    "predict",
    "fit_predict",
    "predict_proba",
    "predict_log_proba",
    "predict_interval",
    "predict_set",
    "decision_function",
    "score_samples",
    "score",
)
# Devices of DLPack whose memory the CPU reads: its own, and memory of the host that CUDA or ROCm has pinned.
_HOST_DEVICES = (1, 3, 11)
# Kinds of numbers that every library holds; text stays in NumPy.
_COMMON_KINDS = "fiub"


class FollowsArrays:
    """Mixin, left of all other bases: methods take arrays of other libraries, and their results are of that library.

    Every method of a subclass that takes rows is wrapped when the class is made, as scikit-learn does for
    ``set_output``. What a fit learns stays in NumPy: the compiled core computes there.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _METHODS:
            method = getattr(cls, name, None)
            if callable(method) and not hasattr(method, "follows_arrays"):
                setattr(cls, name, _following(method))


def _following(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def follow(self: object, *args: Any, **options: Any) -> Any:
        given = (*args, *options.values())
        if not any(map(_is_foreign, given)) or not get_config()["array_api_dispatch"]:
            return method(self, *args, **options)
        owner = type(self).__name__
        on_host = [_on_host(owner, value) for value in args]
        named = {name: _on_host(owner, value) for name, value in options.items()}
        X = options.get("X", args[0] if args else None)
        result = method(self, *on_host, **named)
        return _like(X, result) if _is_foreign(X) else result

    follow.follows_arrays = True  # type: ignore[attr-defined]
    return follow


def _is_foreign(value: object) -> bool:
    """Return whether a value is an array of another library, which shares its memory by DLPack."""
    return not isinstance(value, np.ndarray | np.generic) and hasattr(type(value), "__dlpack__")


def _on_host(owner: str, value: Any) -> Any:
    """Return an array of another library as a NumPy array on the same memory; other values as they are."""
    if not _is_foreign(value):
        return value
    kind = type(value).__name__
    try:
        if value.__dlpack_device__()[0] in _HOST_DEVICES:
            return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            f"{owner}: NumPy cannot read the {kind} ({error}). Pass a dense one of float32 or float64 without a "
            "gradient, for PyTorch X.detach().to_dense()."
        ) from None
    raise ValueError(
        f"{owner}: the {kind} is on {value.device}, and mercer computes on the CPU. Pass a copy on the CPU, for "
        "PyTorch X.cpu()."
    )


def _like(X: Any, result: Any) -> Any:
    """Return a result as an array of X's library on X's device, on the same memory."""
    if isinstance(result, tuple):
        return tuple(_like(X, part) for part in result)
    if not isinstance(result, np.ndarray) or result.dtype.kind not in _COMMON_KINDS:
        return result
    library: Any = _library_of(X)
    writable = result if result.flags.writeable else result.copy()  # few libraries hold memory that must not change
    made = library.from_dlpack(writable)
    return made if made.device == X.device else made.to_device(X.device)


def _library_of(X: Any) -> ModuleType:
    """Return the namespace of an array; tensors of PyTorch do not name theirs."""
    if hasattr(X, "__array_namespace__"):
        namespace: ModuleType = X.__array_namespace__()
        return namespace
    return sys.modules[type(X).__module__.partition(".")[0]]
