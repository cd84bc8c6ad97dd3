# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""
Make the environment in which this working tree runs: `.venv` and `.ros`.

`.venv` holds the locked packages and, where no ROS 2 installation is sourced, ROS 2 Kilted from
the package index; `.ros` holds the interfaces built with colcon and the variables that `env.sh`
sets. ROS_WHEELS=jazzy makes a second environment beside it, with that ROS 2: `.venv-jazzy` and
`.ros-jazzy`. Each step leaves a stamp of what it was made from, written last, so that an
interrupted run is done again and an unchanged one is skipped. Standard library only: it runs
before anything is installed.
"""

from __future__ import annotations

from pathlib import Path
import platform
import signal
import sys
import time
from typing import Any

# Python is started isolated (-I): it does not look beside this file by itself.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from set_up import tree
from set_up.entry import write_launcher, write_variables
from set_up.interfaces import build_interfaces
from set_up.jobs import only_one
from set_up.machine import check_machine, ros_installation
from set_up.packages import make_venv, others_installed
from set_up.stamps import digest, fresh, stamp
from set_up.telling import say, SetUpError

PARTS = Path(tree.__file__).parent


def main() -> int:
    """Bring the environment up to date."""
    if tree.DISTRIBUTION not in tree.DISTRIBUTIONS:
        known = ' or '.join(tree.DISTRIBUTIONS)
        print(f'set-up failed: ROS_WHEELS={tree.DISTRIBUTION}: must be {known}', file=sys.stderr)
        return 1
    started = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ros = ros_installation()
    locks = [tree.PIP_LOCK, tree.BUILD_LOCK, tree.LOCK, *([] if ros else [tree.ROS_LOCK])]
    venv_key: dict[str, Any] = {
        'folder': str(tree.ROOT),
        'Python': f'{platform.python_version()} {sys.base_prefix}',
        'ROS 2': ros,
        'lock files': digest([tree.ROOT / name for name in locks]),
    }
    ros_key = {
        **venv_key,
        'interfaces': digest([tree.ROOT / name for name in tree.INTERFACE_SOURCES]),
        'set-up': digest([Path(__file__).resolve(), *sorted(PARTS.glob('*.py'))]),
    }
    try:
        with only_one():
            python = tree.VENV / 'bin' / 'python'
            have_venv = fresh(tree.VENV, venv_key) and python.exists()
            if have_venv and fresh(tree.ROS, ros_key):
                return 0
            check_machine(ros)
            if have_venv:
                build_interfaces(ros)
            else:
                make_venv(venv_key, ros)
                # The build needs none of these packages: they come in the meantime.
                with others_installed():
                    build_interfaces(ros)
                stamp(tree.VENV, venv_key)
            write_launcher()
            write_variables(ros)
            stamp(tree.ROS, ros_key)
    except SetUpError as error:
        print(f'set-up failed: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('set-up interrupted; make setup completes it', file=sys.stderr)
        return 130
    enter = f'ROS_WHEELS={tree.DISTRIBUTION}; . ./env.sh' if tree.BESIDE else '. ./env.sh'
    say(f'done in {time.monotonic() - started:.0f} s; {enter} enters the environment')
    return 0


if __name__ == '__main__':
    sys.exit(main())
