# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the SROS 2 policy of our two nodes from what they really open.

Both are started in a namespace and DDS domain of their own, and asked of the graph:

    python scripts/sros2_policy.py > config/sros2/policy.xml
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

NODES = {'robot_agent_harness': 'run', 'sim_robot': 'sim-robot'}
"""Each node, and the command that runs it."""
NOT_SEEN_HERE = {
    'robot_agent_harness': {('topics', 'subscribe'): {'/clock', '/tf', '/tf_static'}},
    'sim_robot': {('topics', 'subscribe'): {'/clock'}},
}
"""What a node opens only with use_sim_time, or only where tf2_ros is installed."""
START_S, SETTLED_S = 30.0, 3.0
"""How long the start may take, and for how long the graph must stay as it is."""
RULES = (
    ('actions', 'call'),
    ('actions', 'execute'),
    ('services', 'reply'),
    ('services', 'request'),
    ('topics', 'publish'),
    ('topics', 'subscribe'),
)


Interfaces = dict[tuple[str, str], set[str]]
"""What one node opens, by rule, as names in the policy: relative, private with ~, or absolute."""


def live(namespace: str, domain: int) -> dict[str, Interfaces]:
    """Start both nodes and return what they open.

    :raises TimeoutError: they did not come up.
    """
    import rclpy
    from rclpy.context import Context

    with _started(namespace, domain):
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        looker = rclpy.create_node(
            'looker', context=context, enable_rosout=False, start_parameter_services=False
        )
        try:
            return _settled(looker, namespace)
        finally:
            looker.destroy_node()
            rclpy.shutdown(context=context)


@contextlib.contextmanager
def _started(namespace: str, domain: int) -> Iterator[None]:
    environ = {**os.environ, 'ROS_DOMAIN_ID': str(domain)}
    program = [sys.executable, '-m', 'robot_agent_harness.cli']
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        journal = f'journal.path:={Path(folder) / "journal.db"}'
        for node, command in NODES.items():
            own = ['-p', journal, '-p', 'mcp.enabled:=false'] if command == 'run' else []
            arguments = [*program, command, '--ros-args', '-r', f'__ns:={namespace}', *own]
            process = subprocess.Popen(arguments, env=environ, stdout=subprocess.DEVNULL)
            stack.callback(process.wait, timeout=10)
            stack.callback(process.terminate)
            print(f'{node} started', file=sys.stderr)
        yield


def _settled(looker: Any, namespace: str) -> dict[str, Interfaces]:
    ends = time.monotonic() + START_S
    seen, since = _seen(looker, namespace), time.monotonic()
    while time.monotonic() < ends:
        time.sleep(0.2)
        now = _seen(looker, namespace)
        if now != seen:
            seen, since = now, time.monotonic()
        elif _complete(seen) and time.monotonic() - since > SETTLED_S:
            return seen
    raise TimeoutError(f'the nodes did not come up; seen: {seen}')


def _complete(seen: dict[str, Interfaces]) -> bool:
    """Whether both are up, and the harness, which opens the rest on its way to active, is so."""
    if set(seen) != set(NODES):
        return False
    return '~/run_mission' in seen['robot_agent_harness'][('actions', 'execute')]


def _seen(looker: Any, namespace: str) -> dict[str, Interfaces]:
    from rclpy import action

    asked = {
        ('actions', 'call'): lambda *who: action.get_action_client_names_and_types_by_node(
            looker, *who
        ),
        ('actions', 'execute'): lambda *who: action.get_action_server_names_and_types_by_node(
            looker, *who
        ),
        ('services', 'reply'): looker.get_service_names_and_types_by_node,
        ('services', 'request'): looker.get_client_names_and_types_by_node,
        ('topics', 'publish'): looker.get_publisher_names_and_types_by_node,
        ('topics', 'subscribe'): looker.get_subscriber_names_and_types_by_node,
    }
    up = {name for name, space in looker.get_node_names_and_namespaces() if space == namespace}
    return {
        node: {
            rule: {_named(name, node, namespace) for name, _ in ask(node, namespace)}
            for rule, ask in asked.items()
        }
        for node in NODES
        if node in up
    }


def _named(name: str, node: str, namespace: str) -> str:
    """Return a name so that it holds in any namespace, and under any name of the node."""
    space = namespace.rstrip('/')
    if name.startswith(f'{space}/{node}/'):
        return f'~/{name.removeprefix(f"{space}/{node}/")}'
    return name.removeprefix(f'{space}/') if name.startswith(f'{space}/') else name


def render(nodes: dict[str, Interfaces]) -> str:
    """Return the policy."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!-- Made by scripts/sros2_policy.py from what the nodes open; see docs/security.md. -->',
        '<policy version="0.2.0">',
        '  <enclaves>',
    ]
    for node in sorted(nodes):
        lines += [
            f'    <enclave path="/{node}">',
            '      <profiles>',
            f'        <profile ns="/" node="{node}">',
        ]
        for kind, rule in RULES:
            names = nodes[node].get((kind, rule), set())
            names = {name for name in names if '/_action/' not in name}  # in the action's rule
            names |= NOT_SEEN_HERE[node].get((kind, rule), set())
            if names:
                lines.append(f'          <{kind} {rule}="ALLOW">')
                lines += [
                    f'            <{kind[:-1]}>{escape(n)}</{kind[:-1]}>' for n in sorted(names)
                ]
                lines.append(f'          </{kind}>')
        lines += ['        </profile>', '      </profiles>', '    </enclave>']
    text = '\n'.join([*lines, '  </enclaves>', '</policy>', ''])
    ElementTree.fromstring(text)  # well-formed
    return text


if __name__ == '__main__':
    print(render(live('/policy', int(os.environ.get('ROS_DOMAIN_ID', '73')))), end='')
