"""What a fitted map makes of one of its arrays for every block of rows, made once.

Not kept on the map: a transform leaves an estimator as it was, and neither copies nor files should carry it.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

from mercer._typing import Array

_kept: WeakKeyDictionary[Any, tuple[Any, dict[Any, Array]]] = WeakKeyDictionary()


def cached(owner: Any, source: Array, key: Any, make: Callable[[], Array]) -> Array:
    """Return what ``make`` made of ``source``, an array of ``owner``, under this key; new arrays make it anew."""
    of, made = _kept.get(owner, (None, {}))
    if of is None or of() is not source:
        made = {}
        _kept[owner] = (ref(source), made)
    if key not in made:
        made[key] = make()
    return made[key]
