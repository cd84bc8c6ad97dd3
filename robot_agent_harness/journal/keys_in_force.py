# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which idempotency keys are in force in a journal: what a start, and the next file, must know.

Of each share the newest keys are, whatever was recorded since: how often a robot's world is
recorded must not decide whether a request is carried out a second time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader

KEYS_KEPT = 256
"""How many keys are in force in each share, with a result of at most 60 KiB each."""


def keys_in_force(
    reader: JournalReader, holds: Callable[[RecordedEvent, RecordedEvent | None], bool]
) -> list[tuple[RecordedEvent, RecordedEvent | None]]:
    """Return the calls that hold a key, with their results, the oldest first.

    A key that was forgotten and used again counts from then on. What a file quotes of earlier
    ones is older than all that it has itself.

    :param holds: whether a call, with its result if it has one, holds its key.
    :raises JournalError: the journal cannot be read.
    """
    found: list[tuple[RecordedEvent, RecordedEvent | None]] = []
    seen: set[str] = set()
    kept: Counter[str] = Counter()

    def take(key: str, share: str, call: RecordedEvent, result: RecordedEvent | None) -> None:
        seen.add(key)
        if holds(call, result):
            kept[share] += 1
            found.append((call, result))

    def wanted(key: str, share: str) -> bool:
        return key not in seen and kept[share] < KEYS_KEPT

    for keyed in reader.keyed_calls():
        if wanted(keyed.key, keyed.share):
            [call] = reader.events(after_seq=keyed.seq - 1, limit=1)
            take(keyed.key, keyed.share, call, reader.end(call))
    quoted = reader.carried_over()
    results = {e.tool_call_id: e for e in quoted if e.type == EventType.TOOL_RESULT_RECORDED}
    for call in reversed(quoted):
        if call.type == EventType.TOOL_CALL_RECORDED:
            marks = call.payload['idempotency']
            key, share = marks['key'], marks.get('share', '')
            if wanted(key, share):
                take(key, share, call, results.get(call.tool_call_id))
    return found[::-1]
