"""Verdicts follow from numbers: each kind of claim, on both sides of its border."""

import pytest

from mercer import bench
from mercer.bench.claims import Claim, judge, load_claims, tolerance
from mercer.bench.spec import Cell
from mercer.bench.store import Outcome


def _cell(values, **params):
    return Outcome(Cell("e", params, {}), "done", values)


def _verdict(claim, *cells, quick=False):
    return judge(Claim(id="c", source="s", says="s", experiment="e", **claim), {"e": cells}, quick=quick)


@pytest.mark.parametrize(
    ("correct", "status"),
    [(80.0, "reproduced"), (80.3, "reproduced"), (79.7, "reproduced"), (80.4, "better"), (79.6, "not reproduced")],
)
def test_a_value_is_held_to_three_of_the_paper_s_deviations(correct, status):
    claim = {"metric": "train_accuracy", "published": 80.0, "spread": 0.1}
    cell = _cell({"train_correct": [correct, correct], "train_rows": 100})
    assert _verdict(claim, cell).status == status


def test_lower_is_better_for_times_and_the_least_counts():
    claim = {"metric": "map_seconds", "published": 2.0, "step": 0.1}
    assert _verdict(claim, _cell({"map_seconds": [1.0, 9.0]})).status == "better"
    assert _verdict(claim, _cell({"map_seconds": [2.04]})).status == "reproduced"
    assert _verdict(claim, _cell({"map_seconds": [3.0]})).status == "not reproduced"


def test_neither_way_is_better_where_no_direction_is_known():
    claim = {"metric": "exponent", "published": 2.0, "tolerance": 0.1, "because": "so"}
    assert _verdict(claim, _cell({"exponent": 1.0})).status == "not reproduced"
    assert _verdict(claim, _cell({"exponent": 3.0})).status == "not reproduced"


def test_without_a_spread_the_tolerance_is_binomial_and_half_a_printed_digit():
    claim = Claim(id="c", source="s", says="s", published=80.0, rows=10_000, step=0.01)
    assert tolerance(claim) == pytest.approx(3 * 0.4 + 0.005)


def test_a_ratio_compares_two_cells():
    claim = {"kind": "ratio", "metric": "map_seconds", "of": {"m": "a"}, "to": {"m": "b"}, "published": 8, "step": 1}
    slow, fast = _cell({"map_seconds": [8.3]}, m="a"), _cell({"map_seconds": [1.0]}, m="b")
    assert _verdict(claim, slow, fast).status == "reproduced"
    assert _verdict(claim, _cell({"map_seconds": [80.0]}, m="a"), fast).status == "better"
    assert _verdict(claim, slow).status == "not run"


@pytest.mark.parametrize(("right", "status"), [([1.0, 1.2], "reproduced"), ([0.5, 0.7], "not reproduced")])
def test_an_order_must_exceed_its_noise(right, status):
    claim = {"kind": "order", "metric": "nmi", "left": {"m": "a"}, "right": {"m": "b"}}
    assert _verdict(claim, _cell({"nmi": [0.5, 0.6]}, m="a"), _cell({"nmi": right}, m="b")).status == status


def test_an_order_over_points_counts_them_and_names_where_it_fails():
    claim = {"kind": "order", "metric": "nmi", "left": {"m": "a"}, "right": {"m": "b"}, "over": {"D": [1, 2, 3]}}
    cells = [_cell({"nmi": 0.1}, m="a", D=D) for D in (1, 2)] + [
        _cell({"nmi": 0.2 if D == 1 else 0.05}, m="b", D=D) for D in (1, 2)
    ]
    verdict = _verdict(claim, *cells)
    assert (verdict.status, verdict.ours) == ("not reproduced", "holds in 1 of 2")
    assert verdict.reason == "not at D 2; 1 of 3 cases were not run"
    assert _verdict({**claim, "relation": ">", "most": False}, *cells).ours == "holds in 1 of 2"


def test_most_needs_more_than_half():
    claim = {"kind": "limit", "metric": "x", "at_most": 1.0, "over": {"D": [1, 2, 3]}, "most": True}
    assert _verdict(claim, *(_cell({"x": x}, D=D) for D, x in ((1, 0), (2, 1), (3, 2)))).status == "reproduced"
    assert _verdict(claim, *(_cell({"x": x}, D=D) for D, x in ((1, 0), (2, 3), (3, 2)))).status == "not reproduced"


def test_a_margin_lets_an_order_be_missed_by_that_much():
    claim = {"kind": "order", "metric": "nmi", "left": {"m": "a"}, "right": {"m": "b"}, "relation": ">", "margin": 0.1}
    assert _verdict(claim, _cell({"nmi": 0.45}, m="a"), _cell({"nmi": 0.5}, m="b")).status == "reproduced"
    assert _verdict(claim, _cell({"nmi": 0.35}, m="a"), _cell({"nmi": 0.5}, m="b")).status == "not reproduced"


def test_limits_hold_on_both_sides():
    claim = {"kind": "limit", "metric": "x", "at_most": 1.0, "at_least": -1.0}
    assert [_verdict(claim, _cell({"x": x})).status for x in (-2, 0, 2)] == [
        "not reproduced",
        "reproduced",
        "not reproduced",
    ]


def test_what_only_the_full_run_can_say_is_not_run_in_the_quick_one():
    claim = {"metric": "x", "published": 1.0, "full_only": "takes fewer rows"}
    verdict = _verdict(claim, _cell({"x": 1.0}), quick=True)
    assert (verdict.status, verdict.ours, verdict.reason) == ("not run", "1", "the quick run takes fewer rows")
    assert _verdict(claim, _cell({"x": 1.0})).status == "reproduced"


def test_against_takes_the_other_side_from_another_experiment():
    claim = Claim(
        id="c", source="s", says="s", experiment="e", against="f", kind="ratio", metric="map_seconds", published=2.0
    )
    outcomes = {"e": [_cell({"map_seconds": [4.0]})], "f": [_cell({"map_seconds": [2.0]})]}
    assert judge(claim, outcomes, quick=False).status == "reproduced"


def test_not_run_keeps_the_reason_of_the_cell():
    verdict = _verdict({"metric": "x", "published": 1.0}, Outcome(Cell("e", {}, {}), "failed", reason="ValueError: no"))
    assert (verdict.status, verdict.reason) == ("not run", "ValueError: no")


def test_a_value_that_was_not_stored_is_named():
    with pytest.raises(bench.BenchError, match="no value 'nmi' was stored; there are x"):
        _verdict({"metric": "nmi", "published": 1.0}, _cell({"x": 1.0}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[claim]]\nid='a'\nsource='s'\nsays='s'\nexperiment='errors'\nkind='vague'", "kind must be one of value"),
        ("[[claim]]\nid='a'\nsource='s'\nsays='s'\nexperiment='errors'", "needs 'published'"),
        ("[[claim]]\nid='a'\nsource='s'\nsays='s'\nexperiment='nothing'\npublished=1.0", "'nothing' is not known"),
        ("[[claim]]\nid='a'\nsource='s'\nsays='s'\nexperiment='errors'\npublished=1.0\ntolerance=2.0", "'because'"),
        ("[[claim]]\nid='a'\nsource='s'\nsays='s'\npublishd=1.0", "unknown keys publishd"),
        (2 * "[[claim]]\nid='a'\nsource='s'\nsays='s'\nnot_run='no'\n", "two claims are called 'a'"),
        ("[[table]]\nid='t'\nsource='s'\nsays='s'\ncolumns=['a','b']\nrows=[[1]]", "1 entries for 2 columns"),
    ],
)
def test_a_faulty_claim_is_named(paper, content, message):
    (paper / "claims.toml").write_text(content)
    with pytest.raises(bench.BenchError, match=message):
        load_claims(bench.find_paper("author_2020"))


def test_a_time_taken_on_a_busy_machine_says_so_and_other_numbers_do_not():
    cell = Outcome(Cell("e", {}, {}), "done", {"map_seconds": [2.0], "exponent": 1.0}, others=1.5)
    time = {"metric": "map_seconds", "published": 2.0}
    assert "other programs kept 1.5 cores busy" in _verdict(time, cell).reason
    assert "busy" not in _verdict(time, _cell({"map_seconds": [2.0]})).reason
    exponent = {"metric": "exponent", "published": 1.0}
    assert "busy" not in _verdict(exponent, cell).reason
    assert "busy" in _verdict({**exponent, "clock": True}, cell).reason
