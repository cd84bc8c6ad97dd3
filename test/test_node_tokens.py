# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Access tokens are changed by deactivating and activating the node, as docs/security.md says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
import threading

import httpx2
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from node_rig import DOMAIN, NAMESPACE
import rclpy
from rclpy.context import Context
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from robot_agent_harness.ros.harness_node import HarnessNode
from robot_agent_harness.ros.threads import on_loop

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
OLD, NEW = 'the-token-of-before', 'the-token-from-now-on'


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


def test_a_node_that_is_activated_again_knows_the_tokens_that_the_file_has_by_then(
    loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    file = tmp_path / 'token'
    file.touch(0o600)
    file.write_text(f'{OLD}\n')
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    given = {
        'journal.path': str(tmp_path / 'j.db'),
        'mcp.port': 0,
        'mcp.token_file': str(file),
    }
    node = HarnessNode(
        loop=loop,
        context=context,
        namespace=f'{NAMESPACE}/tokens',
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
    )

    def let_in() -> list[bool]:
        assert node.session is not None
        assert node.session.mcp is not None
        url = node.session.mcp.url
        answers = [
            httpx2.put(url, headers={'authorization': f'Bearer {token}'}) for token in (OLD, NEW)
        ]
        return [answer.status_code != 401 for answer in answers]

    try:
        assert node.trigger_configure() is SUCCESS
        assert node.trigger_activate() is SUCCESS
        assert let_in() == [True, False]
        assert node.trigger_deactivate() is SUCCESS
        file.chmod(0o644)
        assert node.trigger_activate() is FAILURE
        assert node.failure is not None
        assert 'chmod 600' in node.failure
        assert let_in() == [True, False]
        file.chmod(0o600)
        file.write_text(f'{NEW}\n')
        assert node.trigger_activate() is SUCCESS
        assert let_in() == [False, True]
    finally:
        if node.session is not None:
            on_loop(loop, node.session.close())
            node.session.destroy()
        node.destroy_node()
        rclpy.shutdown(context=context)
