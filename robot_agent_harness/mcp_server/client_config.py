# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Ready configuration of common MCP clients, as `robot-agent-harness mcp-config` prints it.

No token is ever in it: it names the variable, or lets the client ask. A client that starts the
harness itself does so without a sourced shell, so what such a shell has set for ROS is in the
entry, with absolute paths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import json
import shlex
from typing import Any
from urllib.parse import urlsplit

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.mcp_server.tokens import ENVIRONMENT_KEY

NAME = 'robot'
"""What the clients call the server."""
ROS_VARIABLES = frozenset({'AMENT_PREFIX_PATH', 'HOME', 'LD_LIBRARY_PATH', 'PYTHONPATH'})
ROS_PREFIXES = ('CYCLONEDDS_', 'FASTDDS_', 'FASTRTPS_', 'RCUTILS_', 'RMW_', 'ROS_', '_ROS_')
"""What of a sourced shell a node needs: where ROS is, and how DDS finds the robot."""
SOURCED = 'AMENT_PREFIX_PATH'
"""Set in every shell with a sourced ROS."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """What to put where, for one client."""

    client: str
    """As `--client` names it."""
    title: str
    where: str
    """The file to put it in, or what to do with it."""
    config: dict[str, Any]
    command: tuple[str, ...] = ()
    """A command that does it, where there is one."""

    @property
    def told(self) -> dict[str, Any]:
        """The same for programs."""
        command = {'command': list(self.command)} if self.command else {}
        return {'where': self.where, 'config': self.config, **command}

    @property
    def text(self) -> str:
        """What a person pastes."""
        if self.command:
            return shlex.join(self.command)
        return json.dumps(self.config, indent=2)


def snippets(
    *, url: str, token: bool, program: Sequence[str], environ: Mapping[str, str]
) -> tuple[Snippet, ...]:
    """Return the configuration of each client.

    Without a sourced ROS there is none for clients that start the harness themselves.

    :param url: where the harness serves HTTP.
    :param token: whether a token is needed there.
    :param program: the command that runs `robot-agent-harness`, with absolute paths.
    :param environ: the environment in which it runs here.
    :raises ConfigurationError: the URL is none of HTTP.
    """
    found = _over_http(_checked(url), token)
    if SOURCED in environ:
        found += _over_stdio(program, environ)
    return found


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ('http', 'https') and parts.hostname and parts.port != 0
    except ValueError:  # brackets without their pair, a port that is none
        usable = None
    if not usable or not url.isprintable() or ' ' in url:
        raise ConfigurationError(f'--url {url!r}: an address is http://HOST:PORT/mcp, or https')
    return url


def chosen(found: Sequence[Snippet], client: str) -> Snippet:
    """Return the configuration of one client.

    :raises ConfigurationError: there is none.
    """
    for snippet in found:
        if snippet.client == client:
            return snippet
    raise ConfigurationError(
        f'{client} starts the harness itself, which needs ROS 2, and none is sourced here: in the'
        ' source tree run `. ./env.sh`, else source the setup file of ROS and of the workspace'
    )


def _over_http(url: str, token: bool) -> tuple[Snippet, ...]:
    def entry(reference: str, **more: str) -> dict[str, Any]:
        headers = {'headers': {'Authorization': f'Bearer {reference}'}} if token else {}
        return {**more, 'url': url, **headers}

    variable = f'${{{ENVIRONMENT_KEY}}}'
    asked = {
        'type': 'promptString',
        'id': 'robot-token',
        'description': 'Access token of the robot',
        'password': True,
    }
    # In quotes when it is pasted: Claude Code puts the token in when it connects, no shell does.
    header = ('--header', f'Authorization: Bearer {variable}') if token else ()
    add = ('claude', 'mcp', 'add', '--transport', 'http', '--scope', 'project')
    return (
        Snippet(
            'claude-code',
            'Claude Code',
            'run this in the project; it writes .mcp.json',
            {'mcpServers': {NAME: entry(variable, type='http')}},
            # `--header` takes all that follows it: it comes last.
            (*add, NAME, url, *header),
        ),
        Snippet(
            'cursor',
            'Cursor',
            '~/.cursor/mcp.json, or .cursor/mcp.json of a project',
            {'mcpServers': {NAME: entry(f'${{env:{ENVIRONMENT_KEY}}}')}},
        ),
        Snippet(
            'vscode',
            'VS Code',
            '.vscode/mcp.json of a project',
            {
                'servers': {NAME: entry('${input:robot-token}', type='http')},
                **({'inputs': [asked]} if token else {}),
            },
        ),
        Snippet(
            'http',
            'any client of streamable HTTP',
            f'put the token in the place of {variable}' if token else 'no token is needed',
            {'mcpServers': {NAME: entry(variable, type='streamable-http')}},
        ),
    )


def _over_stdio(program: Sequence[str], environ: Mapping[str, str]) -> tuple[Snippet, ...]:
    command, *arguments = program
    entry = {
        'command': command,
        'args': [*arguments, 'run', '--mcp-stdio'],
        'env': {name: environ[name] for name in sorted(environ) if _is_for_ros(name)},
    }
    config = {'mcpServers': {NAME: entry}}
    return (
        Snippet(
            'claude-desktop',
            'Claude Desktop',
            '~/.config/Claude/claude_desktop_config.json; on macOS'
            ' ~/Library/Application Support/Claude/claude_desktop_config.json',
            config,
        ),
        Snippet(
            'stdio',
            'any client that starts its servers',
            'it starts the harness, which ends with it: not beside one that runs already',
            config,
        ),
    )


def _is_for_ros(name: str) -> bool:
    return name in ROS_VARIABLES or name.startswith(ROS_PREFIXES)
