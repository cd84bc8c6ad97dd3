# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The core of `mcp_rig.py` as a process that a test may send anything to; it ends at SIGTERM.

Over HTTP it prints its port.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
import signal
import sys

from mcp_rig import rig

from robot_agent_harness.mcp_server import McpSettings

UNLIMITED_PER_S = 1e6
RECEIVE_S = 2.0
"""Soon, since some requests never come in whole; good ones do at once."""
SETTLED_S = 1.5
"""Past the time in which a call waits for what may not have been heard since the start."""


async def serve(folder: Path, transport: str) -> None:
    """Serve until the signal."""
    settings = McpSettings(port=0, max_requests_per_s=UNLIMITED_PER_S, receive_s=RECEIVE_S)
    async with rig(folder, settings=settings, start=transport == 'http') as made:
        made.observe(SETTLED_S)
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        if transport == 'http':
            print(made.server.port, flush=True)
            await stop.wait()
            return
        serving = asyncio.ensure_future(made.server.serve_stdio())
        await stop.wait()
        serving.cancel()
        await asyncio.wait({serving})


if __name__ == '__main__':
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2]))
