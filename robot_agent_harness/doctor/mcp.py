# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether MCP could be served where the parameters say, and who is there already."""

from __future__ import annotations

from collections.abc import Mapping
import errno
import importlib.util
import json
import socket
import urllib.error
import urllib.request

from robot_agent_harness.doctor.finding import Finding, ok, problem, warning
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.extras import check_metrics
from robot_agent_harness.parameters import Value

AREA = 'mcp'
PLAIN_HOSTS = ('127.0.0.1', 'localhost', '::1')
SERVER_NAME = 'robot_agent_harness'
ANSWER_MAX = 65536
UNAUTHORIZED, ASKS_FOR_TOKEN = 401, 'asks for a token'
"""Who we are asked to be before we learn who it is; a token of ours is sent to no stranger."""
ACCESS_VARIABLE = 'ROBOT_AGENT_HARNESS_MCP_TOKEN'
_HELLO = {
    'jsonrpc': '2.0',
    'id': 1,
    'method': 'initialize',
    'params': {
        'protocolVersion': '2025-06-18',
        'capabilities': {},
        'clientInfo': {'name': 'robot-agent-harness doctor', 'version': '1'},
    },
}


def check_mcp(
    parameters: Mapping[str, Value], environ: Mapping[str, str], timeout_s: float
) -> list[Finding]:
    """Look at what the parameters `mcp.*` ask for.

    :param timeout_s: how long whoever is there may take to answer, in seconds.
    """
    if parameters['metrics.enabled']:
        try:
            check_metrics(served=bool(parameters['mcp.enabled']))
        except ConfigurationError as error:
            return [problem(AREA, str(error), 'correct the parameter')]
    if not parameters['mcp.enabled']:
        return [ok(AREA, 'not served (mcp.enabled)')]
    if importlib.util.find_spec('mcp') is None:
        advice = 'install requirements.in with pip into the virtual environment of the harness'
        return [problem(AREA, 'the Python package mcp is not installed', advice)]
    host, port = str(parameters['mcp.host']), int(parameters['mcp.port'])
    token_file = str(parameters['mcp.token_file'])
    if token_file or host not in PLAIN_HOSTS or environ.get(ACCESS_VARIABLE):
        try:
            _check_tokens(host, token_file)
        except ConfigurationError as error:
            return [problem(AREA, str(error), 'correct the file or the parameter')]
    return [_port(host, port, timeout_s)]


def _check_tokens(host: str, token_file: str) -> None:
    from pathlib import Path

    from robot_agent_harness.mcp_server import McpSettings  # loads the MCP SDK: a second or two

    McpSettings(host=host, token_file=Path(token_file) if token_file else None).read_tokens()


def _port(host: str, port: int, timeout_s: float) -> Finding:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return _taken(host, port, timeout_s)
        return problem(
            AREA, f'{host}:{port} cannot be listened on: {error}', 'correct mcp.host or mcp.port'
        )
    return ok(AREA, f'{host}:{port} is free' if port else f'any free port of {host} will do')


def _taken(host: str, port: int, timeout_s: float) -> Finding:
    reachable = {'0.0.0.0': '127.0.0.1', '::': '::1'}.get(host, host)
    url = f'http://{f"[{reachable}]" if ":" in reachable else reachable}:{port}/mcp'
    who = _asked(url, timeout_s)
    if who == SERVER_NAME:
        return ok(AREA, f'a harness answers at {url}', url=url, server=who)
    if who == ASKS_FOR_TOKEN:
        return warning(
            AREA,
            f'{host}:{port} is in use by something that {who}: a harness with mcp.token_file?',
            'nothing, if that is the harness you mean; else set mcp.port to another port',
            server=who,
        )
    return problem(
        AREA,
        f'{host}:{port} is in use by something else ({who})',
        'stop that program, or set mcp.port to another port (0 = any free one)',
        server=who,
    )


def _asked(url: str, timeout_s: float) -> str:
    """Return what the server calls itself, or what it did instead."""
    request = urllib.request.Request(
        url,
        json.dumps(_HELLO).encode(),
        {'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream'},
    )
    # No proxy: it is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            text = answer.read(ANSWER_MAX).decode('utf-8', 'replace')
    except urllib.error.HTTPError as error:
        error.close()
        return ASKS_FOR_TOKEN if error.code == UNAUTHORIZED else f'it answers HTTP {error.code}'
    except (OSError, ValueError) as error:
        return f'no HTTP: {getattr(error, "reason", error)}'
    for line in text.splitlines():
        body = line.removeprefix('data:').strip()
        if body.startswith('{'):
            try:
                return str(json.loads(body)['result']['serverInfo']['name'])
            except (ValueError, KeyError, TypeError):
                continue
    return 'it speaks HTTP, but not MCP'
