# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots, actions and events as MCP resources: JSON, bounded, by the URIs of the contract."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
import json
import re
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote

from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, Resource, ResourceTemplate

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.errors import JournalError
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.mcp_server.history import History
from robot_agent_harness.mcp_server.updates import ACTION_URI, LATEST_URI
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.skills.observation import describe
from robot_agent_harness.world.projection import project
from robot_agent_harness.world.snapshot import WorldSnapshot

T = TypeVar('T')

JSON_TYPE = 'application/json'
EVENTS_PER_READ = 100
EVENTS_PER_READ_MAX = 1000
_SEQ_MAX = 2**63 - 1
_URI = re.compile(
    r'robot://(?:(?P<kind>snapshots|actions)/(?P<id>[^/?#\ud800-\udfff]{1,512})'
    r'|missions/(?P<mission>[^/?#\ud800-\udfff]{1,512})/events(?:\?(?P<query>[^#]*))?)'
)
"""All that is there but the latest world. Not split by the rules for URLs, which know hosts, ports
and addresses in brackets, and fail on what looks like one."""

LATEST = Resource(
    uri=LATEST_URI,
    name='world_latest',
    title='The world now',
    description='A snapshot taken at the moment of reading. Later calls of the same client are'
    ' held against it.',
    mime_type=JSON_TYPE,
)
TEMPLATES = [
    ResourceTemplate(
        uri_template='robot://snapshots/{snapshot_id}',
        name='snapshot',
        title='A snapshot',
        description='A snapshot by its id: any recent one, and older ones that a decision, a check'
        ' or an outcome rests on.',
        mime_type=JSON_TYPE,
    ),
    ResourceTemplate(
        uri_template='robot://actions/{action_id}',
        name='action',
        title='An action',
        description='State, outcome and evidence of an action, however old.',
        mime_type=JSON_TYPE,
    ),
    ResourceTemplate(
        uri_template='robot://missions/{mission_id}/events',
        name='mission_events',
        title="A mission's events",
        description='What the journal holds of a mission, oldest first. ?after=SEQ&limit=N pages; '
        'next_after is null at the end.',
        mime_type=JSON_TYPE,
    ),
]


@dataclass(frozen=True, slots=True)
class ResourceText:
    """What a read returned."""

    text: str
    snapshot_id: str | None = None
    """The snapshot that it holds, if it holds one."""


class Resources:
    """Reads resources by URI."""

    def __init__(
        self,
        *,
        observer: WorldObserver,
        board: ActionBoard,
        history: History,
        mission_id: Callable[[], str | None],
        redactor: Redactor,
        max_bytes: int,
    ) -> None:
        self._observer = observer
        self._board = board
        self._history = history
        self._mission_id = mission_id
        self._redactor = redactor
        self._max_bytes = max_bytes

    def changing(self, uri: str) -> str:
        """Return the URI of a resource whose changes are told of.

        :raises MCPError: it never changes, or does not exist.
        """
        if uri == LATEST.uri or re.fullmatch(f'{re.escape(ACTION_URI)}[0-9a-f]{{32}}', uri):
            return uri
        raise _not_found(uri, f'changes are told of {LATEST.uri} and of {ACTION_URI}{{action_id}}')

    async def read(self, uri: str) -> ResourceText:
        """Return a resource.

        :raises MCPError: there is no such resource.
        """
        if uri == LATEST.uri:
            return self._snapshot(self._observer.capture(self._mission_id()))
        named = _URI.fullmatch(uri)
        if named is None:
            raise _not_found(uri, 'there is no such resource')
        if named['mission'] is not None:
            return await self._events(uri, unquote(named['mission']), named['query'] or '')
        name = unquote(named['id'])
        if named['kind'] == 'actions':
            return ResourceText(self._bounded(await self._action(uri, name)))
        snapshot = self._observer.store.get(name)
        if snapshot is not None:
            return self._snapshot(snapshot)
        recorded = await self._known(uri, self._history.snapshot(name))
        if recorded is None:
            raise _not_found(uri, 'no such snapshot, or one that nothing was decided on')
        return ResourceText(self._bounded(self._redactor.value(recorded)))

    async def _action(self, uri: str, action_id: str) -> dict[str, Any]:
        """Return an action as it is in memory, or as the journal has it."""
        action = self._board.get(action_id)
        if action is None:
            record = await self._known(uri, self._history.action(action_id))
            if record is None:
                raise _not_found(uri, 'no such action')
            action = record.action
        known = {**describe(action), 'mission_id': action.mission_id}
        clean: dict[str, Any] = self._redactor.value(known, scope=action.tool_call_id)
        return clean

    async def _known(self, uri: str, reading: Coroutine[Any, Any, T]) -> T:
        """Return what the journal knows.

        :raises MCPError: it cannot be read.
        """
        try:
            return await reading
        except JournalError as error:
            raise MCPError(INTERNAL_ERROR, f'{uri[:512]}: {error}') from error

    def _snapshot(self, snapshot: WorldSnapshot) -> ResourceText:
        text = _json(self._redactor.value(snapshot.to_dict()))
        if len(text) > self._max_bytes:
            text = self._redactor.text(project(snapshot, max_bytes=self._max_bytes).text)
        return ResourceText(text, snapshot.snapshot_id)

    async def _events(self, uri: str, mission_id: str, query: str) -> ResourceText:
        asked = dict(parse_qsl(query, keep_blank_values=True))
        after = _number(uri, asked.pop('after', '0'), 0, _SEQ_MAX)
        limit = _number(uri, asked.pop('limit', str(EVENTS_PER_READ)), 1, EVENTS_PER_READ_MAX)
        if asked:
            raise _not_found(uri, 'an event list takes after and limit only')
        reading = self._history.events(mission_id, after_seq=after, limit=limit)
        events = await self._known(uri, reading)
        if not events and after == 0:
            raise _not_found(uri, 'the journal knows no such mission')
        return ResourceText(self._page(mission_id, events, limit))

    def _page(self, mission_id: str, events: list[dict[str, Any]], limit: int) -> str:
        """Return as many events as fit; one that alone is too large keeps all but its payload."""
        texts: list[str] = []
        used = 256 + 6 * len(mission_id)
        for event in events:
            text = _json(event)
            if len(text) > self._max_bytes // 2:
                note = f'left out: {len(text)} bytes; read it with robot-agent-harness journal'
                text = _json({**event, 'payload': {'omitted': note}})
            if used + len(text) > self._max_bytes and texts:
                break
            texts.append(text)
            used += len(text) + 1
        more = len(texts) < len(events) or len(events) == limit
        next_after = events[len(texts) - 1].get('seq') if more and texts else None
        head = _json({'mission_id': mission_id, 'next_after': next_after})
        return f'{head[:-1]},"events":[{",".join(texts)}]}}'

    def _bounded(self, known: dict[str, Any]) -> str:
        text = _json(known)
        if len(text) > self._max_bytes:
            small = {key: value for key, value in known.items() if len(_json(value)) < 1024}
            text = _json({**small, 'omitted': sorted(known.keys() - small.keys())})
        return text


def _json(value: Any) -> str:
    """Return compact ASCII JSON, whose length in characters is its length in bytes."""
    return json.dumps(jsonable(value), separators=(',', ':'))


def _number(uri: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high):
        raise _not_found(uri, f'after and limit are numbers (limit 1 to {EVENTS_PER_READ_MAX})')
    return int(text)


def _not_found(uri: str, why: str) -> MCPError:
    """Return the SDK's resource-not-found error (SEP-2164)."""
    told = uri[:512].encode('utf-8', 'replace').decode()  # half a character cannot be sent
    return MCPError(INVALID_PARAMS, f'Unknown resource {told}: {why}', {'uri': told})
