#!/usr/bin/env bash
# Run the tests of the compiled core under AddressSanitizer and UndefinedBehaviorSanitizer: any finding ends the run.
# Makes its own virtual environment under build/. PYTHON chooses the interpreter, CXX the compiler (GCC).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/sanitizer-venv
rm -rf "$venv"
"${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet --upgrade pip
flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1"
CMAKE_ARGS="-DCMAKE_CXX_FLAGS='$flags' -DCMAKE_MODULE_LINKER_FLAGS='$flags'" MERCER_REQUIRE_COMPILED=1 \
  "$venv/bin/pip" install --quiet --no-cache-dir ".[test]" \
  --config-settings=cmake.build-type=None --config-settings=build-dir=build/sanitizer \
  --config-settings=install.strip=false
# Python itself is not built with the sanitizer, so its runtime must be loaded first; Python's own leaks are not ours.
export LD_PRELOAD
LD_PRELOAD="$("${CXX:-g++}" -print-file-name=libasan.so) $("${CXX:-g++}" -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
MERCER_REQUIRE_COMPILED=1 "$venv/bin/python" -m pytest -q tests/core "$@"
