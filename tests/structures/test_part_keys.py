"""Numbers of users' keys."""

from hypothesis import given
from hypothesis import strategies as st

from mercer.structures.part_keys import key_number

KEYS = st.recursive(
    st.one_of(st.integers(), st.text(max_size=5), st.binary(max_size=5)), lambda inner: st.tuples(inner, inner)
)


@given(KEYS, KEYS)
def test_different_keys_have_different_numbers_below_2_to_the_61(one, other):
    numbers = key_number(one), key_number(other)
    assert (numbers[0] == numbers[1]) == (one == other)
    assert all(0 <= number < 2**61 for number in numbers)


def test_numbers_are_the_same_for_ever():
    assert key_number("ab") == 1682608224992218249
    assert key_number(1) != key_number("1") != key_number(b"1")
    assert key_number(0.5) is key_number((1, None)) is None
