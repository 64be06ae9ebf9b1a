"""Walks: to the bottom of a valley within bounds, both ways at first, several side by side."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from mercer.learners.local.walk import Walks, walked


@dataclass(frozen=True)
class Place:
    x: int
    valley: int
    error: float = np.inf


def neighbour(place, way):
    x = place.x + way
    return replace(place, x=x, error=np.inf) if -10 <= x <= 10 else None


class Trials:
    """Errors are distances from the valley; what was asked for at once is kept."""

    def __init__(self):
        self.asked = []

    def __call__(self, places):
        self.asked.append([place.x for place in places])
        return [replace(place, error=abs(place.x - place.valley)) for place in places]


@pytest.mark.parametrize("valley", [-30, -10, -3, 0, 1, 4, 10, 99])
def test_a_walk_ends_in_the_valley_or_at_the_bound(valley):
    tried = Trials()
    (end,) = walked(tried([Place(0, valley)]), neighbour, tried)
    assert end.x == np.clip(valley, -10, 10)
    assert tried.asked[1] == [1, -1]
    assert all(len(some) == 1 for some in tried.asked[2:])  # one way is left


def test_the_better_of_two_ways_down_is_taken():
    def tried(places):
        return [replace(place, error={0: 3.0, 1: 2.0, -1: 1.0}.get(place.x, 9.0)) for place in places]

    (end,) = walked(tried([Place(0, 0)]), neighbour, tried)
    assert end.x == -1


def test_walks_end_where_they_do_alone():
    tried, valleys = Trials(), [-4, 0, 7, 2]
    together = walked(tried([Place(0, valley) for valley in valleys]), neighbour, tried)
    assert [place.x for place in together] == valleys
    assert len(tried.asked) == 9  # the starts, both ways, and on as far as the longest walk, with a step too far
    assert len(tried.asked[1]) == 8


def test_equal_errors_end_a_walk():
    walks = Walks([Place(0, 0, 1.0)], neighbour)
    walks.take([replace(step, error=1.0) for step in walks.steps])
    assert walks.steps == []
    assert walks.best == [Place(0, 0, 1.0)]


def test_errors_that_are_no_numbers_are_not_taken():
    walks = Walks([Place(0, 0, 1.0)], neighbour)
    walks.take([replace(step, error=np.nan) for step in walks.steps])
    assert walks.best == [Place(0, 0, 1.0)]
