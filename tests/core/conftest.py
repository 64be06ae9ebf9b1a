"""Fixtures of the oracle tests: every SIMD level this machine has, both dtypes."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for oracle.py: importlib mode adds no directory of its own

if find_spec("mercer._core") is None:  # tests/conftest.py decides whether that is an error
    collect_ignore_glob = ["test_*.py"]
    every_level = []
else:
    from mercer import _core

    every_level = _core.simd_levels()
# The level of wide registers has budgets of support vectors of its own, and x86-64-v3 for the rest.
levels = [name for name in every_level if name != "x86-64-v4"]


def in_use(name: str) -> Iterator[str]:
    before = _core.simd_level()
    _core.use_simd(name)
    yield name
    _core.use_simd(before)


@pytest.fixture(params=levels)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from in_use(request.param)


@pytest.fixture(params=every_level)
def budget_level(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from in_use(request.param)


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> type:
    return request.param
