"""Tables by class: the nearest ancestor decides."""

from mercer.features.registry import of_nearest_ancestor


def test_the_nearest_ancestor_decides_and_none_is_no_row():
    table = {object: "anything", int: "integer"}
    assert of_nearest_ancestor(table, True) == "integer"
    assert of_nearest_ancestor(table, "text") == "anything"
    assert of_nearest_ancestor({int: "integer"}, "text") is None
