"""``mercer completion``: scripts for three shells, and what they complete."""

import re
import subprocess
import sys

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run, shell):
    done = run("completion", shell)
    assert done.exit_code == 0
    assert "_MERCER_COMPLETE" in done.stdout


def test_completion_of_commands_and_options():
    def complete(words, position):
        import os

        env = {**os.environ, "_MERCER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(position)}
        done = subprocess.run([sys.executable, "-m", "mercer"], capture_output=True, text=True, env=env, check=False)
        return re.findall(r"plain,(\S+)", done.stdout)

    assert complete("mercer tra", 1) == ["train", "transform"]
    assert "--test-fraction" in complete("mercer train --te", 2)
