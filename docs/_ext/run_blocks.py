"""Run every code block of the documentation while Sphinx reads it, and show below it what it printed.

- A ``python`` block runs in its page's own module, after the blocks above it; what it prints, and the value of an
  expression that ends it, become the output.
- A ``console`` block holds commands after ``$``, run one by one by bash in the same folder.
- A ``>>>`` block, as docstrings have them, is compared with the output that it shows.
- A block of class ``not-run`` is shown and not run: installing, and other libraries' code.

Every page has an empty folder of its own as working directory. A block that fails is a warning, hence with ``-W`` the
end of the build.
"""

import ast
import contextlib
import doctest
import io
import linecache
import os
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sklearn.exceptions import SkipTestWarning
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

RUN = {"python", "console"}
# What is neither run nor code of ours: output, data, formulas, other libraries' commands.
SHOWN = {"text", "toml", "csv", "none", "default"}
TIME_LIMIT = 120  # seconds a command


class BlockError(Exception):
    """A block that did not do what the page says."""


class Page:
    """The module and the folder in which the blocks of one page run."""

    def __init__(self, name: str) -> None:
        self.path = name
        self.name = "page_" + name.replace("/", "_").replace(".", "_")
        self.module = types.ModuleType(self.name)
        self.count = 0

    def __enter__(self) -> "Page":
        self._folder = tempfile.TemporaryDirectory(prefix="mercer-docs-")
        self._tools = tempfile.TemporaryDirectory(prefix="mercer-docs-bin-")
        self._before = Path.cwd()
        os.chdir(self._folder.name)
        sys.modules[self.name] = self.module  # so that what a page defines can be pickled
        return self

    def __exit__(self, *_: object) -> None:
        os.chdir(self._before)
        sys.modules.pop(self.name, None)
        self._folder.cleanup()
        self._tools.cleanup()

    def run(self, block: nodes.Element) -> str:
        """Run a block and return what it printed."""
        if isinstance(block, nodes.doctest_block):
            return self._doctest(block.astext())
        return self._python(block.astext()) if block["language"] == "python" else self._console(block.astext())

    def _python(self, source: str) -> str:
        self.count += 1
        file = f"<{self.name}, block {self.count}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        out = io.StringIO()
        try:
            tree = ast.parse(source, file)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("error")  # an example that warns teaches something wrong
                warnings.simplefilter("ignore", SkipTestWarning)
                warnings.filterwarnings("ignore", module=r"dask\.")  # Dask calls pandas in ways that it deprecates
                exec(compile(tree, file, "exec"), self.module.__dict__)  # noqa: S102 - our own pages
                if last is not None:
                    value = eval(compile(ast.Expression(last.value), file, "eval"), self.module.__dict__)  # noqa: S307
                    if value is not None:
                        print(repr(value))
        except Exception as error:
            raise BlockError("".join(traceback.format_exception(error)[-6:])) from error
        return out.getvalue()

    def _console(self, text: str) -> str:
        return "".join(self._command(command) for command in commands(text))

    def _commands(self) -> Path:
        """Return a folder with ``python``, this one, and the ``mercer`` that it imports, installed or not."""
        folder = Path(self._tools.name)
        if not (folder / "mercer").exists():
            for name, options in (("python", ""), ("mercer", " -m mercer")):
                (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{options} "$@"\n')
                (folder / name).chmod(0o755)
        return folder

    def _command(self, command: str) -> str:
        path = f"{self._commands()}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "88", "NO_COLOR": "1", "PYTHONWARNINGS": "error"}
        done = subprocess.run(
            ["bash", "-c", command],  # noqa: S607 - the reader's shell
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIME_LIMIT,
            env=environment,
            check=False,
        )
        if done.returncode:
            raise BlockError(f"$ {command}\nended with {done.returncode}\n{done.stdout}")
        return done.stdout

    def _home(self) -> dict[str, Any]:
        """Return the names that the examples of a page of the API see: those of its object's module."""
        if not self.path.startswith("api/generated/"):
            return {}
        module, _, name = self.path.rpartition("/")[2].rpartition(".")
        home = getattr(getattr(import_module(module), name), "__module__", module)
        return vars(import_module(home))

    def _doctest(self, text: str) -> str:
        names = {**self._home(), **self.module.__dict__}
        test = doctest.DocTestParser().get_doctest(text, names, self.name, None, 0)
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        runner.run(test, out=report.append, clear_globs=False)
        self.module.__dict__.update(test.globs)
        if runner.failures:
            raise BlockError("".join(report))
        return ""


def commands(text: str) -> Iterator[str]:
    """Yield the commands of a console block: what follows ``$``, and the lines that carry it on."""
    command: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield "\n".join(command)
            command = [line[2:]]
        elif command:
            command.append(line.removeprefix("> "))
        elif line.strip():
            raise BlockError(f"a console block begins with '$ ', got {line!r}")
    if command:
        yield "\n".join(command)


def blocks(doctree: nodes.document) -> Iterator[nodes.Element]:
    """Yield the blocks of code of a page, in order."""
    for node in doctree.findall(lambda n: isinstance(n, nodes.literal_block | nodes.doctest_block)):
        if isinstance(node, nodes.doctest_block) or "language" in node:
            yield node


def run_page(app: Sphinx, doctree: nodes.document) -> None:
    """Run the blocks of a page and put what each printed after it."""
    name = app.env.docname
    if name.startswith("gallery/"):
        return  # sphinx-gallery has run it
    with Page(name) as page:
        for block in list(blocks(doctree)):
            if isinstance(block, nodes.literal_block):
                language = block["language"]
                if "not-run" in block["classes"] or language in SHOWN:
                    continue
                if language not in RUN:
                    logger.warning("a block in %r is neither run nor marked not-run", language, location=block)
                    continue
            try:
                output = page.run(block)
            except (BlockError, subprocess.TimeoutExpired) as error:
                logger.warning("a code block failed:\n%s\n%s", block.astext(), error, location=block)
                break  # the blocks below build on it
            if output.strip():
                show(block, "\n".join(line.rstrip() for line in output.rstrip().splitlines()))


def show(block: nodes.Element, output: str) -> None:
    """Put an output block after a code block."""
    shown = nodes.literal_block(output, output, language="none", classes=["output"])
    shown.source, shown.line = block.source, block.line
    parent: Any = block.parent
    parent.insert(parent.index(block) + 1, shown)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("doctree-read", run_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
