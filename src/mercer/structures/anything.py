"""Objects of any kind, kept as they are: what a user's function decomposes."""

import pickle
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import ClassVar, Self

import numpy as np

from mercer._typing import Array
from mercer.structures.objects import as_list, refuse
from mercer.structures.ragged import Ragged


class Objects(Ragged):
    """Objects of any kind, kept as they are, for kernels whose parts a user's function finds.

    Parameters
    ----------
    X : list or array of objects
        None is refused: it stands for a missing value.

    Examples
    --------
    >>> from mercer.structures import Objects
    >>> Objects([{"a": 1}, (2, 3)])[1:].tolist()
    [(2, 3)]
    """

    _levels: ClassVar[Mapping[str, tuple[str, ...]]] = {"objects": ("items",)}

    def __init__(self, X: object):
        made = self.of("Objects", "X", X)
        self._take(made)

    @classmethod
    def of(cls, owner: str, name: str, X: object) -> Self:
        """Keep objects; errors name the one that is missing."""
        listed = as_list(owner, name, X, "objects")
        items = np.empty(len(listed), dtype=object)
        for i, item in enumerate(listed):  # one by one: a slice assignment would unpack members that are sequences
            if item is None:
                raise refuse(owner, name, i, "must be an object", "None", "Leave the row out.")
            items[i] = item
        return cls._with({"objects": np.arange(len(items) + 1)}, {"items": items}, np.float32)

    @property
    def items(self) -> Array:
        """The objects, an array of them."""
        items = self._arrays["items"]
        assert items is not None  # noqa: S101 - objects always have them
        return items

    def __iter__(self) -> Iterator[object]:
        return iter(self.items.tolist())

    def tolist(self) -> list[object]:
        """Return the objects."""
        return list(self)

    def content(self) -> dict[str, Array]:
        """Return the hashes of the objects: their memory says nothing of what they are."""
        return {"objects": self.hashes()}

    def hashes(self) -> Array:
        """Return a hash of 64 bits of each object, of its pickled bytes; of its text where it cannot be pickled."""
        return np.array([_hash(item) for item in self], dtype=np.uint64)


def _hash(item: object) -> int:
    try:
        encoded = pickle.dumps(item, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError):
        encoded = repr(item).encode()
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little")
