# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Standard input as lines that a program can stop waiting for, and an answer to each of them.

The SDK drops without a word what it cannot read, and takes a request whose id it cannot read for
a notification: a client would wait for the answer without end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import logging
import os
import threading

from mcp.types import INVALID_REQUEST, jsonrpc_message_adapter, JSONRPCError
from pydantic import ValidationError
import pydantic_core

from robot_agent_harness.mcp_server.json_text import refused, unreadable

logger = logging.getLogger(__name__)

CHUNK_BYTES = 65536


class StdinLines:
    """The lines of a file descriptor.

    The SDK reads in a worker thread that nobody can interrupt, and the program would then hang at
    its end until the client writes another line. This thread is a daemon and holds no lock of
    `sys.stdin`, so it cannot keep the program from ending.
    """

    def __init__(self, *, max_line_bytes: int, fd: int = 0) -> None:
        self._fd = fd
        self._max_line_bytes = max_line_bytes
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=16)

    def start(self) -> None:
        """Begin to read."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name='mcp stdin', daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line.decode('utf-8', 'replace')

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = b''
        while chunk := self._chunk():
            *lines, rest = (rest + chunk).split(b'\n')
            if len(rest) > self._max_line_bytes:
                # An endless line: what is kept is no JSON, so that it is refused and not believed.
                rest = b'!'
            for line in lines:
                if not self._put(loop, line[: self._max_line_bytes]):
                    return
        if rest:
            self._put(loop, rest)
        self._put(loop, None)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._fd, CHUNK_BYTES)
        except OSError:  # closed under us: the same as its end
            return b''

    def _put(self, loop: asyncio.AbstractEventLoop, line: bytes | None) -> bool:
        try:
            asyncio.run_coroutine_threadsafe(self._lines.put(line), loop).result()
        except Exception:  # the loop has ended, and with it whoever wanted the line
            return False
        return True


class AnsweredLines:
    """The lines that are messages of JSON-RPC; any other is answered with an error."""

    def __init__(self, lines: StdinLines) -> None:
        self._lines = lines
        self._answer: Callable[[JSONRPCError], Awaitable[None]]

    def start(self, answer: Callable[[JSONRPCError], Awaitable[None]]) -> None:
        """Begin to read.

        :param answer: sends an error to the client.
        """
        self._answer = answer
        self._lines.start()

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            if not line.strip():
                continue
            answer = refusal(line)
            if answer is None:
                yield line
                continue
            logger.warning('a line of standard input is refused: %s', answer.error.message)
            await self._answer(answer)


def refusal(line: str) -> JSONRPCError | None:
    """Return the answer to a line that is no message; None if it is one."""
    try:
        message = pydantic_core.from_json(line)
    except ValueError as error:
        return unreadable(line, error)
    if isinstance(message, dict) and 'method' in message and 'id' in message:
        request_id = message['id']
        if isinstance(request_id, bool) or not isinstance(request_id, (int, str)):
            why = 'Invalid request: an id is a text or a whole number'
            return refused(INVALID_REQUEST, why, message)
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        why = 'Invalid request: this is no single message of JSON-RPC 2.0'
        return refused(INVALID_REQUEST, why, message)
    return None
