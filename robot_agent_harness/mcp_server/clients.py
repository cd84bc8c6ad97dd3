# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Who calls, and which snapshot that client was given last.

A decision is bound to what the client had seen (CONTRACT, "MCP"). A client is known by its MCP
session; revision 2026-07-28 has no sessions, there it is the access token together with the client
info. JSON-RPC ids are recorded, never used to tell anything apart: clients reuse them.

What is remembered is bounded for each access token on its own, since names and sessions cost their
holder nothing: nobody can make the harness forget what the holder of another token has seen. And
forgetting refuses, it does not permit: once a client of a token was forgotten, any client of it
that is not known may have been that one.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
import json
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.types import Implementation
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Scope

from robot_agent_harness.skills.call import IdempotencyKey
from robot_agent_harness.world.store import SnapshotStore

SESSION_HEADER = 'mcp-session-id'
CLIENTS_KEPT = 256
"""For how many clients of one token the newest snapshot is remembered."""
FORGOTTEN = 'forgotten'
"""The id that a call is bound to whose client may have been forgotten: of no snapshot, so that
nothing is sent."""
SESSION_DIGITS = 16
"""Hexadecimal digits that are recorded of a session id's digest."""
TEXT_MAX = 128
"""What is recorded of a text that a client chose, in characters."""


@dataclass(frozen=True, slots=True)
class ClientKey:
    """What tells a client from others."""

    subject: str | None
    """Whose access token it uses; None without one."""
    client: tuple[str, ...]
    """Its session, or its name and version."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The client behind one request."""

    key: ClientKey | None
    """Tells this client from others; None if nothing does."""
    record: dict[str, Any]
    """What the journal keeps of it; never a token."""

    def idempotency(self, key: str) -> IdempotencyKey:
        """Return a key as this client's: token and name outlive session and process."""
        holder = self.record.get('token_subject')
        return IdempotencyKey(json.dumps([holder, self.record.get('client_name')]), key, holder)


def identify(context: ServerRequestContext[Any, Any]) -> Caller:
    """Say who sent this request."""
    info = context.session.client_params.client_info if context.session.client_params else None
    scopes = None
    session_id = session_of(context)
    if isinstance(context.request, Request):
        subject = subject_of(context.request.scope)
        if subject is not None:
            scopes = list(context.request.scope['user'].access_token.scopes)
        key = _key(session_id, subject, info)
    else:
        subject, key = None, ClientKey(None, ('stdio',))
    record = {
        'kind': 'mcp',
        'transport': 'http' if isinstance(context.request, Request) else 'stdio',
        'request_id': _cut(context.request_id),
        # Whoever may look reads this, and the id itself speaks for its session.
        'session': _digest(session_id) if session_id is not None else None,
        'client_name': _cut(info.name) if info else None,
        'client_version': _cut(info.version) if info else None,
        'protocol_version': context.protocol_version,
        'token_subject': subject,
        'token_scopes': scopes,
    }
    return Caller(key, {name: value for name, value in record.items() if value is not None})


def subject_of(scope: Scope) -> str | None:
    """Return whose access token a request carries; None where none is asked for."""
    user = scope.get('user')
    return user.access_token.subject if isinstance(user, AuthenticatedUser) else None


def session_of(context: ServerRequestContext[Any, Any]) -> str | None:
    """Return the session of a request; None of 2026-07-28, where anybody may write the header.

    In the other revisions the transport has held the header against the token by now.
    """
    if not isinstance(context.request, Request):
        return None
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    return context.request.headers.get(SESSION_HEADER)


def _key(
    session_id: str | None, subject: str | None, info: Implementation | None
) -> ClientKey | None:
    if session_id is not None:
        return ClientKey(subject, ('session', session_id))
    return None if info is None else ClientKey(subject, ('client', info.name, info.version))


def _digest(session_id: str) -> str:
    return sha256(session_id.encode()).hexdigest()[:SESSION_DIGITS]


def _cut(value: Any) -> Any:
    return value[:TEXT_MAX] if isinstance(value, str) else value


@dataclass(slots=True)
class _OfToken:
    """What the clients of one token were given."""

    newest: OrderedDict[ClientKey, tuple[int, str]] = field(default_factory=OrderedDict)
    forgot: bool = False
    """Whether more clients were known once than are now."""


class GivenSnapshots:
    """The newest snapshot that each client was given."""

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._tokens: dict[str | None, _OfToken] = {}

    def note(self, key: ClientKey | None, snapshot_id: str) -> None:
        """Remember that this client has seen a snapshot.

        One older than before changes nothing, and so does one that is no longer known: a repeated
        result may show what an earlier run saw.
        """
        snapshot = self._store.get(snapshot_id)
        if key is None or snapshot is None:
            return
        token = self._tokens.setdefault(key.subject, _OfToken())
        captured_ns = snapshot.captured_monotonic_ns
        known = token.newest.get(key)
        if known is None or captured_ns >= known[0]:
            token.newest[key] = (captured_ns, snapshot_id)
        token.newest.move_to_end(key)
        while len(token.newest) > CLIENTS_KEPT:
            token.newest.popitem(last=False)
            token.forgot = True

    def newest(self, key: ClientKey | None) -> str | None:
        """Return the id of the newest snapshot that this client was given.

        None if it was given none; `FORGOTTEN` if that cannot be said any more.
        """
        token = self._tokens.get(key.subject) if key is not None else None
        if key is None or token is None:
            return None
        known = token.newest.get(key)
        if known is not None:
            return known[1]
        return FORGOTTEN if token.forgot else None
