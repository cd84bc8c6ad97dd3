# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The two threads, and the ways from one to the other: asyncio's loop, and rclpy's executor.

The rclpy thread may wait for the loop, with a bound. The loop awaits the rclpy thread and never
blocks on it; so neither can wait for the other for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
import concurrent.futures
from functools import partial
import logging
from typing import Any, TypeVar

from rclpy.node import Node

from robot_agent_harness.errors import HarnessError
from robot_agent_harness.ros.spinner import Spinner

logger = logging.getLogger(__name__)

LOOP_S = 10.0
"""The longest that a transition waits for the loop: a journal on a slow disk is checked and
synced."""
JOIN_S = 0.4
"""How long the end waits for a callback that is still running."""

T = TypeVar('T')


def on_loop(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], timeout_s: float = LOOP_S
) -> T:
    """Have the loop do something and wait for it; never on the loop's own thread.

    :raises HarnessError: the loop did not get to it in time.
    """
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result(timeout_s)
    except concurrent.futures.TimeoutError as error:
        if future.done():
            raise  # the work's own
        future.cancel()
        raise HarnessError(f'the harness did not answer within {timeout_s:g} s') from error


class Spinning:
    """The rclpy thread: one executor, spun until `end`."""

    def __init__(self, node: Node) -> None:
        self._spinner = Spinner(node, name='rclpy', on_error=_log)

    async def do(self, act: Callable[[], T]) -> T:
        """Have the rclpy thread call something, and wait for what it returns."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def call() -> None:
            try:
                settle = partial(_succeed, done, act())
            except BaseException as error:
                settle = partial(_fail, done, error)
            loop.call_soon_threadsafe(settle)

        self._spinner.executor.create_task(call)
        return await done

    def end(self) -> None:
        """End the thread."""
        self._spinner.end(JOIN_S)


def _log(error: Exception) -> None:
    # One bad message must not leave the harness blind.
    logger.error('a ROS callback failed', exc_info=error)


def _succeed(done: asyncio.Future[T], result: T) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: asyncio.Future[T], error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
