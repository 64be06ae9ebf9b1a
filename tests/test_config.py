"""Threads, memory budget, block size."""

import pytest

from mercer import config_context, get_config
from mercer.config import parse_bytes


def test_a_context_changes_only_what_it_names_and_ends():
    outside = get_config()
    with config_context(threads=1, block_rows=7):
        assert get_config().threads == 1
        assert get_config().block_rows == 7
        assert get_config().memory is outside.memory
        with config_context(memory="1.5 MB"):
            assert get_config().memory == 1_500_000
            assert get_config().threads == 1
    assert get_config() == outside


def test_a_context_ends_after_an_exception():
    outside = get_config()
    with pytest.raises(KeyError), config_context(threads=1):
        raise KeyError
    assert get_config() == outside


@pytest.mark.parametrize(("variables", "threads"), [({"MERCER_NUM_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": "1"}, 1)])
def test_threads_of_the_environment(monkeypatch, variables, threads):
    monkeypatch.delenv("MERCER_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert get_config().threads == threads


@pytest.mark.parametrize(("text", "n_bytes"), [("2GiB", 2**31), ("10", 10), ("1 kb", 1000), ("3MiB", 3 * 2**20)])
def test_sizes(text, n_bytes):
    assert parse_bytes(text) == n_bytes


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"threads": 0}, "threads must be an integer >= 1, got 0"),
        ({"threads": 1.5}, "threads must be an integer >= 1, got 1.5"),
        ({"block_rows": -3}, "block_rows must be an integer >= 1, got -3"),
        ({"memory": "two"}, "memory must be a number of bytes or a text such as '2GiB'"),
        ({"memory": 0}, "memory must be positive"),
    ],
)
def test_bad_settings_are_refused(setting, message):
    with pytest.raises(ValueError, match=message), config_context(**setting):
        pass
