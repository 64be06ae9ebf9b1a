"""Letters of strings, and which of them count."""

from functools import lru_cache

import numpy as np

from mercer._typing import Array
from mercer.key_core import Alphabet

_NO_LETTER = 255
_PAIRS = {"A": "T", "C": "G", "G": "C", "T": "A", "U": "A"}


@lru_cache(maxsize=64)
def alphabet_of(letters: str | None, *, fold_case: bool) -> Alphabet:
    """Return the codes of letters, of all bytes where none are named; ``fold_case`` gives both cases one code."""
    codes = np.full(256, _NO_LETTER, dtype=np.uint8)
    if letters is None:
        codes = np.arange(256, dtype=np.uint8)
        codes[_NO_LETTER] = 254  # 255 marks no letter; UTF-8 has neither
        if fold_case:
            codes[ord("A") : ord("Z") + 1] = codes[ord("a") : ord("z") + 1]
        return Alphabet(codes, 8)
    for code, letter in enumerate(sorted(letters)):
        for form in {letter.lower(), letter.upper()} if fold_case else {letter}:
            codes[ord(form)] = code
    return Alphabet(codes, max(1, (len(letters) - 1).bit_length()))


@lru_cache(maxsize=64)
def complement_of(letters: str) -> Array:
    """Return the code of the complement of each code of an alphabet of nucleotides."""
    order = sorted(letters)
    table = np.zeros(256, dtype=np.uint8)
    for code, letter in enumerate(order):
        other = _PAIRS[letter.upper()]
        found = next(
            (i for i, name in enumerate(order) if name.upper() in (other, "U" if other == "T" else other)), None
        )
        if found is None:
            raise ValueError(f"the alphabet {letters!r} has no complement of {letter!r}")
        table[code] = found
    return table


def check_alphabet(owner: str, letters: object, *, fold_case: bool, both_strands: bool = False) -> None:
    """Refuse what is no alphabet of single-byte letters; with both strands, what is not DNA or RNA."""
    if letters is not None:
        sound = isinstance(letters, str) and 0 < len(letters) < _NO_LETTER and letters.isascii()
        folded = letters.upper() if sound and isinstance(letters, str) and fold_case else letters
        if not sound or not isinstance(folded, str) or len(set(folded)) < len(folded):
            raise ValueError(
                f"{owner}: alphabet must be None or text of different ASCII letters such as 'ACGT', got {letters!r}."
            )
    if both_strands and (not isinstance(letters, str) or sorted(letters.upper()) not in (list("ACGT"), list("ACGU"))):
        raise ValueError(
            f"{owner}: both_strands needs an alphabet of nucleotides, 'ACGT' or 'ACGU', got {letters!r}. "
            "Give alphabet='ACGT'."
        )
