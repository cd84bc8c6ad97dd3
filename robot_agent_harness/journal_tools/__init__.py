# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`robot-agent-harness journal`: looking into journals, and closing them. Works without ROS.

Each subcommand is one small module that says its name, its arguments and what it runs; what it
needs it imports when it runs, so that `--help` answers at once. `SUBCOMMANDS` is the one place
where they are registered.
"""

from robot_agent_harness.journal_tools import events, missions
from robot_agent_harness.journal_tools.subcommand import Subcommand

SUBCOMMANDS: dict[str, Subcommand] = {
    'missions': missions.SUBCOMMAND,
    'events': events.SUBCOMMAND,
}
"""Each subcommand by its name, in the order of the help."""
