# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole core in process: a scriptable controller, a robot that is wherever the test says it
is, and virtual time. A mission of minutes runs in milliseconds, and the same way every time.

Use it inside :func:`~robot_agent_harness.testing.virtual_time.run_virtual`::

    async def scenario(path):
        async with Bench(path) as bench:
            result = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            action = await bench.outcome(result.data['action_id'])
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from pathlib import Path
from types import TracebackType
from typing import Any

from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.assembly import assemble, CONTROLLER, Core
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.llm.planner import Planner
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.result import ToolResult
from robot_agent_harness.skills.services import ServiceCaller
from robot_agent_harness.testing.fake_clock import FakeClock, SequentialIds
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2
from robot_agent_harness.world.builder import BatteryReading, WorldSnapshotBuilder
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import MapPose, Odometry

RATES_HZ = {'pose': 10.0, 'odom': 20.0, 'battery': 1.0}
OUTCOME_WAIT_S = 600.0


@dataclass(slots=True)
class BenchRobot:
    """What the robot's topics say, at the rates of a real one; every source can be stopped."""

    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Map pose: metres, radians."""
    odom: tuple[float, float, float] = (0.0, 0.0, 0.0)
    velocity: tuple[float, float] = (0.0, 0.0)
    """m/s and rad/s."""
    variance: float | None = 0.01
    battery: float | None = 0.8
    """As published; None: no battery is reported."""
    emergency_stop: bool | None = None
    pose_source: str = 'amcl_pose'
    stamp_offset_ns: dict[str, int | None] = field(default_factory=dict)
    """Per topic, what is added to a correct stamp; None: the stamp is zero."""
    stopped: set[str] = field(default_factory=set)
    """Topics that are silent."""

    def place(
        self,
        x: float,
        y: float,
        yaw: float = 0.0,
        *,
        v: tuple[float, float] = (0.0, 0.0),
        odom: tuple[float, float, float] | None = None,
    ) -> None:
        """Be somewhere from now on; odometry follows unless it is said otherwise."""
        self.pose, self.velocity = (x, y, yaw), v
        self.odom = odom or (x, y, yaw)

    def publish(self, topic: str, clock: FakeClock, builder: WorldSnapshotBuilder) -> None:
        """Publish one message, if the topic is not silent."""
        if topic in self.stopped:
            return
        if topic == 'pose':
            x, y, yaw = self.pose
            pose = MapPose(x, y, yaw, 'map', self.variance, self.variance)
            builder.observe_map_pose(self._sample(topic, pose, clock), source=self.pose_source)
        elif topic == 'odom':
            x, y, yaw = self.odom
            odometry = Odometry(x, y, yaw, 'odom', abs(self.velocity[0]), self.velocity[1])
            builder.observe_odometry(self._sample(topic, odometry, clock))
        elif self.battery is not None:
            reading = BatteryReading(self.battery, math.nan, False)
            builder.observe_battery(self._sample(topic, reading, clock))
        if self.emergency_stop is not None and topic == 'battery':
            stop = Sample(self.emergency_stop, None, clock.monotonic_ns(), clock.ros_ns())
            builder.observe_emergency_stop(stop)

    def _sample(self, topic: str, value: Any, clock: FakeClock) -> Sample[Any]:
        offset = self.stamp_offset_ns.get(topic, 0)
        stamp = 0 if offset is None else clock.ros_ns() + offset
        return Sample(value, stamp, clock.monotonic_ns(), clock.ros_ns())


class Bench:
    """An async context: the core is assembled and active inside it, and its journal closed
    after.
    """

    def __init__(
        self,
        journal_path: Path,
        *,
        parameters: Mapping[str, Any] | None = None,
        model: ModelClient | None = None,
        planner: Planner | None = None,
        nav2: ScriptableNav2 | None = None,
        others: Mapping[str, ScriptableNav2] | None = None,
        services: ServiceCaller | None = None,
        robot: BenchRobot | None = None,
    ) -> None:
        self._path = journal_path
        self._parameters = check_parameters(parameters or {})
        self._model = model
        self._planner = planner
        self.nav2 = nav2 or ScriptableNav2()
        self._services = services
        self.others = dict(others or {})
        """The servers of further actions, by name."""
        self.robot = robot or BenchRobot()
        self.core: Core
        self.clock: FakeClock
        self._publishers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Bench:
        """Assemble the core, start the robot's topics and let them be heard once."""
        self.clock = FakeClock(monotonic=asyncio.get_running_loop().time)
        self.core = assemble(
            self._parameters,
            clock=self.clock,
            ids=SequentialIds(),
            journal=MissionJournal.open(self._path, clock=self.clock, inline=True),
            controllers={CONTROLLER: self.nav2, **self.others},
            services=self._services,
            model=self._model,
            planner=self._planner,
        )
        self.core.dispatcher.active = True
        for topic, rate_hz in RATES_HZ.items():
            self._publishers.append(asyncio.create_task(self._publish(topic, 1.0 / rate_hz)))
        await asyncio.sleep(1.0)
        self.core.harness.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the core as a node does."""
        for publisher in self._publishers:
            publisher.cancel()
        await asyncio.gather(*self._publishers, return_exceptions=True)
        await self.core.close(cancel_running=True)

    async def call(self, name: str, arguments: Any, **context: Any) -> ToolResult:
        """Call a tool as a client does; the arguments of CallContext may be given by name."""
        return await self.core.dispatcher.call(name, arguments, CallContext(**context))

    async def outcome(self, action_id: str, *, within_s: float = OUTCOME_WAIT_S) -> RobotAction:
        """Wait for an action's outcome.

        :raises TimeoutError: it has none in time.
        """
        action = await self.core.tracker.wait(action_id, within_s)
        if action is None or not action.state.terminal:
            raise TimeoutError(f'action {action_id} has no outcome after {within_s} s')
        return action

    async def _publish(self, topic: str, period_s: float) -> None:
        while True:
            self.robot.publish(topic, self.clock, self.core.builder)
            await asyncio.sleep(period_s)
