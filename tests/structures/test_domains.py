"""What a kernel of a domain takes, and what it refuses."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mercer.structures import Graphs, Strings, as_rows, check_objects


def test_objects_are_packed_once():
    X = Strings(["a"])
    assert as_rows("Spectrum", "strings", X) is X
    assert as_rows("Linear", "rows", [[1.0]]).shape == (1, 1)


@pytest.mark.parametrize(
    ("domain", "X", "words"),
    [
        ("graphs", ["text"], "must be a graph"),
        ("strings", np.ones((2, 2)), "must be text"),
        ("strings", Graphs([([], 1)]), "must be Strings"),
        ("rows", Strings(["a"]), "compares rows of numbers"),
        ("trees", [1], "must be a tree"),
        ("bags", ["a"], "must be a matrix"),
    ],
)
def test_another_domain_is_refused(domain, X, words):
    with pytest.raises(ValueError, match=f"Owner.*{words}"):
        as_rows("Owner", domain, X)


def test_an_estimator_of_objects_has_one_column():
    estimator = BaseEstimator()
    check_objects(estimator, "strings", ["a"], reset=True)
    assert estimator.n_features_in_ == 1
    with pytest.raises(ValueError, match="0 sample"):
        check_objects(estimator, "strings", [], reset=False)
