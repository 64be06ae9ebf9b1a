"""The first signal asks a fit to stop, the second one acts as before."""

import os
import signal
import threading

import pytest

from mercer.checkpoints import Recorder
from mercer.stop_signals import stopped_by_signals


class Nothing:
    """A slot that keeps nothing."""

    place = "nowhere"

    def load(self):
        return []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks(number):
    fit, before = Recorder("Fit", Nothing(), 60.0), signal.getsignal(number)
    with stopped_by_signals(fit):
        os.kill(os.getpid(), number)
        assert fit.stop_signal == number
        assert signal.getsignal(number) is before
    assert signal.getsignal(number) is before


def test_the_second_ctrl_c_interrupts_at_once():
    fit = Recorder("Fit", Nothing(), 60.0)
    with pytest.raises(KeyboardInterrupt), stopped_by_signals(fit):  # noqa: PT012 - the signals are the test
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)


def test_other_threads_leave_signals_alone():
    found = []

    def run():
        with stopped_by_signals(Recorder("Fit", Nothing(), 60.0)):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]
