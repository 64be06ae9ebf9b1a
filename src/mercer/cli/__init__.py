"""The command line ``mercer``: one file per sub-command, which loads what it needs when it runs.

Results go to standard output, and nothing else does; notes, progress and errors go to standard error, an error as one
line. ``--json`` makes the result one JSON object.
"""

# Nothing else is imported here, on purpose: what is imported within ``main`` can be interrupted with one line.
import sys


def main() -> None:
    """Run the command line, or say what to install; Ctrl-C ends it in one line from the first import on."""
    try:
        _run()
    except KeyboardInterrupt:
        _interrupted()


def _run() -> None:
    from importlib.util import find_spec  # noqa: PLC0415 - see above

    _open_streams()

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


def _open_streams() -> None:
    """Give a process whose standard error is closed (``2>&-``) somewhere to write: Python leaves None there.

    A closed standard output is not replaced, on purpose: results that nobody gets are a failure, as
    ``guarded`` says.
    """
    import os  # noqa: PLC0415 - see above

    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends


def _interrupted() -> None:
    """Say so as the sub-commands do, which may not have been loaded yet, and end with their exit code."""
    import json  # noqa: PLC0415 - see above
    import os  # noqa: PLC0415 - see above

    if os.environ.get("MERCER_TRACEBACK") == "1":
        raise  # noqa: PLE0704 - the interrupt that is being handled
    message, code = "interrupted; nothing was written.", 130
    as_json = "--json" in sys.argv[1:]
    sys.stderr.write(json.dumps({"error": message, "exit_code": code}) if as_json else f"mercer: error: {message}")
    sys.stderr.write("\n")
    _leave(code)


def _leave(code: int) -> None:
    """End the process cleaned up, but with no interpreter's end.

    A thread of pyarrow may still be waiting for more of a stream. Python ends such a thread where it next asks for the
    interpreter's lock, in the midst of C++ that lets nothing pass, and the process would abort with a code of its own.
    """
    import atexit  # noqa: PLC0415 - see above
    import os  # noqa: PLC0415 - see above
    from contextlib import suppress  # noqa: PLC0415 - see above

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:  # as it is where the shell has closed it
                stream.flush()
    os._exit(code)
