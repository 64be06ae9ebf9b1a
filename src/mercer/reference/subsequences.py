"""The subsequence kernel of strings: values of pairs, and Tensor Sketches."""

import numpy as np

from mercer._typing import Array

_NO_LETTER = 255


def subsequence_values(
    text: Array,
    offsets: Array,
    other_text: Array,
    other_offsets: Array,
    codes: Array,
    length: int,
    decay: float,
    out: Array,
) -> None:
    """Write the sums over pairs of equal subsequences of decay^(both spans).

    ``out`` is (n, m); or (n, 1), for string i of one side with string i of the other.
    """
    paired = out.shape[1] == 1 and len(other_offsets) != 2
    left, right = codes[text], codes[other_text]
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            j = i if paired else k
            x, y = left[offsets[i] : offsets[i + 1]], right[other_offsets[j] : other_offsets[j + 1]]
            out[i, k] = _value(x, y, length, decay)


def _value(x: Array, y: Array, length: int, decay: float) -> float:
    """Return the kernel of two strings of codes.

    Row j of ``sums`` holds, for each place v of y, the sum over pairs of subsequences of j + 1 letters that end at or
    before the letters of x that were read and at or before v, each weighing decay^(distances from its first letters).
    """
    v = np.arange(len(y))
    apart = v[:, None] - v
    powers = np.where(apart >= 0, decay ** np.maximum(apart, 0.0), 0.0)  # a running sum with decay, as a matrix
    sums, total = np.zeros((length, len(y))), 0.0
    for code in x:
        match = decay**2 * ((y == code) & (code != _NO_LETTER))
        before = np.zeros_like(sums)
        before[:, 1:] = sums[:, :-1]
        ending = match * np.vstack([np.ones(len(y)), before[:-1]])
        total += ending[-1].sum()
        sums = decay * sums + ending @ powers.T
    return float(total)


def subsequence_sketch(
    text: Array, offsets: Array, codes: Array, index: Array, sign: Array, widths: Array, decay: float, out: Array
) -> None:
    """Overwrite ``out`` (n, D) with the sum over the subsequences of p letters of sign decay^span e_bucket.

    ``index`` and ``sign`` are (p, 256): the bucket of a subsequence is the sum of the buckets of its letters, modulo D
    where the subsequences of any number of letters take all D buckets; those of j letters take widths[j] buckets.
    """
    for i in range(len(out)):
        out[i] = _sketch(codes[text[offsets[i] : offsets[i + 1]]], index, sign, out.shape[1], decay)


def _sketch(letters: Array, index: Array, sign: Array, width: int, decay: float) -> Array:
    length = len(index)
    sums = np.zeros((length + 1, width))  # of the subsequences of j letters that end before the next letter
    sums[0, 0] = 1.0
    found = np.zeros(width)
    for code in letters:
        new = np.zeros_like(sums)
        if code != _NO_LETTER:
            for j in range(1, length + 1):
                new[j] = decay * sign[j - 1, code] * np.roll(sums[j - 1], index[j - 1, code])
        found += new[length]
        sums[1:] = decay * sums[1:] + new[1:]
    return found
