"""Counts of substrings of several lengths: the counts of the longer ones give those of the shorter ones."""

import numpy as np

from mercer._typing import Array

_NO_LETTER = 255


def count_substrings(
    text: Array,
    offsets: Array,
    codes: Array,
    least: int,
    longest: int,
    bits: int,
    out_pointers: Array,
    out_keys: Array,
    out_values: Array,
    out_squares: Array,
) -> None:
    """Write the distinct substrings of each string, longest first, with their counts and the sum of their squares.

    Keys are those of ``string_keys`` with ``bits`` > 0. Substrings of a length come in the order of the longer ones
    that end with them, followed by those at the beginning of a run of letters, which no longer one ends with.
    """
    end = 0
    out_pointers[0] = 0
    for i in range(len(offsets) - 1):
        letters = [int(code) for code in codes[text[offsets[i] : offsets[i + 1]]]]
        counts: dict[int, float] = {}
        found: list[tuple[int, float]] = []
        for length in range(longest, least - 1, -1):
            mark = 1 << (bits * length)
            shorter: dict[int, float] = {}
            for key, number in counts.items():
                short = (key & (mark - 1)) | mark
                shorter[short] = shorter.get(short, 0.0) + number
            for key in _new_windows(letters, length, longest, bits):
                shorter[key] = shorter.get(key, 0.0) + 1.0
            counts = shorter
            found += counts.items()
        stop = end + len(found)
        out_keys[end:stop] = np.array([key for key, _ in found], dtype=np.uint64)
        out_values[end:stop] = [number for _, number in found]
        out_squares[i] = sum(number**2 for _, number in found)
        out_pointers[i + 1] = end = stop


def _new_windows(letters: list[int], length: int, longest: int, bits: int) -> list[int]:
    """Return the keys of all windows of the longest length; of a shorter length, those at the beginning of a run."""
    keys = []
    for start in range(len(letters) - length + 1):
        window = letters[start : start + length]
        begins = start == 0 or letters[start - 1] == _NO_LETTER
        if _NO_LETTER in window or not (length == longest or begins):
            continue
        key = 1
        for code in window:
            key = (key << bits) | code
        keys.append(key)
    return keys
