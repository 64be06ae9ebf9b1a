"""Where a warning points to."""

import inspect

_OWN = ("mercer", "sklearn")


def caller_level() -> int:
    """Return the ``stacklevel`` for ``warnings.warn`` of the first caller outside of mercer and scikit-learn."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OWN:
        frame, level = frame.f_back, level + 1
    return max(level, 1)
