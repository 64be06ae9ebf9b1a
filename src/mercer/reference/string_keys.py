"""Keys of the substrings, masked windows and placed substrings of strings and of sequences of tokens."""

import numpy as np

from mercer._typing import Array
from mercer.reference.hashing import as_key, joined

_PRIME = 2**61 - 1
_NO_LETTER = 255


def string_keys(
    text: Array,
    offsets: Array,
    codes: Array,
    least: int,
    longest: int,
    bits: int,
    base: int,
    placed: bool,
    out_pointers: Array,
    out_keys: Array,
    out_lengths: Array,
) -> int:
    """Write the keys of all substrings of ``least`` to ``longest`` letters; return their number.

    ``codes`` (256,) are the numbers of the letters; no substring contains a letter of code 255. With ``bits`` > 0 a key
    is a 1, which marks the length, followed by the bits of the letters; otherwise keys are polynomials in ``base`` mod
    2^61 - 1. With ``placed`` the position of a substring is part of its key. ``out_lengths``, unless empty, receives
    the lengths.
    """
    letters = [int(code) for code in codes[text]]
    n = 0
    out_pointers[0] = 0
    for i in range(len(offsets) - 1):
        for end in range(offsets[i] + 1, offsets[i + 1] + 1):
            for length in range(least, min(longest, end - offsets[i]) + 1):
                window = letters[end - length : end]
                if _NO_LETTER in window:
                    break
                key = _packed(window, bits) if bits else _polynomial([code + 1 for code in window], base)
                place = end - length - offsets[i]
                out_keys[n] = as_key(joined(np.uint64(key), np.uint64(place))) if placed else key
                if len(out_lengths):
                    out_lengths[n] = min(length, 255)
                n += 1
        out_pointers[i + 1] = n
    return n


def token_keys(
    tokens: Array, offsets: Array, least: int, longest: int, base: int, out_pointers: Array, out_keys: Array
) -> int:
    """Write the keys of all runs of ``least`` to ``longest`` tokens; return their number."""
    hashes = as_key(joined(np.uint64(base), tokens.astype(np.uint64)))
    letters = [int(value) % (_PRIME - 1) + 1 for value in hashes]
    n = 0
    out_pointers[0] = 0
    for i in range(len(offsets) - 1):
        for end in range(offsets[i] + 1, offsets[i + 1] + 1):
            for length in range(least, min(longest, end - offsets[i]) + 1):
                out_keys[n] = _polynomial(letters[end - length : end], base)
                n += 1
        out_pointers[i + 1] = n
    return n


def masked_keys(
    text: Array,
    offsets: Array,
    codes: Array,
    masks: Array,
    length: int,
    bits: int,
    base: int,
    complement: Array,
    out_pointers: Array,
    out_keys: Array,
) -> int:
    """Write the keys of all windows of ``length`` letters at the positions in masks (m, kept); return their number.

    With ``complement`` (256,), the complements of codes, the reverse complements of the windows count too.
    """
    letters = codes[text]
    n = 0
    out_pointers[0] = 0
    for i in range(len(offsets) - 1):
        for start in range(offsets[i], offsets[i + 1] - length + 1):
            window = letters[start : start + length]
            if _NO_LETTER in window:
                continue
            strands = [window, complement[window][::-1]] if len(complement) else [window]
            for strand in strands:
                for number, mask in enumerate(masks, start=1):
                    out_keys[n] = _masked(strand.tolist(), mask.tolist(), number, bits, base)
                    n += 1
        out_pointers[i + 1] = n
    return n


def agreement_sums(text: Array, offsets: Array, codes: Array, complement: Array, values: Array, out: Array) -> None:
    """Write, for each string, the sum of values[agreements] over all pairs of its windows of len(values) - 1 letters.

    With ``complement`` (256,) the reverse complements of the windows are windows too.
    """
    length = len(values) - 1
    letters = codes[text]
    for i in range(len(out)):
        starts = range(offsets[i], offsets[i + 1] - length + 1)
        windows = [w for start in starts if _NO_LETTER not in (w := letters[start : start + length])]
        if len(complement):
            windows += [complement[window][::-1] for window in windows]
        rows = np.array(windows, dtype=np.uint8).reshape(-1, length)
        out[i] = values[(rows[:, None] == rows).sum(axis=2)].sum()


def _packed(window: list[int], bits: int) -> int:
    key = 1
    for code in window:
        key = (key << bits) | code
    return key


def _polynomial(letters: list[int], base: int) -> int:
    key = 0
    for letter in letters:
        key = (key * base + letter) % _PRIME
    return key


def _masked(window: list[int], mask: list[int], number: int, bits: int, base: int) -> int:
    if bits:
        shifts = {place: bits * (len(window) - 1 - place) for place in mask}
        return (number << (bits * len(window))) | sum(window[place] << shift for place, shift in shifts.items())
    key = number
    for place in mask:
        key = (key * base + window[place] + 1) % _PRIME
    return key
