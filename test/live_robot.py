# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Harness and simulated robot as processes over DDS, and somebody else who watches the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
import re
import signal
import threading
from typing import Any
import uuid

from action_msgs.msg import GoalStatus, GoalStatusArray
from asking import ask, until_there
from domains import own_domain
from forked import Forked, run_harness, run_sim_robot
from mcp import Client
from nav2_msgs.action import NavigateToPose
from rcl_interfaces.srv import ListParameters, SetParameters
import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_action_status_default
from unique_identifier_msgs.msg import UUID

from robot_agent_harness.ros.spinner import Spinner

DOMAIN = own_domain()
WAIT_S = 60.0
"""A busy machine takes long to start a process."""
READY = re.compile(r'ready: MCP at (\S+), journal')


class Child:
    """A program of the package in a process of its own."""

    def __init__(
        self,
        program: Callable[[list[str]], int],
        namespace: str,
        parameters: Mapping[str, Any],
    ) -> None:
        arguments = ['--ros-args', '-r', f'__ns:={namespace}']
        for name, value in parameters.items():
            arguments += ['-p', f'{name}:={_yaml(value)}']
        self.process = Forked(program, arguments, domain=DOMAIN)
        self.lines: list[str] = []
        self._grown = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def says(self, pattern: str | re.Pattern[str]) -> re.Match[str]:
        """Wait for a line of its output; fails with all of it if it ends without."""
        looked = 0
        async with _bound(f'{pattern} in {self.lines}'):
            while True:
                self._grown.clear()
                for line in self.lines[looked:]:
                    if match := re.search(pattern, line):
                        return match
                looked = len(self.lines)
                if self._reading.done():
                    raise AssertionError(f'it ended without {pattern}: {self.lines}')
                await self._grown.wait()

    async def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        async with _bound(f'the end of {self.lines}'):
            await self._reading
            return await asyncio.to_thread(self.process.wait, WAIT_S)

    async def _read(self) -> None:
        with self.process.stderr as said:
            while line := await asyncio.to_thread(said.readline):
                self.lines.append(line.rstrip())
                self._grown.set()
        self._grown.set()


class Witness:
    """An independent ROS node: sees every status on the wire, and can act as another client."""

    def __init__(self, namespace: str) -> None:
        self.statuses: list[list[tuple[str, int]]] = []
        self._context = Context()
        rclpy.init(context=self._context, domain_id=DOMAIN)
        self.node = rclpy.create_node('witness', namespace=namespace, context=self._context)
        self._grown = threading.Condition()
        self._status = self.node.create_subscription(
            GoalStatusArray,
            'navigate_to_pose/_action/status',
            self._on_status,
            qos_profile_action_status_default,
        )
        self._goals = ActionClient(self.node, NavigateToPose, 'navigate_to_pose')
        self._spinner = Spinner(self.node, name='witness')

    @property
    def goal_ids(self) -> set[str]:
        """Every goal id that was ever on the wire."""
        return {goal_id for listed in self.statuses for goal_id, _ in listed}

    async def set(self, **faults: Any) -> None:
        """Set fault parameters of the simulated robot."""
        request = SetParameters.Request()
        request.parameters = [
            Parameter(f'fault.{name}', value=value).to_parameter_msg()
            for name, value in faults.items()
        ]
        answer = await self._ask(SetParameters, 'set_parameters', request)
        assert all(result.successful for result in answer.results), answer.results

    async def send_goal(self, x: float, y: float) -> str:
        """Send a goal as somebody else would, and return its id once it is accepted."""
        goal = NavigateToPose.Goal()
        goal.pose.header.frame_id = 'map'
        goal.pose.pose.position.x, goal.pose.pose.position.y = x, y
        goal.pose.pose.orientation.w = 1.0
        goal_id = uuid.uuid4()
        await asyncio.to_thread(until_there, self._goals, WAIT_S)
        await self._ask(ListParameters, 'list_parameters', ListParameters.Request())
        asked = self._goals.send_goal_async(goal, goal_uuid=UUID(uuid=list(goal_id.bytes)))
        handle = await self._answer(asked)
        assert handle.accepted
        return goal_id.hex

    async def sees(self, goal_id: str, status: int) -> None:
        """Wait until a goal has had a status on the wire."""

        def seen() -> bool:
            return any((goal_id, status) in listed for listed in self.statuses)

        def wait() -> bool:
            with self._grown:
                return self._grown.wait_for(seen, WAIT_S)

        assert await asyncio.to_thread(wait), self.statuses

    def close(self) -> None:
        """End the node and its thread."""
        self._spinner.end(WAIT_S)
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _on_status(self, message: GoalStatusArray) -> None:
        listed = [
            (bytes(item.goal_info.goal_id.uuid).hex(), item.status) for item in message.status_list
        ]
        with self._grown:
            self.statuses.append(listed)
            self._grown.notify_all()

    async def _ask(self, kind: Any, service: str, request: Any) -> Any:
        name = f'sim_robot/{service}'
        return await asyncio.to_thread(ask, self.node, kind, name, request, WAIT_S)

    async def _answer(self, asked: Any) -> Any:
        loop = asyncio.get_running_loop()
        answered = loop.create_future()
        asked.add_done_callback(
            lambda done: loop.call_soon_threadsafe(answered.set_result, done.result())
        )
        return await asyncio.wait_for(answered, WAIT_S)


class LiveRobot:
    """Both processes, the witness, and where the harness serves MCP."""

    def __init__(
        self,
        harness: Child,
        robot: Child,
        witness: Witness,
        url: str,
        journal: Path,
        namespace: str,
    ) -> None:
        self.harness = harness
        self.robot = robot
        self.witness = witness
        self.url = url
        self.journal = journal
        self.namespace = namespace


@asynccontextmanager
async def live_robot(
    journal: Path,
    *,
    harness: Mapping[str, Any] | None = None,
    robot: Mapping[str, Any] | None = None,
) -> AsyncIterator[LiveRobot]:
    """Start a robot and a harness on it; both are gone when the context is left."""
    namespace = f'/live_{uuid.uuid4().hex[:8]}'
    children: list[Child] = []
    witness = Witness(namespace)
    try:
        sim = Child(run_sim_robot, namespace, {'time_scale': 8.0, **(robot or {})})
        children.append(sim)
        given = {'journal.path': str(journal), 'mcp.port': 0, **(harness or {})}
        node = Child(run_harness, namespace, given)
        children.append(node)
        await sim.says('sim_robot ready')
        ready = await node.says(READY)
        url = ready.group(1)
        await _discovered(url)
        yield LiveRobot(node, sim, witness, url, journal, namespace)
    finally:
        witness.close()
        for child in reversed(children):
            await child.end()


async def _discovered(url: str) -> None:
    """Wait until the harness has heard of everything; a busy machine takes seconds for that."""
    async with _bound('controller, pose and odometry discovered'), Client(url) as client:
        while True:
            answer = await client.call_tool('get_world_snapshot', {})
            world = (answer.structured_content or {})['snapshot']
            heard = [world[name]['availability'] == 'available' for name in ('map_pose', 'motion')]
            if world['navigation']['controller_reachable'] and all(heard):
                return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def _bound(what: str) -> AsyncIterator[None]:
    task = asyncio.current_task()
    assert task is not None
    timer = asyncio.get_running_loop().call_later(WAIT_S, task.cancel)
    try:
        yield
    except asyncio.CancelledError:
        raise AssertionError(f'not within {WAIT_S} s: {what}') from None
    finally:
        timer.cancel()


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


EXECUTING = GoalStatus.STATUS_EXECUTING
SUCCEEDED = GoalStatus.STATUS_SUCCEEDED
ABORTED = GoalStatus.STATUS_ABORTED
