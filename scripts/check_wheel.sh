#!/usr/bin/env bash
# Build the source distribution, and from it a wheel, into a folder (build/dist by default); install the wheel alone in a
# fresh virtual environment, and try it. PYTHON chooses the interpreter. The same steps run for every wheel of a release.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
dist=$(mkdir -p "${1:-build/dist}" && cd "${1:-build/dist}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/build" "$work/fresh"
"$work/build/bin/pip" install --quiet --upgrade pip build
"$work/build/bin/python" -m build --quiet --sdist --outdir "$dist" .
MERCER_REQUIRE_COMPILED=1 "$work/build/bin/pip" wheel --quiet --no-deps --wheel-dir "$dist" "$dist"/mercer-*.tar.gz
"$work/fresh/bin/pip" install --quiet "$dist"/mercer-*.whl
smoke=$PWD/scripts/smoke_test.py
cd "$work" && "$work/fresh/bin/python" "$smoke"
