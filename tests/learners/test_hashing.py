"""Random bits that depend on a number alone."""

import numpy as np

from mercer.learners.hashing import splitmix64


def test_it_is_the_published_generator():
    """The first outputs of splitmix64 from the seed 1234567, as in the test vectors of its authors."""
    gamma = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        states = np.uint64(1234567) + np.arange(5, dtype=np.uint64) * gamma
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert splitmix64(states).tolist() == expected


def test_bits_are_even():
    """Each of the 64 bits is set for half of 100000 numbers, within 6 standard errors."""
    bits = splitmix64(np.arange(100_000, dtype=np.uint64))
    shares = np.array([((bits >> np.uint64(i)) & np.uint64(1)).mean() for i in range(64)])
    assert np.abs(shares - 0.5).max() < 6 * 0.5 / 100_000**0.5
