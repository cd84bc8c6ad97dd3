# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The services that a node's skills call, at its end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from asking import until_there
from node_rig import DOMAIN, NAMESPACE, WAIT_S
import rclpy
from rclpy.context import Context
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool
from test_node_recovery import loop

from robot_agent_harness.ros.harness_node import HarnessNode
from robot_agent_harness.ros.threads import on_loop
from robot_agent_harness.testing import check_journal

__all__ = ['loop']
BELL = """\
skills:
  ring:
    description: Ring.
    service: {name: bell, type: std_srvs/srv/SetBool, request: {data: true}}
"""


def test_a_server_that_goes_when_the_journal_is_closed_is_nobodys_business(
    loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    faults: list[dict[str, object]] = []
    loop.call_soon_threadsafe(
        loop.set_exception_handler, lambda _, context: faults.append(context)
    )
    skills = tmp_path / 'skills.yaml'
    skills.write_text(BELL)
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    given = {
        'journal.path': str(tmp_path / 'j.db'),
        'skills_file': str(skills),
        'mcp.enabled': False,
    }
    node = HarnessNode(
        loop=loop,
        context=context,
        namespace=f'{NAMESPACE}/services',
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
    )
    server = node.create_service(SetBool, 'bell', lambda _, response: response)
    try:
        assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
        session = node.session
        assert session is not None
        services = session._services
        until_there(services._clients['bell'], WAIT_S)
        services._poll()
        on_loop(loop, _turn())
        assert 'ring' in session.core.registry.names
        on_loop(loop, session.close())
        node.destroy_service(server)
        while services._clients['bell'].service_is_ready():
            pass
        services._poll()
        on_loop(loop, _turn())
    finally:
        if node.session is not None:
            node.session.destroy()
        node.destroy_node()
        rclpy.shutdown(context=context)
    assert faults == []
    assert check_journal(tmp_path / 'j.db') == []


async def _turn() -> None:
    """Let what has been handed over to the loop run."""
