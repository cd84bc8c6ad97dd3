# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The shipped SROS 2 policy allows what the nodes open, all of it and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
import re
from types import ModuleType
from xml.etree import ElementTree

import pytest

from robot_agent_harness.mcp_server import McpSettings
from robot_agent_harness.mcp_server.argument_bounds import (
    DEPTH_MAX,
    KEYS_MAX,
    TEXT_MAX,
    VALUES_MAX,
)
from robot_agent_harness.mcp_server.connection import SECURITY_HEADERS
from robot_agent_harness.skills.registry import BUILT_IN, load_registry

ROOT = Path(__file__).parents[1]
POLICY = ROOT / 'config' / 'sros2' / 'policy.xml'
PAGE = (ROOT / 'docs' / 'security.md').read_text(encoding='utf-8')
INTERFACE = (ROOT / 'docs' / 'ros_interface.md').read_text(encoding='utf-8')


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        'sros2_policy', ROOT / 'scripts' / 'sros2_policy.py'
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def allowed(node: str) -> dict[tuple[str, str], set[str]]:
    """Return the names of the shipped policy by kind and rule."""
    found: dict[tuple[str, str], set[str]] = {}
    for profile in ElementTree.parse(POLICY).iter('profile'):
        if profile.get('node') != node:
            continue
        for rules in profile:
            for rule, verdict in rules.attrib.items():
                assert verdict == 'ALLOW'
                names = {(entry.text or '').strip() for entry in rules}
                found.setdefault((rules.tag, rule), set()).update(names)
    return found


def test_the_policy_is_what_both_nodes_open_when_they_run(script: ModuleType) -> None:
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    from node_rig import DOMAIN, NAMESPACE

    assert script.render(script.live(NAMESPACE, DOMAIN)) == POLICY.read_text(encoding='utf-8')


def test_every_interface_of_the_page_is_allowed() -> None:
    rules = allowed('robot_agent_harness')
    every = set().union(*rules.values())
    tables = INTERFACE.split('## Lifecycle')[0]
    listed = {
        name
        for row in re.findall(r'^\| (`[^|]+`) \|', tables, re.MULTILINE)
        for name in re.findall(r'`([^`]+)`', row)
    }
    assert listed >= {'odom', 'navigate_to_pose', '~/run_mission', '/tf', '/diagnostics'}
    assert listed <= every


def test_nobody_else_may_call_what_the_harness_serves() -> None:
    enclaves = [e.get('path') for e in ElementTree.parse(POLICY).iter('enclave')]
    assert enclaves == ['/robot_agent_harness', '/sim_robot']
    skills = set(load_registry(None, skills=BUILT_IN).actions)
    assert allowed('robot_agent_harness')[('actions', 'call')] == skills
    assert ('services', 'request') not in allowed('robot_agent_harness')
    assert allowed('sim_robot').keys().isdisjoint({('actions', 'call'), ('services', 'request')})


def test_names_hold_in_every_namespace(script: ModuleType) -> None:
    for namespace in ('/', '/robots/one'):
        space = namespace.rstrip('/')
        assert script._named(f'{space}/odom', 'node', namespace) == 'odom'
        assert script._named(f'{space}/node/state', 'node', namespace) == '~/state'
    assert script._named('/rosout', 'node', '/robots/one') == '/rosout'


def test_the_security_page_names_every_bound_and_header() -> None:
    settings = McpSettings()
    for number in (
        f'{settings.receive_s:g} s',
        f'{settings.send_s:g} s',
        f'{settings.keep_alive_s} s',
        f'{settings.max_requests_per_s:g} requests a second',
        f'{settings.max_connections} connections',
        f'{settings.max_sessions} sessions',
        f'{DEPTH_MAX} levels',
        f'{KEYS_MAX} keys',
        f'{VALUES_MAX} values',
        f'{TEXT_MAX // 1024} Ki characters',
    ):
        assert number in PAGE, number
    for name, value in SECURITY_HEADERS:
        assert f'`{name}: {value}`' in PAGE
