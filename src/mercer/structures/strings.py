"""Strings of bytes."""

import itertools
from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

import numpy as np

from mercer._typing import Array, override
from mercer.state import part, require
from mercer.structures.objects import as_list, refuse
from mercer.structures.ragged import Ragged, ends_of

# What to do with lists of words or numbers.
_OF_TOKENS = "Lists of tokens are for Spectrum(k, tokens=True); or join the tokens to one text."


@part("Strings")
class Strings(Ragged):
    """Strings as bytes: text is encoded in UTF-8, so that a letter outside ASCII is several bytes.

    ``Sequences.of_characters`` keeps the characters whole.

    Parameters
    ----------
    X : list, array, or column of a data frame, of str or bytes

    Examples
    --------
    >>> from mercer.structures import Strings
    >>> strings = Strings(["ACGT", b"GG", ""])
    >>> strings.shape, strings.sizes.tolist(), strings[1:].tolist()
    ((3, 1), [4, 2, 0], [b'GG', b''])
    """

    _levels: ClassVar[Mapping[str, tuple[str, ...]]] = {"letters": ("text",)}

    def __init__(self, X: object):
        made = self.of("Strings", "X", X)
        self._take(made)

    @override
    def _check_arrays(self) -> None:
        text = self._arrays["text"]
        require(text is not None and text.dtype == np.uint8 and text.ndim == 1, "text must be bytes")

    @classmethod
    def of(cls, owner: str, name: str, X: object) -> Self:
        """Pack strings; errors name the object that is none."""
        objects = as_list(owner, name, X, "strings")
        encoded = []
        for i, text in enumerate(objects):
            if isinstance(text, str):
                encoded.append(text.encode("utf-8", "surrogatepass"))
            elif isinstance(text, bytes):
                encoded.append(text)
            else:
                is_list = isinstance(text, list | tuple)
                way_out = _OF_TOKENS if is_list else "Convert it, or leave the row out."
                raise refuse(owner, name, i, "must be text (str or bytes)", text, way_out)
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls._with({"letters": ends_of([len(part) for part in encoded])}, {"text": text}, np.float32)

    @classmethod
    def of_arrays(cls, text: Array, offsets: Array) -> Self:
        """Take bytes (uint8) and the first byte of each string, with the end last, as they are."""
        text, offsets = np.ascontiguousarray(text), np.ascontiguousarray(offsets, dtype=np.int64)
        in_order = len(offsets) and offsets[0] == 0 and offsets[-1] == len(text) and np.all(np.diff(offsets) >= 0)
        if text.dtype != np.uint8 or text.ndim != 1 or not in_order:
            raise ValueError("Strings: text must be uint8 and offsets must ascend from 0 to len(text).")
        return cls._with({"letters": offsets}, {"text": text}, np.float32)

    @property
    def text(self) -> Array:
        """The bytes of all strings, one after the other."""
        text = self._arrays["text"]
        assert text is not None  # noqa: S101 - strings always have it
        return text

    def __iter__(self) -> Iterator[bytes]:
        text, pointers = self.text.tobytes(), self.pointers().tolist()
        return (text[a:b] for a, b in itertools.pairwise(pointers))

    def tolist(self) -> list[bytes]:
        """Return the strings as bytes."""
        return list(self)
