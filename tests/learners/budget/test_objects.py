"""Lists of objects as blocks."""

import numpy as np
import pytest

from mercer.fitting import Numbers
from mercer.learners.budget.objects import ObjectBlocks


def test_objects_come_in_order_with_their_y():
    words = [f"word {i}" for i in range(5000)]
    blocks = ObjectBlocks.of("B", words, np.arange(5000), Numbers("B", several=False))
    assert [block.n_rows for block in blocks.labelled()] == [4096, 904]
    assert [word for block in blocks.labelled() for word in block.X] == words
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks.labelled()]), np.arange(5000))


@pytest.mark.parametrize(("X", "y", "message"), [(["a"], [1, 2], "1 objects and y has 2"), (["a"], None, "requires y")])
def test_bad_lists(X, y, message):
    with pytest.raises(ValueError, match=message):
        ObjectBlocks.of("B", X, y, Numbers("B", several=False))
