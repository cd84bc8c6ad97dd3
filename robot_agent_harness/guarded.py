# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Running code that a user wrote: skills, verifiers, planners, clients of models.

Such code may raise what passes by every `except Exception`: `SystemExit`, `GeneratorExit`, a group
with a cancellation in it. In here that becomes an ordinary exception, so that it ends what it
belongs to and nothing else. `KeyboardInterrupt` is left alone: it is a person who ends the
process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar('T')


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
