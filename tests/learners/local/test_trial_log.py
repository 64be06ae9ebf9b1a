"""The log of a search: trials in order, told one by one, and a deadline that says why the search ended."""

import time

import numpy as np
import pytest

from mercer.learners.local.report import Trial
from mercer.learners.local.trial_log import OutOfTimeError, TrialLog


def test_trials_are_kept_in_order_and_told():
    told = []
    log = TrialLog(tell=told.append)
    log.add(Trial("columns", "rank", 0.5, 0.1))
    log.note("metric", "full", np.float32(0.25), time.monotonic() - 1.0)
    assert told == log.trials
    assert [trial.step for trial in log.trials] == ["columns", "metric"]
    assert type(log.trials[1].error) is float
    assert 1.0 <= log.trials[1].seconds < 30.0


def test_without_a_deadline_the_search_is_done():
    log = TrialLog()
    log.check_time()
    assert not log.is_late()
    assert log.ended == "done"


def test_a_deadline_is_why_the_search_ended():
    log = TrialLog(deadline=time.monotonic() - 1.0)
    assert log.is_late()
    assert log.ended == "time_budget"
    with pytest.raises(OutOfTimeError):
        log.check_time()
