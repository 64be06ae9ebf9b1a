"""Dates as numbers, as in ``mercer.data.calendar``."""

import numpy as np

from mercer.export.graph import Tensor

# Days from 1 March of the year 0 to 1 January 1970, and of 400 years.
_EPOCH, _ERA = 719_468, 146_097


def calendar_parts(days: Tensor) -> list[Tensor]:
    """Write the parts of ``mercer.data.calendar``: days, and places in the year, in the week and in the day."""
    whole = days.op("Floor")
    day = whole.at_least(-1e6).at_most(1e6).cast(np.int64) + (_EPOCH + 10 * 400 * _ERA)
    in_era = day.op("Mod", np.array(_ERA))
    year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365  # from March to February
    since_march = in_era - (year * 365 + year / 4 - year / 100)
    is_next = since_march > 305  # January and February
    of_calendar = year + is_next.cast(np.int64)
    fourth, hundredth, last = (
        of_calendar.op("Mod", np.array(period)).equals(0).cast(np.int64) for period in (4, 100, 400)
    )
    leap = fourth - hundredth + last
    in_year = is_next.where(since_march - 306, since_march + leap + 59)
    weekday = (whole.cast(np.int64) + 3).op("Mod", np.array(7))
    turns = (in_year.cast(np.float64) / (leap + 365).cast(np.float64), weekday.cast(np.float64) / 7.0, days - whole)
    angles = [turn * (2 * np.pi) for turn in turns]
    return [days, *(part for angle in angles for part in (angle.op("Sin"), angle.op("Cos")))]
