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
    levels = []
else:
    from mercer import _core

    levels = _core.simd_levels()


@pytest.fixture(params=levels)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.simd_level()
    _core.use_simd(request.param)
    yield request.param
    _core.use_simd(before)


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> type:
    return request.param
