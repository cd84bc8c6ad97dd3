# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The node's metrics: served where they are asked for, refused where they cannot be."""

from __future__ import annotations

from pathlib import Path
import sys
import urllib.request

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from node_rig import DOMAIN, harness, NAMESPACE

from robot_agent_harness.ros import process


def refused(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Start a node in this process, and return the one line that it ends with."""
    own = ('-r', f'__ns:={NAMESPACE}/metrics', '-p', 'metrics.enabled:=true')
    code = process.run(['--ros-args', *own, *arguments])
    out, err = capfd.readouterr()
    assert (code, out) == (2, ''), err
    (line,) = err.splitlines()
    return line


def test_the_node_serves_its_metrics_beside_mcp(tmp_path: Path) -> None:
    parameters = {'metrics.enabled': True, 'mcp.port': 0}
    with harness(tmp_path / 'j.db', **parameters) as node:
        url = node.says(r'ready: MCP at (\S+)/mcp,')[1]
        with urllib.request.urlopen(f'{url}/metrics', timeout=20.0) as answer:
            text = answer.read().decode()
        assert node.end() == 0
    assert 'robot_agent_harness_journal_healthy 1.0\n' in text
    assert '\nrobot_agent_harness_active_actions 0.0\n' in text


def test_metrics_without_http_are_refused_by_name(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN))
    path = f'journal.path:={tmp_path}/j.db'
    line = refused(capfd, '-p', path, '-p', 'mcp.enabled:=false')
    assert 'parameter metrics.enabled: /metrics is served beside MCP over HTTP' in line
    assert not (tmp_path / 'j.db').exists()


def test_metrics_without_their_library_are_refused_with_the_command_that_installs_it(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN))
    monkeypatch.delitem(sys.modules, 'robot_agent_harness.metrics', raising=False)
    monkeypatch.setitem(sys.modules, 'prometheus_client', None)
    line = refused(capfd, '-p', f'journal.path:={tmp_path}/j.db', '-p', 'mcp.port:=0')
    assert 'parameter metrics.enabled needs libraries that are not installed' in line
    assert "pip install 'prometheus-client>=" in line
