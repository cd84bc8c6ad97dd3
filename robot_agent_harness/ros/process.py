# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness's process: the main thread runs the asyncio loop, a second one spins rclpy.

One line on standard error and exit code 2 for everything that the user can put right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
import contextlib
import ctypes
import gc
import logging
import os
import signal
import sys
import threading
import time

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
END_S = 4.5
"""How long the whole end may take: Ctrl-C must end the harness within 5 s. Each of its parts has a
bound of its own, which leaves time for the others; all of them at once may need more."""
FINALIZE_S = 1.0
"""How long the end waits for the rclpy thread; everything that matters is closed before."""
STDIO_S = 0.3
"""How long the end waits for a client on stdio to take what it is sent."""
REST_S = 0.5
"""How long what is left of skills and clients gets to end; then it is left behind."""
WORKERS = 'asyncio'
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
    ending = _Ending()
    try:
        with _arguments_named():
            unknown = remove_ros_args(argv)[1:]
            if unknown:
                raise ConfigurationError(f'unknown argument {unknown[0]!r} outside of --ros-args')
            # No handlers of rclpy's: they end DDS before the last cancel request has left.
            rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
        code = asyncio.run(_serve(mcp_stdio, ending))
        # One that writes to a client who does not read is in no pool of ours.
        _exit_if(_alive(''), code)
        return code
    except ConfigurationError as error:
        _say(' '.join(str(error).split()))
        return MISUSE
    except KeyboardInterrupt:
        return OK  # before the loop had its handler; nothing was open yet
    finally:
        # Closed with its journal; a second Ctrl-C (`ros2 launch` passes one on to who has had it
        # from the terminal) must not make a failure of that.
        for number in END_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        rclpy.try_shutdown()
        ending.over()


class _Ending:
    """Ends the process at once where its end takes longer than `END_S`, whatever holds it up."""

    def __init__(self) -> None:
        self._timer = threading.Timer(END_S, self._cut_short)
        self._timer.daemon = True

    def begins(self) -> None:
        """Note that the end begins, if it has not begun."""
        if self._timer.ident is None:
            self._timer.start()

    def over(self) -> None:
        """Note that nothing is left to wait for."""
        self._timer.cancel()

    def _cut_short(self) -> None:
        # Standard error may be a pipe that nobody reads.
        line = f'the end took longer than {END_S} s and was cut short; the next start puts right'
        said = threading.Thread(target=_say, args=[f'{line} what it has left open'], daemon=True)
        said.start()
        said.join(REST_S)
        os._exit(OK)


def _say(line: str) -> None:
    print(f'{PROGRAM}: {line}', file=sys.stderr, flush=True)


async def _serve(mcp_stdio: bool, ending: _Ending) -> int:
    stop = asyncio.Event()
    workers = ThreadPoolExecutor(thread_name_prefix=WORKERS)
    asyncio.get_running_loop().set_default_executor(workers)
    with _signals_set(stop, ending):
        code = await _serve_until(stop, mcp_stdio, ending)
    await _leave_behind(workers, code)
    return code


async def _serve_until(stop: asyncio.Event, mcp_stdio: bool, ending: _Ending) -> int:
    loop = asyncio.get_running_loop()
    with _arguments_named():
        node = HarnessNode(
            loop=loop,
            mcp_stdio=mcp_stdio,
            on_finalized=lambda: loop.call_soon_threadsafe(stop.set),
        )
    bridge = bridge_logging(node.get_logger())
    spinning = Spinning(node)
    waits: list[asyncio.Task[object]] = []
    try:
        if node.values['autostart'] and not await spinning.do(lambda: _bring_up(node)):
            raise ConfigurationError(node.failure or 'the node could not be started')
        _settle_memory()
        await _until(stop, waits, node, mcp_stdio)
        ending.begins()
        return OK
    finally:
        await node.end_sessions()
        await _end(waits)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(_finalize(spinning, node), FINALIZE_S)
        spinning.end()
        if node.session is not None:
            node.session.destroy()
        logging.getLogger().removeHandler(bridge)
        node.destroy_node()


@contextlib.contextmanager
def _signals_set(stop: asyncio.Event, ending: _Ending) -> Iterator[None]:
    """Have the signals that ask for the end begin it and set an event, and do nothing afterwards.

    The loop, when it closes, lets go of what they wake it with before it lets go of them.
    """

    def asked() -> None:
        ending.begins()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in END_SIGNALS:
        loop.add_signal_handler(number, asked)
    try:
        yield
    finally:
        for number in END_SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)


async def _until(
    stop: asyncio.Event, waits: list[asyncio.Task[object]], node: HarnessNode, mcp_stdio: bool
) -> None:
    """Wait for a signal or the node's end, and meanwhile for the one client on stdio, if any.

    :param waits: takes what is waited for. The client is still served while the calls that it
        waits for are ended.
    """
    waits.append(asyncio.create_task(stop.wait()))
    if mcp_stdio and node.session is not None and node.session.mcp is not None:
        await node.session.activated()
        waits.append(asyncio.create_task(node.session.mcp.serve_stdio()))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)


async def _end(waits: list[asyncio.Task[object]]) -> None:
    """End what was waited for. A client that does not read what it is sent is not waited for."""
    for wait in waits:
        wait.cancel()
        wait.add_done_callback(_heeded)
    if waits:
        await asyncio.wait(waits, timeout=STDIO_S)


def _heeded(ended: asyncio.Task[object]) -> None:
    """Take a task's exception: its client has gone, or did not read."""
    if not ended.cancelled() and ended.exception() is not None:
        logger.debug('the end of a client: %r', ended.exception())


async def _leave_behind(workers: ThreadPoolExecutor, code: int) -> None:
    """End the process where tasks or threads go on that `asyncio.run` would wait for without end,
    such as a skill that resists its cancellation. The journal is closed by now.
    """
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=REST_S)
    left = [task.get_name() for task in rest if not task.done()]
    workers.shutdown(wait=False, cancel_futures=True)
    _exit_if(left + _alive(f'{WORKERS}_'), code)


def _alive(prefix: str) -> list[str]:
    """Return the threads of such names that do not end within a moment and hold the process up."""
    deadline = time.monotonic() + REST_S
    left = []
    for thread in threading.enumerate():
        if thread is threading.main_thread() or thread.daemon:
            continue
        if thread.name.startswith(prefix):
            thread.join(max(0.0, deadline - time.monotonic()))
            left += [thread.name] if thread.is_alive() else []
    return left


def _exit_if(left: list[str], code: int) -> None:
    """End the process at once where something is left that its ordinary end would wait for."""
    if left:
        _say(f'left behind at the end: {", ".join(sorted(left))}')
        rclpy.try_shutdown()
        os._exit(code)


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
