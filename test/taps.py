# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Places in the harness's work at which its process kills itself, for tests of what is left."""

from __future__ import annotations

import os
import signal
from typing import Any

DIED_AT = 'killed at tap'


class Taps:
    """Places in the harness's work at which it can be killed, each with a name.

    `before X` and `after X`: a record of type X is handed to the journal; it is known to be on
    disk. `in commit of X`, `committed X`: the same a moment before and after SQLite's COMMIT, on
    the writer's thread. A progress record's name has its state. `before send_goal`,
    `after send_goal`: its request is handed to DDS. `hears X`: event X of the controller arrives.
    """

    def __init__(self, kill_at: str) -> None:
        self._wanted, _, count = kill_at.partition(':')
        self._left = int(count or 1)

    def passes(self, name: str) -> None:
        if name != self._wanted:
            return
        self._left -= 1
        if self._left == 0:
            os.write(2, f'{DIED_AT} {name}\n'.encode())
            os.kill(os.getpid(), signal.SIGKILL)


def arm(kill_at: str) -> None:
    """Have this process kill itself at a tap: `name`, or `name:n` for the n-th time."""
    from robot_agent_harness.journal.database import JournalDatabase
    from robot_agent_harness.journal.store import MissionJournal
    from robot_agent_harness.ros.action_client import ActionClient

    taps = Taps(kill_at)
    append, defer = MissionJournal.append, MissionJournal.defer
    insert, commit = JournalDatabase.insert, JournalDatabase.commit
    send_goal, deliver = ActionClient.send_goal, ActionClient._deliver
    in_transaction: list[str] = []

    def name_of(entry: Any) -> str:
        event = entry[0]
        state = f' {event.state}' if event.type == 'ROBOT_ACTION_PROGRESS' else ''
        return f'{event.type.value}{state}'

    def tapped(write: Any) -> Any:
        def write_tapped(self: Any, *entries: Any, **more: Any) -> Any:
            names = [name_of(entry) for entry in entries]
            for name in names:
                taps.passes(f'before {name}')
            future = write(self, *entries, **more)
            future.add_done_callback(lambda _: [taps.passes(f'after {name}') for name in names])
            return future

        return write_tapped

    def tapped_insert(self: Any, rows: Any) -> Any:
        in_transaction[:] = [row.type for row in rows]
        return insert(self, rows)

    def tapped_commit(self: Any) -> None:
        for name in in_transaction:
            taps.passes(f'in commit of {name}')
        commit(self)
        for name in in_transaction:
            taps.passes(f'committed {name}')

    def tapped_send(self: Any, *arguments: Any) -> None:
        taps.passes('before send_goal')
        send_goal(self, *arguments)
        taps.passes('after send_goal')

    def tapped_deliver(self: Any, event: Any) -> None:
        taps.passes(f'hears {type(event).__name__}')
        deliver(self, event)

    MissionJournal.append, MissionJournal.defer = tapped(append), tapped(defer)
    JournalDatabase.insert, JournalDatabase.commit = tapped_insert, tapped_commit
    ActionClient.send_goal, ActionClient._deliver = tapped_send, tapped_deliver
