# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness's process: the main thread runs the asyncio loop, a second one spins rclpy.

One line on standard error and exit code 2 for everything that the user can put right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
import contextlib
import ctypes
import gc
import logging
import os
import signal
import sys

import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.ros.harness_node import HarnessNode
from robot_agent_harness.ros.log_bridge import bridge_logging
from robot_agent_harness.ros.threads import Spinning

logger = logging.getLogger(__name__)

PROGRAM = 'robot-agent-harness'
FINALIZE_S = 1.0
"""How long the end waits for the rclpy thread; everything that matters is closed before."""
END_SIGNALS = (signal.SIGINT, signal.SIGTERM)
OK, MISUSE = 0, 2


def run(args: Sequence[str] | None = None, *, mcp_stdio: bool = False) -> int:
    """Run the harness node.

    :param args: the command line after the program's name; None = that of this process.
    :param mcp_stdio: serve MCP on standard input and output instead of over HTTP.
    :return: the exit code.
    """
    argv = list(sys.argv if args is None else [PROGRAM, *args])
    if mcp_stdio:
        os.environ['RCUTILS_LOGGING_USE_STDOUT'] = '0'  # standard output is the protocol's
    try:
        with _arguments_named():
            unknown = remove_ros_args(argv)[1:]
            if unknown:
                raise ConfigurationError(f'unknown argument {unknown[0]!r} outside of --ros-args')
            # No handlers of rclpy's: they end DDS before the last cancel request has left.
            rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
        return asyncio.run(_serve(mcp_stdio))
    except ConfigurationError as error:
        print(f'{PROGRAM}: {" ".join(str(error).split())}', file=sys.stderr)
        return MISUSE
    except KeyboardInterrupt:
        return OK  # before the loop had its handler; nothing was open yet
    finally:
        # Closed with its journal; a second Ctrl-C (`ros2 launch` passes one on to who has had it
        # from the terminal) must not make a failure of that.
        for number in END_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        rclpy.try_shutdown()


async def _serve(mcp_stdio: bool) -> int:
    stop = asyncio.Event()
    with _signals_set(stop):
        return await _serve_until(stop, mcp_stdio)


async def _serve_until(stop: asyncio.Event, mcp_stdio: bool) -> int:
    loop = asyncio.get_running_loop()
    with _arguments_named():
        node = HarnessNode(
            loop=loop,
            mcp_stdio=mcp_stdio,
            on_finalized=lambda: loop.call_soon_threadsafe(stop.set),
        )
    bridge = bridge_logging(node.get_logger())
    spinning = Spinning(node)
    try:
        if node.values['autostart'] and not await spinning.do(lambda: _bring_up(node)):
            raise ConfigurationError(node.failure or 'the node could not be started')
        _settle_memory()
        await _until(stop, node, mcp_stdio)
        return OK
    finally:
        if node.session is not None:
            await node.session.close()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(_finalize(spinning, node), FINALIZE_S)
        spinning.end()
        if node.session is not None:
            node.session.destroy()
        logging.getLogger().removeHandler(bridge)
        node.destroy_node()


@contextlib.contextmanager
def _signals_set(stop: asyncio.Event) -> Iterator[None]:
    """Have the signals that ask for the end set an event, and do nothing afterwards.

    The loop, when it closes, lets go of what they wake it with before it lets go of them.
    """
    loop = asyncio.get_running_loop()
    for number in END_SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in END_SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)


async def _until(stop: asyncio.Event, node: HarnessNode, mcp_stdio: bool) -> None:
    """Wait for a signal or the node's end, and meanwhile for the one client on stdio, if any."""
    waits: list[asyncio.Task[object]] = [asyncio.create_task(stop.wait())]
    if mcp_stdio and node.session is not None and node.session.mcp is not None:
        await node.session.activated()
        waits.append(asyncio.create_task(node.session.mcp.serve_stdio()))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    await asyncio.gather(*waits, return_exceptions=True)


def _bring_up(node: HarnessNode) -> bool:
    node.says_failures = False  # the last line before the end of the process does
    success = TransitionCallbackReturn.SUCCESS
    up = bool(node.trigger_configure() == success and node.trigger_activate() == success)
    node.says_failures = True
    return up


def _settle_memory() -> None:
    """Put start-up behind us: what it made stays, and what it used up goes back.

    Otherwise each full garbage collection walks through the modules' hundreds of thousands of
    objects, with every thread waiting, and the allocator keeps the imports' garbage.
    """
    gc.collect()
    gc.freeze()
    with contextlib.suppress(AttributeError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)


async def _finalize(spinning: Spinning, node: HarnessNode) -> None:
    """Show the end to whoever watches the lifecycle, unless it came about that way, and let the
    result of a mission that it has ended go out.
    """

    def shut_down() -> None:
        with contextlib.suppress(RuntimeError):
            node.trigger_shutdown()

    # A mission's end takes two rounds of the executor's: the first ends its goal, the second tells
    # whoever asked for it.
    await spinning.do(shut_down)
    await spinning.do(lambda: None)


@contextlib.contextmanager
def _arguments_named() -> Iterator[None]:
    """Make what rclpy says of bad arguments and names an error of the user's."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise ConfigurationError(str(error)) from error
