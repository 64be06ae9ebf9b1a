"""Which attributes of an estimator are its fitted state: the same rule for writing and for reading."""

import re
from inspect import getattr_static
from typing import Any

_NAME = re.compile(r"(?:[A-Za-z][A-Za-z0-9_]{0,98}_|_[A-Za-z][A-Za-z0-9_]{0,98})", re.ASCII)
_NOTHING = object()


def is_state(cls: type[Any], name: Any) -> bool:
    """Return whether a name is one that ``fit`` may set: public ones end in ``_``, private ones begin with one.

    Nothing that the class itself defines, such as a method, can be overlaid.
    """
    if not isinstance(name, str) or _NAME.fullmatch(name) is None or name.endswith("__"):
        return False
    return getattr_static(cls, name, _NOTHING) is _NOTHING
