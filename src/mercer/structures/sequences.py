"""Sequences of tokens: characters, words, or numbers of anything."""

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from typing import ClassVar, Self

import numpy as np

from mercer._typing import Array, override
from mercer.state import part, require
from mercer.structures.objects import as_list, label_number, refuse
from mercer.structures.ragged import Ragged, ends_of


@part("Sequences")
class Sequences(Ragged):
    """Sequences of tokens: integers, or words, which become integers by a hash that is the same everywhere.

    Parameters
    ----------
    X : list of sequences of int or str

    Examples
    --------
    >>> from mercer.structures import Sequences
    >>> Sequences([[3, 1, 4], []]).sizes.tolist()
    [3, 0]
    >>> Sequences.of_words(["to be or not to be"]).sizes.tolist()
    [6]
    """

    _levels: ClassVar[Mapping[str, tuple[str, ...]]] = {"items": ("tokens",)}

    def __init__(self, X: object):
        made = self.of("Sequences", "X", X)
        self._take(made)

    @override
    def _check_arrays(self) -> None:
        tokens = self._arrays["tokens"]
        require(tokens is not None and tokens.dtype == np.int64 and tokens.ndim == 1, "tokens must be int64")

    @classmethod
    def of(cls, owner: str, name: str, X: object) -> Self:
        """Pack sequences; errors name the object at fault."""
        objects = as_list(owner, name, X, "sequences of tokens")
        numbers: dict[object, int] = {}
        packed = [_tokens(owner, name, i, sequence, numbers) for i, sequence in enumerate(objects)]
        tokens = np.fromiter(chain.from_iterable(packed), dtype=np.int64)
        return cls._with({"items": ends_of([len(part) for part in packed])}, {"tokens": tokens}, np.float32)

    @classmethod
    def of_words(cls, X: object) -> Self:
        """Cut texts at white space; a token is a word."""
        texts = as_list("Sequences", "X", X, "strings")
        return cls.of("Sequences", "X", [_text(i, text).split() for i, text in enumerate(texts)])

    @classmethod
    def of_characters(cls, X: object) -> Self:
        """Cut texts into characters; a token is the number of a code point."""
        texts = [_text(i, text) for i, text in enumerate(as_list("Sequences", "X", X, "strings"))]
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        sizes = ends_of([len(text) for text in texts])
        return cls._with({"items": sizes}, {"tokens": points.astype(np.int64)}, np.float32)

    @property
    def tokens(self) -> Array:
        """The tokens of all sequences, one after the other."""
        tokens = self._arrays["tokens"]
        assert tokens is not None  # noqa: S101 - sequences always have them
        return tokens

    def __iter__(self) -> Iterator[list[int]]:
        tokens, pointers = self.tokens.tolist(), self.pointers().tolist()
        return (tokens[a:b] for a, b in pairwise(pointers))


def _text(i: int, text: object) -> str:
    if not isinstance(text, str):
        raise refuse("Sequences", "X", i, "must be text (str)", text, "Decode bytes first.")
    return text


def _tokens(owner: str, name: str, i: int, sequence: object, numbers: dict[object, int]) -> list[int]:
    if isinstance(sequence, str | bytes) or not hasattr(sequence, "__iter__"):
        way_out = "Cut text first: Sequences.of_words or Sequences.of_characters."
        raise refuse(owner, name, i, "must be a sequence of tokens", sequence, way_out)
    listed = sequence.tolist() if isinstance(sequence, np.ndarray) else list(sequence)
    for token in listed:
        if token not in numbers:
            number = label_number(token)
            if number is None:
                way_out = "Give integers or words."
                raise refuse(owner, name, i, "must hold tokens that are integers or text", token, way_out)
            numbers[token] = number
    return [numbers[token] for token in listed]
