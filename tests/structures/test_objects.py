"""Labels become numbers, the same everywhere."""

from mercer.structures.objects import label_number, text_number


def test_labels():
    assert [label_number(label) for label in (3, True, 0.5, None, 2**70)] == [3, 1, None, None, None]
    assert label_number("C") == text_number(b"C") == 202399986957477529
