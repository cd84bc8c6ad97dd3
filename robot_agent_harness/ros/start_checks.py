# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What is looked at before the journal is made, so that a start that is refused leaves nothing.

Each thing is checked again where it is used: between the two it may change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from robot_agent_harness.assembly import configured_file
from robot_agent_harness.parameters import Value
from robot_agent_harness.paths import resolved
from robot_agent_harness.skills.places import read_places

if TYPE_CHECKING:
    from robot_agent_harness.mcp_server import McpSettings


def check_start(parameters: Mapping[str, Value], http: McpSettings | None) -> None:
    """Refuse what a start would be refused for once its journal is there; never on a loop.

    :param http: where MCP is served over HTTP, if it is.
    :raises ConfigurationError: names the parameter at fault.
    """
    read_places(configured_file(parameters, 'places_file', 'places.yaml'))
    if http is None or not parameters['autostart']:
        return  # who activates it later may put that right until then
    http.read_tokens()
    if not _exists(str(parameters['journal.path'])):
        from robot_agent_harness.mcp_server.listener import listening  # loaded: it is served

        # A second harness on one journal is to hear of the journal rather than of the port.
        asyncio.run(listening(http.host, http.port)).close()


def _exists(path: str) -> bool:
    try:
        return resolved(path).exists()
    except OSError:
        return True  # whoever opens it says what is wrong with the name
