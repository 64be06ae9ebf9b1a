#!/usr/bin/env bash
# Everything that must hold, from a clean clone: lint, types, import contract, a smoke of the NumPy fallback, the
# documentation with its code run, doctests of the installed package, and tests on the compiled core. Makes its own
# virtual environments under build/.
# PYTHON chooses the interpreter. MERCER_DATA names a folder of data sets; tests that need data are skipped without it.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
venv=build/test-venv

say() { printf '\n== %s\n' "$*"; }

say "install, with the core compiled"
rm -rf "$venv" build/pure-venv
"$python" -m venv "$venv"
"$venv/bin/pip" install --quiet --upgrade pip
"$venv/bin/pip" install --quiet ".[dev,docs]"
"$venv/bin/python" -c "import mercer; mercer.show_versions()"

say "lint"
"$venv/bin/ruff" format --check .
"$venv/bin/ruff" check .

say "types"
"$venv/bin/mypy"

say "import contract"
"$venv/bin/lint-imports"

say "instruction sets stay apart"
PATH="$PWD/$venv/bin:$PATH" python scripts/check_symbols.py

say "NumPy fallback: smoke"
"$python" -m venv build/pure-venv
build/pure-venv/bin/pip install --quiet --upgrade pip
MERCER_PURE_PYTHON=1 build/pure-venv/bin/pip install --quiet ".[test]"
MERCER_PURE_PYTHON=1 build/pure-venv/bin/python -m pytest -q -n 2 tests/reference tests/kernels tests/test_core.py \
  tests/test_import.py tests/features/sketches/test_*sketch.py tests/features/sketches/test_maclaurin.py tests/features/composed

say "a browser for the page's tests"
if ! command -v chromedriver >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { timeout 60 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 240 apt-get install -qq -y --no-install-recommends \
    chromium chromium-driver; } >/dev/null || echo "no browser could be installed: its tests are skipped"
fi

say "documentation, its code blocks run"
PYTHON="$PWD/$venv/bin/python" bash scripts/build_docs.sh

say "tests and doctests of the installed package"
"$venv/bin/python" -m pytest -q -n 2 --doctest-modules --pyargs mercer --import-mode=importlib
"$venv/bin/python" -m pytest -n 2 tests "$@"
