# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One TCP connection: uvicorn's own, with an end to what it would wait for without end.

uvicorn bounds the pause between two requests only. Here a request must come in whole in time (its
head and its body, a byte now and then is no progress), and what is sent must be read in time.
Where there are more connections than are served at once, one gives way for each new one: the one
that has kept us waiting for a request, or for the rest of it, for longest. So whoever opens many
and says nothing shuts nobody out. A stream on which nothing is sent stays open: it has had its
whole request, and has nothing to read.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECURITY_HEADERS = (
    ('x-content-type-options', 'nosniff'),
    ('cache-control', 'no-store'),
    (
        'content-security-policy',
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ('x-frame-options', 'DENY'),
    ('referrer-policy', 'no-referrer'),
    ('cross-origin-resource-policy', 'same-origin'),
)
"""Of every response, so that no browser keeps, embeds or guesses at one, or runs or loads anything
but the dashboard's own files."""


@dataclass(frozen=True, slots=True)
class ConnectionBounds:
    """How long a connection is waited for."""

    receive_s: float
    send_s: float
    connections: int


def guarded_connection(bounds: ConnectionBounds) -> type[asyncio.Protocol]:
    """Return what makes uvicorn's connections."""
    return cast('type[asyncio.Protocol]', partial(_Connection, bounds=bounds))


class _Connection(H11Protocol):
    def __init__(self, *args: Any, bounds: ConnectionBounds, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = bounds
        self._receiving: asyncio.TimerHandle | None = None
        self._sending: asyncio.TimerHandle | None = None
        self._since_s = 0.0
        """When it became the client's turn, on the clock of the loop."""

    @property
    def _waits(self) -> bool:
        """Whether it is the client's turn: no request of it is being answered."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Serve a new connection, in the place of one that waits if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._bounds.connections:
            others = self.connections - {self}
            waiting = [c for c in others if isinstance(c, _Connection) and c._waits]
            if waiting:
                longest = min(waiting, key=lambda c: c._since_s)
                self.connections.discard(longest)
                longest.transport.abort()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._end_receiving()
        self._end_sending()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on with the next request."""
        super().on_response_complete()
        self._since_s = self.loop.time()
        self._watch()

    def pause_writing(self) -> None:
        """Give a client that does not read a time to do so."""
        super().pause_writing()
        if self._sending is None:
            self._sending = self.loop.call_later(self._bounds.send_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on writing."""
        self._end_sending()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(HTTPStatus.BAD_REQUEST, msg)

    def _watch(self) -> None:
        """Time a request from its first byte to its last."""
        state = self.conn.their_state
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            self._await_request()
        else:
            self._end_receiving()

    def _await_request(self) -> None:
        if self._receiving is None and not self.transport.is_closing():
            self._since_s = self.loop.time()
            self._receiving = self.loop.call_later(self._bounds.receive_s, self._too_slow)

    def _too_slow(self) -> None:
        self._receiving = None
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self.transport.close()  # it never said a word
            return
        self._refuse(HTTPStatus.REQUEST_TIMEOUT, 'The request did not come in whole in time.')

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Say so where a response can still begin, and close; the app hears that it is over."""
        unanswered = self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE)
        if unanswered and not self.transport.is_closing():
            body = why.encode()
            headers = [
                *self.server_state.default_headers,
                (b'content-type', b'text/plain; charset=utf-8'),
                (b'content-length', str(len(body)).encode()),
                (b'connection', b'close'),
            ]
            head = h11.Response(status_code=status, headers=headers, reason=status.phrase)
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b'')
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def _end_receiving(self) -> None:
        if self._receiving is not None:
            self._receiving.cancel()
            self._receiving = None

    def _end_sending(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
