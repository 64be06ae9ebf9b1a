"""The group of commands: help that is quick, missing packages, unknown commands."""

import ast
import re
import subprocess
import sys

import pytest

from .conftest import USAGE


def test_an_unknown_command_names_the_nearest(run):
    done = run("trian")
    assert (done.exit_code, "There is no command 'trian'. Did you mean 'train'?" in done.stderr) == (USAGE, True)


COMMANDS = (
    "compare",
    "train",
    "predict",
    "transform",
    "export",
    "inspect",
    "info",
    "datasets",
    "papers",
    "bench",
    "completion",
)


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


def test_every_command_that_gives_results_offers_json(run):
    for command in COMMANDS:
        text = run(command, "--help").stdout
        subcommands = re.findall(r"^  (\w+) ", text.partition("Commands:")[2], flags=re.MULTILINE)
        if command == "completion":
            continue
        for path in [[command, name] for name in subcommands] or [[command]]:
            assert "--json" in run(*path, "--help").stdout, path
