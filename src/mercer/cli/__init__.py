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
    """Replace a closed standard error (``2>&-``), which is None in Python, by the null device.

    A closed standard output is not replaced, on purpose: ``guarded`` reports it as a failure.
    """
    import os  # noqa: PLC0415 - see above

    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends


def _interrupted() -> None:
    """Print the message of an interrupt and end with its exit code; the sub-commands may not be loaded yet."""
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
    """End the process after the exit handlers, without shutting down the interpreter.

    A thread of pyarrow may still wait for a stream. During a shutdown, Python would end such a thread inside C++ code
    that cannot be unwound, and the process would abort with another exit code.
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
