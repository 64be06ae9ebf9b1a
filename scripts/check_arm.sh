#!/bin/sh
# Cross-compile csrc for 64-bit ARM with a second compiler (clang), warnings as errors. Nothing is run.
# PYTHON chooses the interpreter; the compiler and nanobind come into a temporary virtual environment.
set -eu

python=${PYTHON:-python3}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet ziglang nanobind

include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
nanobind=$("$work/venv/bin/python" -m nanobind --include_dir)

compile() {
    echo "aarch64: $1"
    "$work/venv/bin/python" -m ziglang c++ --target=aarch64-linux-gnu -std=c++17 -O3 -ffp-contract=fast \
        -fvisibility=hidden -fPIC -Wall -Wextra -Werror -c "$root/csrc/$1" -o "$work/${1%.cpp}.o" \
        -isystem "$include" -isystem "$nanobind"
}

for source in level_plain.cpp dispatch.cpp plan.cpp scratch.cpp bindings.cpp bind_features.cpp bind_learners.cpp bind_trees.cpp bind_leaves.cpp bind_structures.cpp; do
    compile "$source"
done
echo "csrc compiles for aarch64"
