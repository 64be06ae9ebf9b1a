"""Records of fits: results are taken from the record, loops go on from their state, and other fits are refused."""

import pytest

from mercer.checkpoints import CheckpointError, FitInterrupted, Recorder, Step, kept, recorded, recording, resumable


class Memory:
    """A slot that keeps its record in memory, as a deep copy would be after a file."""

    place = "memory"

    def __init__(self):
        self.steps, self.n_saved = [], 0

    def load(self):
        return [Step(step.title, step.progress, step.value, step.at) for step in self.steps]

    def save(self, steps):
        self.n_saved += 1
        self.steps = [Step(step.title, step.progress, step.value, step.at) for step in steps]

    def clear(self):
        self.steps = []

    def release(self):
        pass

    def holds(self, value):
        return True


def recorder(slot, every=0.0):
    return Recorder("Fit", slot, every)


def test_results_are_computed_once():
    slot, calls = Memory(), []
    for _ in range(2):
        fit = recorder(slot)
        with recorded(fit):
            assert kept("answer", lambda: calls.append(1) or 42) == 42
        fit.save()
    assert len(calls) == 1


def test_steps_inside_a_result_are_forgotten_when_it_is_done():
    slot = Memory()
    fit = recorder(slot)
    with recorded(fit):
        assert kept("outer", lambda: kept("inner", lambda: 1) + 1) == 2
    assert [step.title for step in fit.steps] == ["outer"]


def test_a_step_that_was_interrupted_keeps_the_steps_inside():
    slot, calls = Memory(), []

    def outer():
        first = kept("first", lambda: calls.append("first") or 1)
        if len(calls) == 1:
            fit.save()
            raise RuntimeError
        return first + kept("second", lambda: calls.append("second") or 2)

    fit = recorder(slot)
    with recorded(fit), pytest.raises(RuntimeError):
        kept("outer", outer)
    fit = recorder(slot)
    calls.append("again")
    with recorded(fit):
        assert kept("outer", outer) == 3
    assert calls == ["first", "again", "second"]


def summed(stop=None):
    """Add the squares of 0 to 9 in two nested loops; stop before a number."""
    with resumable("outer") as outer:
        state = outer.state or {"number": 0, "total": 0}
        for number in range(state["number"], 10):
            outer.advance(state, at=f"number {number}")
            with resumable("inner") as inner:
                part = inner.state or {"count": 0, "sum": 0}
                while part["count"] < number:
                    inner.advance(part)
                    if (number, part["count"]) == stop:
                        raise RuntimeError
                    part = {"count": part["count"] + 1, "sum": part["sum"] + number}
            state = {"number": number + 1, "total": state["total"] + part["sum"]}
    return state["total"]


@pytest.mark.parametrize("stop", [(1, 0), (4, 2), (9, 8)])
def test_nested_loops_go_on_from_their_state(stop):
    slot = Memory()
    with recorded(recorder(slot)), pytest.raises(RuntimeError):
        summed(stop)
    fit = recorder(slot)
    assert fit.resumed_at == "in 'inner'"
    with recorded(fit):
        assert summed() == sum(number**2 for number in range(10))


def test_the_record_of_a_loop_does_not_grow():
    slot = Memory()
    with recorded(recorder(slot)):
        summed()
    assert len(slot.steps) == 2


def test_records_are_written_when_they_are_due():
    slot, now = Memory(), [0.0]
    fit = Recorder("Fit", slot, 10.0, clock=lambda: now[0])
    with recorded(fit), resumable("loop") as loop:
        for second in range(25):
            now[0] = float(second)
            loop.advance({"second": second})
    assert slot.n_saved == 2


def test_other_facts_are_named():
    slot = Memory()
    fit = recorder(slot)
    fit.same("the fit", {"alpha": "1.0", "seed": "0"})
    fit.save()
    recorder(slot).same("the fit", {"alpha": "1.0", "seed": "0"})
    with pytest.raises(CheckpointError, match=r"alpha was 1\.0 and is 2\.0 now; C was not there and is 3 now"):
        recorder(slot).same("the fit", {"alpha": "2.0", "seed": "0", "C": "3"})


def test_another_order_of_steps_is_refused():
    slot = Memory()
    fit = recorder(slot)
    fit.result("survey", lambda: 1)
    fit.save()
    with pytest.raises(CheckpointError, match="step 1 was 'survey' and is 'moments' now"):
        recorder(slot).result("moments", lambda: 1)


def test_a_signal_ends_the_fit_after_a_record():
    slot = Memory()
    fit = Recorder("Fit", slot, 1e9)
    with recorded(fit), resumable("loop") as loop:
        loop.advance({"at": 1})
        fit.stop_signal = 15
        with pytest.raises(FitInterrupted, match="kept in memory") as stopped:
            loop.advance({"at": 2})
    assert stopped.value.signal == 15
    assert slot.steps[0].value == {"at": 2}


def test_a_loop_that_changes_its_state_is_not_recorded_in_between():
    slot = Memory()
    fit = Recorder("Fit", slot, 1e9)
    with recorded(fit), resumable("loop", in_place=True) as loop:
        loop.advance({"at": 1})
        fit.stop_signal = 2
        with pytest.raises(FitInterrupted):
            fit.stop_here()
    assert slot.n_saved == 0


def test_other_threads_record_nothing():
    import threading

    found = []
    with recorded(recorder(Memory())):
        assert recording() is not None
        from contextvars import copy_context

        context = copy_context()
        thread = threading.Thread(target=lambda: found.append(context.run(recording)))
        thread.start()
        thread.join()
    assert found == [None]
