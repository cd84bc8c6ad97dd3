#!/bin/sh
# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
#
# Pin the newest allowed versions into the lock files, for Python 3.10 to 3.13, with hashes.
# uv is fetched for this alone. It does not read pip's configuration: a package index other than the
# usual one is named to it by UV_DEFAULT_INDEX. No index is written into the lock files.
set -eu
cd "$(dirname "$0")/.."

tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
python3 -m venv "$tool"
"$tool/bin/python" -m pip install --quiet --disable-pip-version-check uv

lock() {
    "$tool/bin/uv" pip compile --universal --python-version 3.10 --generate-hashes --upgrade \
        --no-header --no-annotate --no-emit-index-url --quiet "$@"
}
# The same versions wherever two of them name a package.
lock requirements.in -o requirements.lock
lock -c requirements.lock requirements-build.in -o requirements-build.lock
lock -c requirements.lock -c requirements-build.lock requirements-ros.in -o requirements-ros.lock
lock -c requirements.lock -c requirements-build.lock requirements-ros-jazzy.in \
    -o requirements-ros-jazzy.lock
lock -c requirements.lock -c requirements-build.lock requirements-pip.in -o requirements-pip.lock
