"""The group itself: help that is quick, completion, versions, and what happens without the optional packages."""

import ast
import json
import re
import subprocess
import sys

import pytest

COMMANDS = ("compare", "train", "predict", "transform", "inspect", "info", "datasets", "papers", "bench", "completion")


def _loaded(*args):
    code = (
        "import sys; sys.argv[0] = 'mercer'\n"
        "rooms = lambda: sorted({m.partition('.')[0] for m in sys.modules})\n"
        "import atexit; atexit.register(lambda: sys.stderr.write(repr(rooms())))\n"
        "from mercer.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    return done.stdout, set(ast.literal_eval(done.stderr))


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_loads_no_numerical_library(command):
    printed, loaded = _loaded(*([] if command is None else [command]), "--help")
    assert printed.startswith("Usage: mercer")
    assert not {"numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "rich"} & loaded


def test_info_loads_neither_scipy_nor_scikit_learn():
    printed, loaded = _loaded("info", "--json")
    assert json.loads(printed)["threads"]
    assert not {"scipy", "sklearn"} & loaded


@pytest.mark.parametrize("without", [["click"], ["rich"], ["click", "rich"]])
def test_without_the_extra_one_line_says_what_to_install(without):
    code = (
        f"import sys, importlib.util as u; real = u.find_spec\n"
        f"u.find_spec = lambda name, *a: None if name in {without!r} else real(name, *a)\n"
        "import runpy; runpy.run_module('mercer', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"mercer: the command line needs {' and '.join(without)}. Install with: pip install 'mercer[cli]'\n"
    )


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


def test_every_command_that_gives_results_offers_json(run):
    for command in COMMANDS:
        text = run(command, "--help").stdout
        subcommands = re.findall(r"^  (\w+) ", text.partition("Commands:")[2], flags=re.MULTILINE)
        if command == "completion":
            continue
        for path in [[command, name] for name in subcommands] or [[command]]:
            assert "--json" in run(*path, "--help").stdout, path


def test_an_unexpected_failure_is_one_line_too(run, monkeypatch):
    monkeypatch.setattr("mercer.versions.describe", lambda: 1 / 0)
    done = run("info")
    assert done.exit_code == 1
    assert done.stderr.startswith("mercer: error: ZeroDivisionError: division by zero")
    assert len(done.stderr.splitlines()) == 1


def test_the_tables_of_benchmarks(run):
    tables = json.loads(run("bench", "list", "--json").stdout)["tables"]
    assert "maps" in tables
    done = run("bench", "run", "nonsense")
    assert (done.exit_code, "the tables are " in done.stderr) == (2, True)
