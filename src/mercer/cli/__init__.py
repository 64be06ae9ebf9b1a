"""The command line ``mercer``: one file a sub-command, which loads what it needs when it runs.

Results go to standard output, and nothing else does; notes, progress and errors go to standard error, an error as one
line. ``--json`` makes the result one JSON object.
"""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line, or say what to install."""
    missing = [package for package in ("click", "rich") if find_spec(package) is None]
    if missing:
        sys.stderr.write(
            f"mercer: the command line needs {' and '.join(missing)}. Install with: pip install 'mercer[cli]'\n"
        )
        raise SystemExit(1)
    from mercer.cli.app import app  # noqa: PLC0415 - click is optional

    app(prog_name="mercer")
