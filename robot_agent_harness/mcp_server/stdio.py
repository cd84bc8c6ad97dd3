# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Standard input as lines, in a way that a program can stop waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import os
import threading

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
