# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What is looked at before the journal is made, so that a start that is refused leaves nothing.

Each thing is checked again where it is used: between the two it may change.
"""

from __future__ import annotations

from collections.abc import Mapping
import errno
import ipaddress
import socket
from typing import TYPE_CHECKING

from robot_agent_harness.assembly import configured_file
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.parameters import Value
from robot_agent_harness.paths import resolved
from robot_agent_harness.skills.places import read_places

if TYPE_CHECKING:
    from robot_agent_harness.mcp_server import McpSettings


def check_start(parameters: Mapping[str, Value], http: McpSettings | None) -> None:
    """Refuse what a start would be refused for once its journal is there.

    :param http: where MCP is served over HTTP, if it is.
    :raises ConfigurationError: names the parameter at fault.
    """
    read_places(configured_file(parameters, 'places_file', 'places.yaml'))
    if http is None or not parameters['autostart']:
        return  # who activates it later may put that right until then
    http.read_tokens()
    if not _exists(str(parameters['journal.path'])):
        # A second harness on one journal is to hear of the journal rather than of the port.
        _check_port(http.host, http.port)


def _exists(path: str) -> bool:
    try:
        return resolved(path).exists()
    except OSError:
        return True  # whoever opens it says what is wrong with the name


def _check_port(host: str, port: int) -> None:
    """Refuse a port that somebody listens on; whatever else is wrong the server says."""
    try:
        family = _family(host)
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            shown = f'[{host}]' if family == socket.AF_INET6 else host
            raise ConfigurationError(
                f'mcp.port: {shown}:{port} is in use; choose another, or 0 for any free one'
            ) from error


def _family(host: str) -> socket.AddressFamily:
    try:
        six = ipaddress.ip_address(host).version == 6
    except ValueError:
        six = False  # of a name with both the server takes this one
    return socket.AF_INET6 if six else socket.AF_INET
