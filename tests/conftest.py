"""Which core is under test, and the checks that every run shares."""

import os
import shutil
import signal

import numpy as np
import pytest
from hypothesis import settings

from mercer import core

settings.register_profile("mercer", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("mercer")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background, where Ctrl-C could not be tested
    signal.signal(signal.SIGINT, signal.default_int_handler)


def expected_core() -> str:
    if os.environ.get("MERCER_PURE_PYTHON") == "1":
        return "reference"
    if os.environ.get("MERCER_REQUIRE_COMPILED") == "1":
        return "compiled"
    return "compiled" if any(map(shutil.which, ("c++", "g++", "clang++"))) else "reference"


def core_under_test() -> str:
    return "compiled" if core.COMPILED else "reference"


def pytest_report_header() -> str:
    return f"mercer core: {core_under_test()}, simd: {core.simd_level()}"


def pytest_sessionstart() -> None:
    if core_under_test() != expected_core():
        raise pytest.UsageError(
            f"the core under test is {core_under_test()}, expected {expected_core()}: install mercer anew, or say "
            "which one you mean with MERCER_PURE_PYTHON=1 or MERCER_REQUIRE_COMPILED=1"
        )


@pytest.fixture
def rng() -> np.random.RandomState:
    return np.random.RandomState(0)
