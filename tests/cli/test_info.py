"""``mercer info``."""

import ast
import json
import subprocess
import sys


def _loaded(*args):
    code = (
        "import sys; sys.argv[0] = 'mercer'\n"
        "rooms = lambda: sorted({m.partition('.')[0] for m in sys.modules})\n"
        "import atexit; atexit.register(lambda: sys.stderr.write(repr(rooms())))\n"
        "from mercer.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    return done.stdout, set(ast.literal_eval(done.stderr))


def test_info_loads_neither_scipy_nor_scikit_learn():
    printed, loaded = _loaded("info", "--json")
    assert json.loads(printed)["threads"]
    assert not {"scipy", "sklearn"} & loaded
