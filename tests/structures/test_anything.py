"""Objects of any kind."""

import numpy as np
import pytest

from mercer.structures import Objects


def test_objects_are_kept_and_selected():
    X = Objects([{"a": 1}, [1, 2], "text"])
    assert X[[2, 0]].tolist() == ["text", {"a": 1}]
    assert X.sizes.tolist() == [1, 1, 1]
    assert Objects.stack([X[:1], X[1:]]).tolist() == X.tolist()
    assert Objects(np.array([{1}, {2}], dtype=object)).shape == (2, 1)


def test_hashes_are_those_of_the_content():
    X = Objects([[1, 2], [1, 2], [2, 1], lambda: 0])
    one = X.hashes()
    assert one[0] == one[1] != one[2]
    assert one.dtype == np.uint64
    assert X.content()["objects"].tolist() == one.tolist()


def test_a_missing_object_is_refused():
    with pytest.raises(ValueError, match=r"Objects: X\[1\] must be an object, got None"):
        Objects([1, None])
