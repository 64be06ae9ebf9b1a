"""The command line ``mercer``: one file a sub-command, which loads what it needs when it runs.

Results go to standard output, and nothing else does; notes, progress and errors go to standard error, an error as one
line. ``--json`` makes the result one JSON object.
"""

import atexit
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import NoReturn


def main() -> None:
    """Run the command line, or say what to install."""
    missing = [package for package in ("click", "rich") if find_spec(package) is None]
    if missing:
        sys.stderr.write(
            f"mercer: the command line needs {' and '.join(missing)}. Install with: pip install 'mercer[cli]'\n"
        )
        raise SystemExit(1)
    from mercer.cli.app import app  # noqa: PLC0415 - click is optional

    try:
        app(prog_name="mercer")
    except SystemExit as end:
        if end.code:
            _leave(end.code if isinstance(end.code, int) else 1)
        raise


def _leave(code: int) -> NoReturn:
    """End the process cleaned up, but with no interpreter's end.

    A thread of pyarrow may still be waiting for more of a stream. Python ends such a thread where it next asks for the
    interpreter's lock, in the midst of C++ that lets nothing pass, and the process would abort with a code of its own.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
