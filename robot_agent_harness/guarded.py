# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Running code that a user wrote: skills, verifiers, planners, clients of models.

Such code may raise what passes by every `except Exception`: `SystemExit`, `GeneratorExit`, a group
with a cancellation in it. In here that becomes an ordinary exception, so that it ends what it
belongs to and nothing else. `KeyboardInterrupt` is left alone: it is a person who ends the
process. And it may never return, which must not hold the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future, InvalidStateError
import contextlib
from functools import partial
import threading
from typing import ParamSpec, TypeVar

T = TypeVar('T')
P = ParamSpec('P')


USER_CODE_S = 2.0
"""How long code of others may take that is to return at once, in seconds."""


class TookTooLongError(RuntimeError):
    """Code that was to return at once has not returned in time; it may still run."""


def guarded(call: Callable[[], T]) -> T:
    """Return what a call returns, or the result of a task that has ended.

    :raises RuntimeError: it raised something that is no `Exception`.
    """
    try:
        return call()
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise RuntimeError(f'{error!r} was raised') from error


async def contained(running: Awaitable[T]) -> T:
    """Await something in a task of its own, where a `SystemExit` would end the loop.

    :raises RuntimeError: it raised something that is no `Exception`, and no end of the task.
    """
    try:
        return await running
    except (Exception, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        raise RuntimeError(f'{error!r} was raised') from error


async def in_own_thread(call: Callable[[], T], *, within_s: float | None = None) -> T:
    """Return what a call returns that may block, without blocking the loop.

    One that never returns goes on in its thread, and keeps neither the process alive nor anybody
    else waiting.

    :param within_s: how long it may take, in seconds; None: any time.
    :raises TookTooLongError: it took longer.
    :raises RuntimeError: it raised something that is no `Exception`.
    """
    running = asyncio.get_running_loop().run_in_executor(_OWN_THREADS, partial(guarded, call))
    try:
        done, _ = await asyncio.wait({running}, timeout=within_s)
    finally:
        running.cancel()  # of one that has ended, nothing
    if not done:
        raise TookTooLongError(f'it took longer than {within_s:g} s')
    return running.result()


class _OwnThreads(Executor):
    """Gives each call a daemon thread: the pool of others has an end, and is waited for at the
    end of the process.
    """

    def submit(self, fn: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def work() -> None:
            try:
                settle = partial(future.set_result, fn(*arguments, **named))
            except StopIteration as error:  # which no future takes
                settle = partial(future.set_exception, RuntimeError(f'{error!r} was raised'))
            except BaseException as error:
                settle = partial(future.set_exception, error)  # raised again on the loop
            with contextlib.suppress(InvalidStateError):  # nobody waits any more
                settle()

        threading.Thread(target=work, daemon=True).start()
        return future


_OWN_THREADS = _OwnThreads()
