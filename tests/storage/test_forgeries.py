"""Forged model files of every estimator: refused with a typed error, or used with finite results."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[2] / "scripts" / "fuzz_model_files.py"
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of a process are read from /proc")


@on_linux
@pytest.mark.parametrize("options", [["--files", "1000"], ["--files", "300", "--pure"]], ids=["core", "reference"])
def test_a_thousand_forged_files_are_refused_or_give_finite_results(options):
    """The forger of valid containers, short; 20,000 files on each core run by hand."""
    done = subprocess.run([sys.executable, FUZZ, "--seed", "1", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 faults" in done.stdout


@on_linux
def test_the_forger_finds_faults_where_declarations_are_not_checked():
    command = [sys.executable, FUZZ, "--seed", "1", "--files", "150", "--blind"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "fault" in done.stdout
