"""The search for the least number, Hoeffding's inequality, and tables of rules by class."""

from math import ceil, inf, log

import numpy as np
import pytest

from mercer import Polynomial
from mercer.features.bounds.rules import (
    LARGEST_NUMBER,
    Components,
    Task,
    by_chebyshev,
    candidates,
    hoeffding,
    least,
    mean_square,
)
from mercer.testing import sample_rows


def task(kind="absolute", kernel=None, X=None):
    X = np.abs(sample_rows()) if X is None else X
    return Task(kernel or Polynomial(2), X, X, error=0.5, delta=0.1, kind=kind, source="exact", p=2.0)


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 2**40 + 1])
@pytest.mark.parametrize("first", [1, 5])
def test_the_least_number_is_found(bound, first):
    asked = []

    def enough(n):
        asked.append(n)
        return n >= bound

    assert least(enough, first) == max(bound, first)
    assert len(asked) < 100


def test_no_number_up_to_the_largest_is_infinity():
    assert least(lambda n: False) == inf
    assert least(lambda n: n > LARGEST_NUMBER) == inf


def test_hoeffding_for_a_pair_and_over_a_net():
    assert hoeffding(task(), 3.0) == ceil(2 * 9 / 0.25 * log(20))
    uniform = task("uniform")
    logarithm = log(20) + 2 * 5 * log(1 + 8 * 2.0 * 7.0 / 0.5)
    assert hoeffding(uniform, 3.0, lipschitz=7.0, radius=2.0) == ceil(8 * 9 / 0.25 * logarithm)
    assert hoeffding(task(), 1e200) == inf


def test_targets_are_the_error_or_its_part_of_the_kernel():
    np.testing.assert_array_equal(task().targets(), np.full((6, 6), 0.5))
    relative = task("relative")
    np.testing.assert_allclose(relative.targets(), 0.5 * np.abs(Polynomial(2)(relative.sample)))
    with pytest.raises(ValueError, match=r"kind='relative' needs k\(x, y\) != 0, and sampled rows 0 and 1 give 0"):
        task("relative", X=np.eye(3)).targets()


def test_a_map_without_rules_has_no_candidates():
    unknown = object()
    assert list(candidates(unknown, task())) == []
    assert mean_square(unknown, task()) is None
    assert list(by_chebyshev(unknown, task())) == []


def test_components_are_a_number():
    assert int(Components(7, "because")) == 7
