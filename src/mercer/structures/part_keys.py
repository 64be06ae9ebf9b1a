"""Numbers of 61 bits for the keys that a user's function gives its parts."""

from hashlib import blake2b

import numpy as np

_BITS = 61


def key_number(key: object) -> int | None:
    """Return a number of 61 bits for a key: an integer, text, bytes, or a tuple of such; None for others.

    The number is a hash of the key's type and value, the same on every machine: two different keys of a million meet
    with probability 2^-22.

    >>> key_number(("edge", 3)) == key_number(("edge", 3)), key_number(0.5)
    (True, None)
    """
    encoded = _encoded(key)
    if encoded is None:
        return None
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little") >> (64 - _BITS)


def _encoded(key: object) -> bytes | None:
    """Return bytes that differ for different keys: each part with its kind and its length."""
    if isinstance(key, bool | np.bool_ | int | np.integer):
        body, kind = str(int(key)).encode(), b"i"
    elif isinstance(key, str):
        body, kind = key.encode("utf-8", "surrogatepass"), b"s"
    elif isinstance(key, bytes):
        body, kind = key, b"b"
    elif isinstance(key, tuple):
        members = [_encoded(member) for member in key]
        if any(member is None for member in members):
            return None
        body, kind = b"".join(member for member in members if member is not None), b"t"
    else:
        return None
    return kind + str(len(body)).encode() + b":" + body
