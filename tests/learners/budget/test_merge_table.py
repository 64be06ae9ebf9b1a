"""The table of places at which two Gaussian support vectors are merged."""

import numpy as np
import pytest

from mercer.learners.budget.merge_table import merge_places
from mercer.reference.budget.merging import first_places, lost, searched_place


def test_places_on_the_grid_are_the_best():
    table = merge_places()
    for a in (20, 100, 255):
        for b in (1, 40, 128):
            share, exponent = b / 256, -np.log(a / 256)
            found = searched_place(exponent, share**2, (1 - share) ** 2, share * (1 - share))
            assert table[a, b] == pytest.approx(found, abs=1e-5)


def test_places_between_lose_little_more_than_the_best():
    """A pair that the table chooses is at most 1e-4 of the lesser coefficient's square worse than the best pair."""
    rng = np.random.default_rng(0)
    values, shares = rng.uniform(0.2, 1, 300), rng.uniform(0.02, 0.5, 300)
    for value, share in zip(values, shares, strict=True):
        a, b, exponent = share**2, (1 - share) ** 2, -np.log(value)
        product = share * (1 - share)
        place = first_places(merge_places(), np.array([value]), a, np.array([b]))
        arguments = (np.array([exponent]), a, np.array([b]), np.array([product]))
        best = lost(*arguments, np.array([searched_place(exponent, a, b, product)]))
        assert lost(*arguments, place)[0] <= best[0] + 1e-4 * a


def test_it_is_made_once_and_cannot_be_changed():
    assert merge_places() is merge_places()
    with pytest.raises(ValueError, match="read-only"):
        merge_places()[0, 0] = 1
