# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""HarnessSession: all that exists from the node's configuration to its clean-up.

Made and taken apart on the rclpy thread, which makes and destroys ROS entities; everything else
of it lives on the loop. The rclpy thread may wait for the loop, briefly; the loop never waits for
the rclpy thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
import contextlib
import logging
import os
from pathlib import Path
from typing import Any, Literal, TYPE_CHECKING, TypeAlias

from rclpy.node import Node
from std_msgs.msg import String

from robot_agent_harness.actions.lifecycle import ActionState, RobotAction
from robot_agent_harness.assembly import assemble, CONTROLLER, Core, retune, skills_of
from robot_agent_harness.clock import RandomIds
from robot_agent_harness.errors import ConfigurationError, HarnessError, JournalError
from robot_agent_harness.extras import check_metrics, missing_library
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.llm.factory import make_client, ModelSettings
from robot_agent_harness.parameters import Value
from robot_agent_harness.recovery import adopt, find, Found, LeftOpen, recover
from robot_agent_harness.redaction import shared_redactor
from robot_agent_harness.ros.action_client import ActionClients
from robot_agent_harness.ros.health import Health
from robot_agent_harness.ros.lean_mcp import without_cryptography
from robot_agent_harness.ros.mission_server import DEACTIVATED, INTERRUPTED, MissionServer
from robot_agent_harness.ros.publications import every, Publications, SNAPSHOT_PERIOD_S
from robot_agent_harness.ros.qos_watch import QosWatch
from robot_agent_harness.ros.quiet import QUIET_SUBSCRIPTION
from robot_agent_harness.ros.ros_clock import RosClock
from robot_agent_harness.ros.service_clients import ServiceClients
from robot_agent_harness.ros.skill_interfaces import check_interfaces
from robot_agent_harness.ros.start_checks import check_start
from robot_agent_harness.ros.threads import on_loop
from robot_agent_harness.ros.world_sources import WorldSources
from robot_agent_harness.world.salient import Salient
from robot_agent_harness.world.snapshot import Availability, WorldSnapshot

if TYPE_CHECKING:
    from robot_agent_harness.mcp_server import McpServer, McpSettings
    from robot_agent_harness.mcp_server.pages import MetricsPage

logger = logging.getLogger(__name__)

McpTransport: TypeAlias = Literal['http', 'stdio']

CLOSE_S = 3.5
"""The longest that closing takes, whatever hangs: Ctrl-C must end the process within 5 s."""
CANCEL_LEAVES_S = 0.5
"""How long closing waits for the controller's answer to a last cancel request."""
MISSED_S = 10.0
"""How long a robot may take to be heard: discovery on a slow network, and topics at 1 Hz."""
HUMAN_DEPTH = 10
HUMAN_TEXT_MAX = 4000
"""Characters of a human message that the model is shown."""


class HarnessSession:
    """The core with its ROS and MCP surroundings.

    :param mcp: how MCP is served; None: not at all.
    :raises HarnessError: something that the parameters name cannot be used; nothing stays open.
    """

    def __init__(
        self,
        node: Node,
        parameters: Mapping[str, Value],
        *,
        loop: asyncio.AbstractEventLoop,
        mcp: McpTransport | None,
    ) -> None:
        if parameters['metrics.enabled']:
            check_metrics(served=mcp == 'http')
        self._node = node
        self._parameters = parameters
        self._loop = loop
        self._clock = RosClock(node.get_clock())
        self._accepting = False
        self._why_not = 'inactive'
        self._recovery: asyncio.Task[Any] | None = None
        self._activation: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._mcp_transport = mcp
        self._mcp_serving = False
        self.mcp: McpServer | None = None
        """The MCP server, where one is wanted; over stdio, whoever made the session runs it."""
        with contextlib.ExitStack() as undo:
            self._registry = skills_of(parameters)
            check_interfaces(self._registry.all)
            # Not on the loop, which an SDK's import would hold for seconds on a busy machine.
            self.model = self._make_model()
            settings = None if mcp is None else self._make_mcp_settings()
            check_start(parameters, settings if mcp == 'http' else None)
            journal = on_loop(loop, self._open_journal())
            undo.callback(lambda: on_loop(loop, journal.close()))
            found = find(journal.path)
            # Also an action of which no skill is left: its goal may still run.
            followed = found.followed(self._registry.actions)
            self._actions = ActionClients(node, followed, clock=self._clock, loop=loop)
            undo.callback(self._actions.close)
            self._services = ServiceClients(
                node, self._registry.services, clock=self._clock, loop=loop
            )
            undo.callback(self._services.close)
            self.core = on_loop(loop, self._make_core(journal))
            undo.callback(lambda: on_loop(loop, self.core.close(cancel_running=False)))
            self._left_open = on_loop(loop, self._adopt(found))
            self.core.tracker.on_change(self._log_change)
            if settings is not None:
                self.mcp = self._make_mcp(settings)
            self._make_topics()
            on_loop(loop, self._begin())
            undo.pop_all()

    @property
    def readiness(self) -> str | None:
        """Why managed calls are refused; None while they are taken."""
        return None if self._accepting else self._why_not

    @property
    def _endpoint(self) -> str | None:
        return self.mcp.url if self.mcp is not None and self._mcp_serving else None

    # -- transitions, on the loop ----------------------------------------------------------------

    async def activate(self) -> None:
        """Serve MCP, watch, and take physical work once what an earlier run left is closed.

        MCP is served while inactive as well; then its access tokens are read again.

        :raises ConfigurationError: MCP cannot be served where the parameters say.
        """
        if self._recovery is None:
            # Begun first: what is open now is an earlier run's, and no client can add to it yet.
            # Once, and to its end whatever becomes of this activation: it cannot be done twice.
            self._recovery = asyncio.create_task(recover(self.core, self._left_open))
        if self.mcp and self._mcp_transport == 'http':
            if self._mcp_serving:
                self.mcp.renew_tokens()
            else:
                await self.mcp.start()
                self._mcp_serving = True
        self.core.harness.start()
        self._why_not = 'recovering what an earlier run left open'
        # Not awaited: recovery asks the controller, and its answers come through the rclpy thread,
        # which is waiting for this.
        self._activation = asyncio.create_task(self._accept(self._recovery), name='activation')

    async def activated(self) -> None:
        """Wait until an activation is complete."""
        if self._activation is not None:
            await asyncio.wait({self._activation})

    async def deactivate(self) -> None:
        """Refuse new physical work and end the mission; actions under way are still followed."""
        if self._activation is not None:
            self._activation.cancel()
        self._refuse('inactive')
        self._missions.end_mission(DEACTIVATED)

    async def close(self) -> None:
        """End everything within `CLOSE_S`; the journal is closed last. Once, however often it is
        asked for.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name='closing')
        _, late = await asyncio.wait({self._closing}, timeout=CLOSE_S)
        if late:
            logger.error('closing takes longer than %g s; ending without the rest', CLOSE_S)
        else:
            self._closing.result()

    def retune(self, parameters: Mapping[str, Value], changed: Mapping[str, Value]) -> None:
        """Have changed parameters count; on the rclpy thread.

        :param parameters: all of them, checked.
        :param changed: those that are new.
        :raises HarnessError: the loop is too busy; nothing is changed.
        """
        on_loop(self._loop, self._retune(parameters, changed))

    async def _retune(self, parameters: Mapping[str, Value], changed: Mapping[str, Value]) -> None:
        retune(self.core, parameters, changed)
        self._parameters = parameters
        self.health.battery_low_fraction = float(parameters['battery.low_fraction'])
        told = ', '.join(f'{name} = {value!r}' for name, value in changed.items())
        logger.info('parameters changed: %s', told)

    def destroy(self) -> None:
        """Withdraw all ROS entities; on the rclpy thread, or once it has ended."""
        self._missions.close()
        self._publications.close()
        self._sources.close()
        self._actions.close()
        self._services.close()
        self._node.destroy_subscription(self._human)

    # -- parts -----------------------------------------------------------------------------------

    def _make_model(self) -> ModelClient | None:
        p = self._parameters
        return make_client(
            ModelSettings.from_parameters(p), os.environ, own_journal=str(p['journal.path'])
        )

    async def _open_journal(self) -> MissionJournal:
        p = self._parameters
        try:
            return MissionJournal.open(
                str(p['journal.path']),
                clock=self._clock,
                synchronous='normal' if p['journal.synchronous'] == 'normal' else 'full',
                rotate_mib=int(p['journal.rotate_mib']),
                rotate_days=float(p['journal.rotate_days']),
            )
        except JournalError as error:
            raise ConfigurationError(f'parameter journal.path: {error}') from error

    async def _make_core(self, journal: MissionJournal) -> Core:
        return assemble(
            self._parameters,
            clock=self._clock,
            ids=RandomIds(),
            journal=journal,
            registry=self._registry,
            controllers=self._actions.controllers,
            services=self._services,
            model=self.model,
            use_sim_time=bool(self._node.get_parameter('use_sim_time').value),
        )

    def _make_mcp_settings(self) -> McpSettings:
        # Here, since it is a fifth of the process: a node that does not serve MCP goes without.
        try:
            with without_cryptography():
                from robot_agent_harness.mcp_server import McpSettings
        except ImportError as error:
            raise missing_library(error) or error from error

        p = self._parameters
        token_file = str(p['mcp.token_file'])
        return McpSettings(
            host=str(p['mcp.host']),
            port=int(p['mcp.port']),
            token_file=Path(token_file) if token_file else None,
            max_requests_per_s=float(p['mcp.max_requests_per_s']),
        )

    def _make_mcp(self, settings: McpSettings) -> McpServer:
        from robot_agent_harness.mcp_server import McpServer

        core, p = self.core, self._parameters
        pages: dict[str, Any] = dict(self._make_metrics_page()) if p['metrics.enabled'] else {}
        shell: dict[str, Any] = {}
        if p['dashboard.enabled'] and self._mcp_transport == 'http':
            from robot_agent_harness.dashboard import Dashboard

            dashboard = Dashboard(core, clock=self._clock, redactor=shared_redactor())
            pages.update(dashboard.pages)
            shell.update(dashboard.shell)
        return McpServer(
            core=core,
            settings=settings,
            mission_id=lambda: core.harness.mission_id,
            redactor=shared_redactor(),
            pages=pages,
            shell=shell,
        )

    def _make_metrics_page(self) -> Mapping[str, MetricsPage]:
        from robot_agent_harness.mcp_server.pages import METRICS, MetricsPage
        from robot_agent_harness.metrics import Metrics

        tools = [skill.name for skill in self.core.registry.all]
        metrics = Metrics(self.core.journal, clock=self._clock, tools=tools)
        return {METRICS: MetricsPage(metrics.render)}

    @staticmethod
    def _log_change(action: RobotAction) -> None:
        """Tell whoever watches the log what the robot is doing for us."""
        state, outcome = action.state, action.outcome
        if outcome is not None:
            why = outcome.evidence.get('why', '')
            told = f'{state.value} ({outcome.reason.value}): {why}'
            logger.info('action %s %s %s', action.action_id, action.skill, told)
        elif state in (ActionState.REQUESTED, ActionState.VERIFYING):
            logger.info('action %s %s %s', action.action_id, action.skill, state.value)

    def _make_topics(self) -> None:
        node, p = self._node, self._parameters
        self._sources = WorldSources(
            node,
            self.core.builder,
            clock=self._clock,
            global_frame=str(p['global_frame']),
            base_frame=str(p['base_frame']),
        )
        self._publications = Publications(node, self.core, clock=self._clock)
        self.health = Health(
            self.core,
            clock=self._clock,
            battery_low_fraction=float(p['battery.low_fraction']),
            model=self.model,
            endpoint=lambda: self._endpoint,
            mismatches=QosWatch(node).look,
        )
        self._missions = MissionServer(node, self.core, loop=self._loop, refusal=self._refusal)
        self._human = node.create_subscription(
            String,
            '~/human_message',
            self._on_human_message,
            HUMAN_DEPTH,
            event_callbacks=QUIET_SUBSCRIPTION,
        )

    async def _begin(self) -> None:
        snapshots = every(SNAPSHOT_PERIOD_S, self._publications.publish_snapshot)
        self._tasks.append(asyncio.create_task(snapshots))
        self._tasks.append(asyncio.create_task(self._miss_the_robot()))

    async def _miss_the_robot(self) -> None:
        """Say once what is still missing when a robot that is there would have been heard."""
        await asyncio.sleep(MISSED_S)
        missing = missing_of_the_robot(self.core.observer.peek())
        if self._node.get_parameter('use_sim_time').value and not self._clock.ros_ns():
            missing.append('/clock')
        if missing:
            logger.warning(
                'nothing heard within %g s of %s; `robot-agent-harness doctor` with the same'
                ' --ros-args says what is there and what to do',
                MISSED_S,
                ', '.join(self._node.resolve_topic_name(name) for name in missing),
            )

    async def _adopt(self, found: Found) -> LeftOpen:
        return adopt(self.core, found)

    async def _accept(self, recovery: asyncio.Task[Any]) -> None:
        try:
            await asyncio.shield(recovery)
        except Exception as error:
            # Fail closed: with an earlier run's work open, nothing new may move the robot.
            why = f'recovery failed: {" ".join(str(error).split())}; clean up, configure, activate'
            logger.error(
                'no physical work is taken: %s', why, exc_info=not isinstance(error, HarnessError)
            )
            self._refuse(why)
            return
        self.core.dispatcher.active = self._accepting = True
        where = f'MCP at {self._endpoint}' if self._endpoint else 'MCP over HTTP not served'
        model = f'{self.model.provider} {self.model.model or ""}'.strip() if self.model else 'none'
        logger.info('ready: %s, journal %s, model %s', where, self.core.journal.path, model)

    def _refuse(self, why: str) -> None:
        self.core.dispatcher.active = self._accepting = False
        self._why_not = why

    async def _close(self) -> None:
        cancel_running = bool(self._parameters['navigation.cancel_on_timeout'])
        self.core.states.closing(cancel_running=cancel_running)
        self._refuse('closing')
        if self._activation is not None:
            self._activation.cancel()
        if self._recovery is not None:
            self._recovery.cancel()
        for task in self._tasks:
            task.cancel()
        # It ends when its action has, which the core sees to.
        self._missions.end_mission(INTERRUPTED)
        # Calls under way get their results while there is somebody to bring them to the clients.
        await self.core.dispatcher.close()
        if self.mcp is not None and self._mcp_serving:
            self._mcp_serving = False
            try:
                await self.mcp.stop()
            except Exception as error:
                # What is left must be closed whatever becomes of the clients.
                logger.error('closing: %r', error)
        # After the calls nobody may note anything more: the journal closes.
        self._actions.mute()
        self._services.mute()
        await self.core.close(cancel_running=cancel_running)
        await self._missions.stop()
        await self._actions.drain(CANCEL_LEAVES_S)

    # -- what others ask or say ------------------------------------------------------------------

    def _refusal(self) -> str | None:
        if self.model is None:
            return 'no model decides here: set model.provider'
        if self.core.harness.mission_id is not None:
            return f'mission {self.core.harness.mission_id} is under way'
        return self.readiness

    def _on_human_message(self, message: String) -> None:
        text = message.data.strip()
        if not text:
            return
        if len(text) > HUMAN_TEXT_MAX:
            text = f'{text[:HUMAN_TEXT_MAX]} [the rest was left out]'
        self._loop.call_soon_threadsafe(self._hear, text)

    def _hear(self, text: str) -> None:
        try:
            self.core.harness.notify(Salient('human_message', text))
        except JournalError as error:
            logger.warning('a human message was not recorded: %s', error)


def missing_of_the_robot(world: WorldSnapshot) -> list[str]:
    """Return the topics and actions that nothing was ever heard of and a mission cannot do
    without.
    """
    navigation = world.navigation.value
    missing = {
        'odom': world.odometry.availability is Availability.MISSING,
        'amcl_pose': world.map_pose.availability is Availability.MISSING,
        CONTROLLER: navigation is None or not navigation.controller_reachable,
    }
    return [name for name, is_missing in missing.items() if is_missing]
