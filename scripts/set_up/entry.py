# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The ways in: the console script, and the variables that `env.sh` sets."""

from __future__ import annotations

import os
import shlex

from set_up import tree
from set_up.wheels import site_packages, wheel_libraries


def write_launcher() -> None:
    """Put the console script into `.venv/bin`, running the modules of this working tree.

    Without the environment of `env.sh` there are no such modules; then it says so.
    """
    unset = (
        f'robot-agent-harness: this shell has not the environment that it needs: run `. ./env.sh`'
        f' in {tree.ROOT} first (an MCP client takes it from `robot-agent-harness mcp-config`)'
    )
    tree.write(
        tree.VENV / 'bin' / 'robot-agent-harness',
        f'#!{tree.VENV / "bin" / "python"}\n'
        'import sys\n\n'
        'try:\n'
        '    from robot_agent_harness.cli import main\n'
        'except ModuleNotFoundError as error:\n'
        "    if error.name != 'robot_agent_harness':\n"
        '        raise\n'
        f'    print({unset!r}, file=sys.stderr)\n'
        '    sys.exit(2)\n\n'
        'sys.exit(main())\n',
        0o755,
    )


def write_variables(ros: list[str]) -> None:
    """Write what `env.sh` sets, as plain assignments of lists to put in front."""
    install = tree.ROS / 'install'
    prefixes, libraries = [str(install)], [str(install / 'lib')]
    programs = [str(tree.VENV / 'bin')]
    modules = [str(tree.ROOT), str(site_packages(install))]
    if not ros:
        prefixes.append(str(tree.VENV))
        libraries += wheel_libraries()
    lines = [
        '# Written by make setup; read by env.sh.',
        f'_rah_set_up_root={shlex.quote(str(tree.ROOT))}',
        f'_rah_ros={shlex.quote(ros[-1] if ros else "")}',
        *(
            f'_rah_{name}={shlex.quote(os.pathsep.join(entries))}'
            for name, entries in (
                ('prefixes', prefixes),
                ('libraries', libraries),
                ('modules', modules),
                ('programs', programs),
            )
        ),
    ]
    tree.write(tree.ROS / 'variables.sh', '\n'.join(lines) + '\n')
