#!/bin/sh
# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
#
# Find a Python that can hold the environment, then let scripts/setup_env.py make it.
# PYTHON=... chooses another one.
set -u

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1

# The environment must not be built with the Python that it holds itself.
PATH=$(printf %s "$PATH" | tr ':' '\n' | grep -vxF -e "$root/.venv/bin" -e "$root/.venv-jazzy/bin" | paste -sd: -)
unset VIRTUAL_ENV

newest=13
# With a ROS 2 installation its own Python is used, whatever its version.
[ -n "${AMENT_PREFIX_PATH:-}" ] && newest=99

# -S: without it the ROS wheels of an environment around us would start Python twice.
fits() {
    "$1" -I -S -c "import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, $newest))" 2>/dev/null
}

if [ -n "${PYTHON:-}" ]; then
    candidates=$PYTHON
else
    candidates='python3 python3.12 python3.13 python3.11 python3.10'
fi
for candidate in $candidates; do
    if fits "$candidate"; then
        exec "$candidate" -I -S "$root/scripts/setup_env.py"
    fi
done

if [ -z "${PYTHON:-}" ]; then
    found=$(python3 --version 2>&1) || found='no python3 at all'
elif ! command -v "$PYTHON" >/dev/null; then
    found="PYTHON=$PYTHON, which is no program"
else
    found="PYTHON=$PYTHON, which is $("$PYTHON" --version 2>&1)"
fi
echo "set-up: Python 3.10, 3.11, 3.12 or 3.13 is needed; found: $found." >&2
echo "set-up: install one (Debian and Ubuntu: apt install python3 python3-venv python3-dev)," \
    "or name one: PYTHON=/path/to/python3.12 make setup" >&2
exit 1
