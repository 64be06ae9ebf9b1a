"""The choice of encodings: known truths, targets of judging rows in no statistic, and trials that are told."""

import numpy as np
import pytest

from mercer.data.raw_table import RawTable
from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local.category_choice import CategoryChoice
from mercer.learners.local.encoding import TableEncoding


def choice_of(codes, y, *, text):
    values = np.array([f"level {code}" for code in codes], dtype=object) if text else codes.astype(float)
    table = RawTable([values, np.linspace(0, 1, len(codes))], ["categories" if text else "number", "number"])
    held = HeldTargets.of(Numbers("test"), ((y - y.mean()) / y.std())[:, None])
    told = []
    plain = TableEncoding.of(table, ["a", "b"])
    return CategoryChoice(table, held, ["a", "b"], 0).best(plain, told.append), plain, told


@pytest.mark.parametrize("text", [True, False])
def test_many_levels_with_effects_ask_for_statistics(rng, text):
    codes = rng.randint(80, size=1600)
    found, _, told = choice_of(codes, rng.standard_normal(80)[codes] + 0.3 * rng.standard_normal(1600), text=text)
    assert len(found.statistics) == 1
    assert [trial.step for trial in told] == ["categories"] * (3 if text else 2)


def test_levels_of_pure_noise_promise_nothing(rng):
    """No target of a judging row is in a statistic: with leakage, 300 levels of noise would seem to explain y."""
    codes = rng.randint(300, size=1600)
    _, _, told = choice_of(codes, rng.standard_normal(1600), text=True)
    # An error of 1 is that of the mean; its standard error on 800 rows is sqrt(2 / 800) = 5 %.
    assert min(trial.error for trial in told) > 0.9


def test_tables_without_codes_are_left_alone(rng):
    table = RawTable([rng.standard_normal(100)], ["number"])
    held = HeldTargets.of(Numbers("test"), rng.standard_normal((100, 1)))
    plain = TableEncoding.of(table, ["a"])
    assert CategoryChoice(table, held, ["a"], 0).best(plain, lambda trial: None) is plain
