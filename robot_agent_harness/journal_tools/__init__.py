# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`robot-agent-harness journal`: looking into journals, and closing them. Works without ROS.

Each subcommand is one small module that says its name, its arguments and what it runs; what it
needs it imports when it runs, so that `--help` answers at once. `SUBCOMMANDS` is the one place
where they are registered.
"""

from robot_agent_harness.journal_tools import (
    actions,
    decisions,
    events,
    export,
    missions,
    rotate,
    show,
    tail,
    verify,
)
from robot_agent_harness.journal_tools.subcommand import Subcommand

SUBCOMMANDS: dict[str, Subcommand] = {
    'missions': missions.SUBCOMMAND,
    'show': show.SUBCOMMAND,
    'tail': tail.SUBCOMMAND,
    'events': events.SUBCOMMAND,
    'decisions': decisions.SUBCOMMAND,
    'actions': actions.SUBCOMMAND,
    'verify': verify.SUBCOMMAND,
    'rotate': rotate.SUBCOMMAND,
    'export': export.SUBCOMMAND,
}
"""Each subcommand by its name, in the order of the help."""
