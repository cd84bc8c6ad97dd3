# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Who calls, and which snapshot that client was given last.

A decision is bound to what the client had seen (CONTRACT, "MCP"). A client is known by its MCP
session; revision 2026-07-28 has no sessions, there it is the access token together with the client
info. JSON-RPC ids are recorded, never used to tell anything apart: clients reuse them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
import json
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.types import Implementation
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from robot_agent_harness.world.store import SnapshotStore

SESSION_HEADER = 'mcp-session-id'
CLIENTS_KEPT = 1024
"""For how many clients the newest snapshot is remembered; one that is forgotten counts as new."""
TEXT_MAX = 128
"""What is recorded of a text that a client chose, in characters."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The client behind one request."""

    key: Hashable | None
    """Tells this client from others; None if nothing does."""
    record: dict[str, Any]
    """What the journal keeps of it; never a token."""

    @property
    def owner(self) -> str:
        """Whose its idempotency keys are: token and name, which outlive session and process."""
        return json.dumps([self.record.get('token_subject'), self.record.get('client_name')])


def identify(context: ServerRequestContext[Any, Any]) -> Caller:
    """Say who sent this request."""
    info = context.session.client_params.client_info if context.session.client_params else None
    subject = scopes = session_id = None
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    if isinstance(context.request, Request):
        user = context.request.scope.get('user')
        if isinstance(user, AuthenticatedUser):
            subject, scopes = user.access_token.subject, list(user.access_token.scopes)
        if not modern:
            # Of this era the transport has checked the header; in the other anybody may write one.
            session_id = context.request.headers.get(SESSION_HEADER)
        key = _key(session_id, subject, info)
    else:
        key = 'stdio'
    record = {
        'kind': 'mcp',
        'transport': 'http' if isinstance(context.request, Request) else 'stdio',
        'request_id': _cut(context.request_id),
        'session_id': session_id,
        'client_name': _cut(info.name) if info else None,
        'client_version': _cut(info.version) if info else None,
        'protocol_version': context.protocol_version,
        'token_subject': subject,
        'token_scopes': scopes,
    }
    return Caller(key, {name: value for name, value in record.items() if value is not None})


def _key(
    session_id: str | None, subject: str | None, info: Implementation | None
) -> Hashable | None:
    if session_id is not None:
        return ('session', session_id)
    return None if info is None else ('client', subject, info.name, info.version)


def _cut(value: Any) -> Any:
    return value[:TEXT_MAX] if isinstance(value, str) else value


class GivenSnapshots:
    """The newest snapshot that each client was given."""

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._newest: OrderedDict[Hashable, tuple[int, str]] = OrderedDict()

    def note(self, key: Hashable | None, snapshot_id: str) -> None:
        """Remember that this client has seen a snapshot.

        One older than before changes nothing, and so does one that is no longer known: a repeated
        result may show what an earlier run saw.
        """
        snapshot = self._store.get(snapshot_id)
        if key is None or snapshot is None:
            return
        captured_ns = snapshot.captured_monotonic_ns
        known = self._newest.get(key)
        if known is None or captured_ns >= known[0]:
            self._newest[key] = (captured_ns, snapshot_id)
        self._newest.move_to_end(key)
        while len(self._newest) > CLIENTS_KEPT:
            self._newest.popitem(last=False)

    def newest(self, key: Hashable | None) -> str | None:
        """Return the id of the newest snapshot that this client was given."""
        known = self._newest.get(key) if key is not None else None
        return known[1] if known else None
