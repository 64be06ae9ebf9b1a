#!/usr/bin/env bash
# The documentation, into build/docs: every page, example and code block is run, and a warning is an error.
# PYTHON is an interpreter with mercer[docs]. Needs no network. Arguments go to sphinx-build.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
# One thread a process: two processes read pages side by side, and OpenMP's threads do not survive the fork between them.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg MERCER_PAPERS="$PWD/papers"
rm -rf build/docs build/doctrees docs/gallery docs/api/generated
"$python" -m sphinx -W --keep-going -q -j 2 -b html -d build/doctrees "$@" docs build/docs
"$python" scripts/check_docs.py build/docs
echo "build/docs/index.html"
