# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness as a managed lifecycle node.

    unconfigured --configure--> inactive --activate--> active
                                journal open, topics    MCP served, missions and physical
                                and actions followed    calls taken

A deactivated harness still follows what it has started. The node runs in any single-threaded
executor; its transitions are called there and hand over to the asyncio loop that it was given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
import logging
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from robot_agent_harness.errors import ConfigurationError, HarnessError
from robot_agent_harness.parameters import change_parameters
from robot_agent_harness.ros.diagnostics import Diagnostics, ERROR, Finding, OK, PERIOD_S, WARN
from robot_agent_harness.ros.node_parameters import (
    declare_parameters,
    NODE_NAME,
    OF_EVERY_NODE,
)
from robot_agent_harness.ros.publications import every
from robot_agent_harness.ros.ros_clock import RosClock
from robot_agent_harness.ros.session import HarnessSession, McpTransport
from robot_agent_harness.ros.threads import on_loop

logger = logging.getLogger(__name__)


class HarnessNode(LifecycleNode):
    """The node; what it does is in its session, which lives from configure to cleanup.

    :param loop: a running asyncio loop on another thread than the executor's.
    :param mcp_stdio: MCP is served on standard input and output, by whoever made the node.
    :param on_finalized: called on the rclpy thread once the node cannot be used any more; who
        gives it closes and destroys the session. Without it the shutdown transition does.
    :raises ConfigurationError: a parameter is unknown or not allowed.
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        mcp_stdio: bool = False,
        on_finalized: Callable[[], object] | None = None,
        **node_arguments: Any,
    ) -> None:
        super().__init__(
            NODE_NAME, automatically_declare_parameters_from_overrides=True, **node_arguments
        )
        try:
            self.values = declare_parameters(self)
        except BaseException:
            super().destroy_node()  # or others would go on seeing its services
            raise
        self.session: HarnessSession | None = None
        self._leaving: HarnessSession | None = None
        self.failure: str | None = None
        """Why the last transition failed, in one line."""
        self.says_failures = True
        """Whether failures are logged; off for one who tells of them in a better way."""
        self._loop = loop
        self._mcp: McpTransport | None = 'http' if self.values['mcp.enabled'] else None
        if mcp_stdio:
            self._mcp = 'stdio'
        self._on_finalized = on_finalized
        self._failed: str | None = None
        diagnostics = Diagnostics(
            self,
            clock=RosClock(self.get_clock()),
            hardware_id=str(self.values['robot_id']),
            look=self._findings,
        )
        self._publishing = asyncio.run_coroutine_threadsafe(
            every(PERIOD_S, diagnostics.publish), loop
        )

    def destroy_node(self) -> None:
        """Publish nothing any more, and withdraw from the graph."""
        self._publishing.cancel()
        super().destroy_node()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the journal and follow the robot."""

        def configure() -> None:
            self.session = HarnessSession(self, self.values, loop=self._loop, mcp=self._mcp)

        return self._transition('configure', configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Serve MCP and take physical work."""
        return self._transition('activate', lambda: on_loop(self._loop, self._held.activate()))

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Refuse new physical work; follow what is under way."""
        return self._transition('deactivate', lambda: on_loop(self._loop, self._held.deactivate()))

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the journal and let go of everything."""
        return self._transition('cleanup', self._close)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Do the same, for good; the process closes things itself, with ROS still at work."""
        if self._on_finalized is None:
            return self._transition('shutdown', self._close)
        result = self._transition('shutdown', self._retire)
        self._on_finalized()
        return result

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to unconfigured after a fault in a transition, with nothing left open."""
        why = self.failure, self._failed
        result = self._transition('error processing', self._close)
        if self.failure is None:
            self.failure, self._failed = why  # what brought it here is what people must know
        return result

    def set_parameters(self, parameter_list: list[Parameter[Any]]) -> list[SetParametersResult]:
        """Change parameters one by one; what the services and rclpy's own method come to."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(
        self, parameter_list: list[Parameter[Any]]
    ) -> SetParametersResult:
        """Change all of the parameters or none, and have the changes count before they are told.

        The table judges, before rclpy does: its reasons name what is allowed.
        """
        try:
            given = self._of_the_table({p.name: p.value for p in parameter_list})
            values = change_parameters(self.values, given)
            changed = {name: values[name] for name in given if values[name] != self.values[name]}
            if changed and self.session is not None:
                self.session.retune(values, changed)
        except HarnessError as error:
            return SetParametersResult(successful=False, reason=' '.join(str(error).split()))
        self.values = values
        if not changed:
            return SetParametersResult(successful=True)
        return super().set_parameters_atomically(
            [Parameter(name, value=value) for name, value in changed.items()]
        )

    def _of_the_table(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return what the table judges; what every node has may be given the value that it has.

        :raises ConfigurationError: it is another one.
        """
        for name in OF_EVERY_NODE:
            if name in given and given[name] != self.get_parameter(name).value:
                raise ConfigurationError(
                    f'parameter {name}: it cannot be changed while the node runs: the node was'
                    ' made with it'
                )
        return {name: value for name, value in given.items() if name not in OF_EVERY_NODE}

    @property
    def _held(self) -> HarnessSession:
        if self.session is None:
            raise HarnessError('the node is not configured')
        return self.session

    def _close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            self._leaving = session
            on_loop(self._loop, session.close())
            self._leaving = None
            # After two rounds of the executor's: the first ends the mission's goal, the second
            # tells whoever asked for it.
            later = self.executor.create_task
            later(lambda: later(session.destroy))

    async def end_sessions(self) -> None:
        """Close the session, and wait for one that a transition closes already; on the loop."""
        for session in (self._leaving, self.session):
            if session is not None:
                await session.close()

    def _retire(self) -> None:
        if self.session is not None:
            on_loop(self._loop, self.session.deactivate())

    def _findings(self) -> Mapping[str, Finding]:
        """Return what is so now; on the loop."""
        session = self.session
        if session is None:
            return {'lifecycle': self._lifecycle('unconfigured', {})}
        mission = {'mission': session.core.harness.mission_id}
        lifecycle = self._lifecycle(session.readiness, mission)
        return {'lifecycle': lifecycle, **session.health.findings()}

    def _lifecycle(self, why_not: str | None, values: dict[str, Any]) -> Finding:
        if self._failed is not None:
            # Somebody wants more of the node than it can do; what that is comes first.
            return ERROR, f'{self._failed} (now {why_not or "active"})', values
        return (OK, 'active', values) if why_not is None else (WARN, why_not, values)

    def _transition(self, name: str, act: Callable[[], object]) -> TransitionCallbackReturn:
        """Carry a transition out; rclpy itself would swallow an exception without a word."""
        self.failure = self._failed = None
        try:
            act()
        except HarnessError as error:
            self.failure = ' '.join(str(error).split())
            self._failed = f'{name} failed: {self.failure}'
            if self.says_failures:
                logger.error('%s failed: %s', name, self.failure)
            return TransitionCallbackReturn.FAILURE
        except Exception as error:
            self.failure = self._failed = f'{name} failed: {error!r}'
            logger.exception('%s failed', name)
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS
