# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Tells the clients that listen when a resource has changed.

In revision 2026-07-28 a client listens on a stream of its own (`subscriptions/listen`); in earlier
ones it subscribes to a URI and hears of it on its session's stream. What is told is the URI alone:
a client that was not reached reads it again, and has missed nothing.

The list of tools changes when a server of the robot comes or goes whose skills are offered only
with it: sessions that have asked for the list are told, and streams that want to hear of it.

An action's resource changes with its state and, while it runs, with its feedback, at most once a
second. The world changes all the time, and is told of where it matters: when an action takes a
step, and when something salient was noticed; again at most once a second.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
import logging

import anyio
from mcp.server.session import ServerSession
from mcp.shared.subscriptions import ResourceUpdated, ServerEvent, ToolsListChanged

from robot_agent_harness.actions.lifecycle import ActionState, RobotAction

logger = logging.getLogger(__name__)

LATEST_URI = 'robot://world/latest'
ACTION_URI = 'robot://actions/'
TOOLS = 'tools'
"""Stands for the list of tools, which is no resource."""
WORLD_PERIOD_S = 1.0
"""The world is told of at most this often."""
URIS_MAX = 64
"""Resources that one session can be subscribed to; the oldest gives way."""
_WATCHED = 'robot_agent_harness.updates'
"""Marks a session whose end takes its subscriptions back."""
SEND_S = 1.0
"""How long a notification may wait for a session that does not read."""


@dataclass(slots=True)
class _Subscriber:
    """A session of an earlier revision."""

    session: ServerSession
    uris: OrderedDict[str, None] = field(default_factory=OrderedDict)
    waiting: dict[str, None] = field(default_factory=dict)
    """What it is still to be told of."""
    telling: asyncio.Task[None] | None = None


class Updates:
    """Who listens, and the way to them; a `SubscriptionBus` of the SDK."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}
        self._subscribers: dict[Hashable, _Subscriber] = {}
        """As many as there are sessions, which are bounded themselves."""
        self._states: dict[str, ActionState] = {}
        self._world_due_s = 0.0
        self._world_timer: asyncio.TimerHandle | None = None

    # -- what changes ----------------------------------------------------------------------------

    def action_changed(self, action: RobotAction) -> None:
        """Tell of an action; a step of it has changed the world as well."""
        self._tell(ACTION_URI + action.action_id)
        if self._states.get(action.action_id) is not action.state:
            self._states[action.action_id] = action.state
            self.world_changed()
        if action.state.terminal:
            del self._states[action.action_id]

    def world_changed(self) -> None:
        """Tell of the world, now or as soon as it may be told of again."""
        if self._world_timer is not None or not (self._listeners or self._subscribers):
            return
        loop = asyncio.get_running_loop()
        self._world_timer = loop.call_at(max(loop.time(), self._world_due_s), self._tell_world)

    def _tell_world(self) -> None:
        self._world_timer = None
        self._world_due_s = asyncio.get_running_loop().time() + WORLD_PERIOD_S
        self._tell(LATEST_URI)

    def tools_changed(self) -> None:
        """Tell that other tools are offered than before."""
        self._tell(TOOLS)

    def _tell(self, uri: str) -> None:
        event = ToolsListChanged() if uri == TOOLS else ResourceUpdated(uri=uri)
        for listener in tuple(self._listeners.values()):
            listener(event)
        for key, subscriber in tuple(self._subscribers.items()):
            if uri in subscriber.uris:
                subscriber.waiting[uri] = None
                if subscriber.telling is None:
                    telling = asyncio.get_running_loop().create_task(self._reach(key, subscriber))
                    subscriber.telling = telling

    async def _reach(self, key: Hashable, subscriber: _Subscriber) -> None:
        """Tell one session all that waits for it; one that does not read is let go."""
        while subscriber.waiting:
            uri = next(iter(subscriber.waiting))
            del subscriber.waiting[uri]
            with anyio.move_on_after(SEND_S) as scope:
                if uri == TOOLS:
                    await subscriber.session.send_tool_list_changed()
                else:
                    await subscriber.session.send_resource_updated(uri)
            if scope.cancelled_caught:
                logger.info('a client that does not read is told of no more changes')
                self._subscribers.pop(key, None)
                break
        subscriber.telling = None

    # -- who listens -----------------------------------------------------------------------------

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Let a stream of 2026-07-28 hear every event; it filters. Returns how to stop."""
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Tell the streams of an event; the SDK's seam, which nothing of ours calls."""
        for listener in tuple(self._listeners.values()):
            listener(event)

    def add(self, key: Hashable, session: ServerSession, uri: str) -> None:
        """Subscribe a session of an earlier revision to a resource, until it ends."""
        connection = session._connection
        if _WATCHED not in connection.state:
            connection.state[_WATCHED] = True  # once a session, however often it comes and goes
            connection.exit_stack.callback(self._subscribers.pop, key, None)
        subscriber = self._subscribers.setdefault(key, _Subscriber(session))
        subscriber.uris[uri] = None
        while len(subscriber.uris) > URIS_MAX:
            subscriber.uris.popitem(last=False)

    def remove(self, key: Hashable, uri: str) -> None:
        """Take the subscription back; without one nothing happens."""
        subscriber = self._subscribers.get(key)
        if subscriber is None:
            return
        subscriber.uris.pop(uri, None)
        if not subscriber.uris:
            del self._subscribers[key]

    async def close(self) -> None:
        """Let everybody go who listens now."""
        if self._world_timer is not None:
            self._world_timer.cancel()
            self._world_timer = None
        telling = [s.telling for s in self._subscribers.values() if s.telling is not None]
        for task in telling:
            task.cancel()
        await asyncio.gather(*telling, return_exceptions=True)
        self._subscribers.clear()
