"""The report of a search: equal for equal fits, whole as text and as HTML, short as a repr."""

import pytest

from mercer.learners.local.report import Trial, TuningReport

TRIALS = [Trial("columns", "rank", 0.25, 0.5), Trial("columns", "clip", 0.125, 0.25), Trial("alpha", "<1>", 0.5, 1.0)]


@pytest.fixture
def report():
    return TuningReport.of(TRIALS, {"columns": "clip", "alpha": "1"}, 0.125, "done", 2.0)


def test_the_table_has_every_trial_and_choice(report):
    lines = report.table().splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["columns", "0.2500", "0.50", "rank"],
        ["columns", "0.1250", "0.25", "clip"],
        ["alpha", "0.5000", "1.00", "<1>"],
    ]
    assert lines[4:] == [
        "columns: clip",
        "alpha: 1",
        "leave-one-out error: 0.125 of the variance",
        "seconds: 2.0, of the search 1.8, which ended: done",
    ]
    assert str(report) == report.table()
    assert report.search_seconds == 1.75


def test_times_do_not_make_two_reports_differ(report):
    slower = [trial._replace(seconds=9.0) for trial in TRIALS]
    assert TuningReport.of(slower, report.chosen, 0.125, "done", 30.0) == report
    assert TuningReport.of(TRIALS, report.chosen, 0.25, "done", 2.0) != report


def test_html_is_escaped_and_the_repr_is_short(report):
    html = report._repr_html_()
    assert html.count("<tr>") == 1 + len(TRIALS)
    assert "&lt;1&gt;" in html
    assert "<1>" not in html
    assert repr(report) == "<TuningReport of 3 trials; leave-one-out error 0.125; columns: clip, alpha: 1>"
