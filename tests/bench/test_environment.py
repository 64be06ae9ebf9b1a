"""The machine of a result: what is told of it, and how busy other programs keep it."""

import os
import socket
import time
from getpass import getuser

from mercer.bench.environment import Busy, machine


def test_the_machine_is_told_without_names_of_hosts_users_or_paths():
    told = machine()
    assert {"cpu", "cores", "memory", "system", "blas", "mercer", "numpy"} <= set(told)
    assert all(isinstance(value, str) and value for value in told.values())
    assert told["cores"] == str(os.cpu_count())
    words = " ".join(told.values())
    assert socket.gethostname() not in words.split()
    assert getuser() not in words.split()
    assert os.getcwd() not in words


def test_what_other_programs_take_is_measured_where_the_system_says():
    busy = Busy()
    deadline = time.perf_counter() + 0.15
    while time.perf_counter() < deadline:
        pass
    others = busy.others()
    assert others is None or 0 <= others <= os.cpu_count() + 0.5
    assert Busy().others() is None  # too little has passed to tell
