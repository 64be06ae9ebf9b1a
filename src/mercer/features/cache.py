"""A cache of what a fitted map computes from one of its arrays for every block of rows.

The cache is not kept on the map: a transform leaves an estimator as it was, and copies and files do not carry it.
"""

from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary, ref

from mercer._typing import Array

_kept: WeakKeyDictionary[object, tuple[ref[Array], dict[Hashable, Array]]] = WeakKeyDictionary()


def cached(owner: object, source: Array, key: Hashable, make: Callable[[], Array]) -> Array:
    """Return what ``make`` made of ``source``, an array of ``owner``, under this key; made again for another array."""
    kept = _kept.get(owner)
    if kept is None or kept[0]() is not source:
        kept = _kept[owner] = (ref(source), {})
    made = kept[1]
    if key not in made:
        made[key] = make()
    return made[key]
