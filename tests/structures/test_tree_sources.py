"""Trees from source code, XML and JSON; cycles and other things that are no trees."""

import ast
from xml.etree import ElementTree

import numpy as np
import pytest

from mercer.kernels import Subtree
from mercer.structures import Trees
from mercer.structures.tree_sources import of_code, of_json, of_xml


def test_source_code():
    labels, parents = of_code(0, "x = 1")
    assert labels == ["Module", "Assign", "Name", "x", "Store", "Constant", "1"]
    assert parents == [-1, 0, 1, 2, 2, 1, 5]
    assert of_code(0, ast.parse("x = 1")) == (labels, parents)


def test_xml():
    labels, parents = of_xml(0, "<a b='1'>two words<c/>tail</a>")
    assert labels == ["a", "@b=1", "two", "words", "c", "tail"]
    assert parents == [-1, 0, 0, 0, 0, 0]


def test_json():
    labels, parents = of_json(0, '{"b": [1, "x"], "a": null}')
    assert labels == ["{}", "a", "null", "b", "[]", "1", '"x"']
    assert parents == [-1, 0, 1, 0, 3, 4, 4]


def test_objects_that_say_what_they_are_need_no_name_of_a_reader():
    code, element = ast.parse("x = f(1)"), ElementTree.Element("a", b="1")
    element.text = "two words"
    ElementTree.SubElement(element, "c")
    mixed = Trees([code, element, ElementTree.ElementTree(element), {"a": [1, None]}])
    apart = [Trees.of_code([code]), Trees.of_xml([element, element]), Trees.of_json([{"a": [1, None]}])]
    for name in ("labels", "parents"):
        np.testing.assert_array_equal(getattr(mixed, name), np.concatenate([getattr(one, name) for one in apart]))


def test_kernels_of_parsed_trees():
    K = Subtree()(Trees.of_json([[1, 1], [1, 2]]))
    np.testing.assert_array_equal(K, [[5, 2], [2, 3]])
    deep = Trees.of_json([{"a": 1}])
    nested = 1
    for _ in range(5000):
        nested = [nested]
    assert Trees.of_json([nested]).sizes.tolist() == [5001]
    assert deep.sizes.tolist() == [3]


def test_the_same_object_twice_is_no_cycle_but_an_object_in_itself_is():
    twice = [1]
    assert Trees.of_json([[twice, twice]]).sizes.tolist() == [5]
    cycle = [1]
    cycle.append({"a": cycle})
    with pytest.raises(ValueError, match=r"Trees: X\[1\] must be a tree, got an object that contains itself"):
        Trees.of_json([[1], cycle])


@pytest.mark.parametrize(
    ("read", "bad", "words"),
    [
        (Trees.of_code, "x = ", r"X\[1\] must be Python source"),
        (Trees.of_code, 3, r"X\[1\] must be Python source or an ast node"),
        (Trees.of_xml, "<a>", r"X\[1\] must be an XML document"),
        (Trees.of_xml, None, r"X\[1\] must be XML text"),
        (Trees.of_json, "{", r"X\[1\] must be JSON"),
        (Trees.of_json, {"a": object()}, r"X\[1\] must hold dicts"),
    ],
)
def test_errors_name_the_object(read, bad, words):
    good = {"of_code": "x", "of_xml": "<a/>", "of_json": "1"}[read.__name__]
    with pytest.raises(ValueError, match=words):
        read([good, bad])
