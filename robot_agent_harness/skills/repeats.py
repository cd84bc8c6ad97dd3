# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests that a client repeats under one idempotency key: the first one's result stands.

Two requests are two calls, however alike they are, unless both carry the same key of the same
client. Then the later one is recorded as a call that repeats the first (`repeat_of`), waits for
that one's result if it has none yet, and gets it: nothing runs twice. This outlives the process:
the journal holds a digest of each key and of what was asked under it, never the client's own text.

A key is free again if its call was interrupted before anything was sent to the robot: a repeat is
then what the client wanted all along. It is from the moment on at which the call gives up, not
only once its result is on disk.

How many keys are remembered is bounded for each access token, and on their own for tools that act
and for those that only look: nobody can make another one's key be forgotten, and no look one that
keeps the robot from moving twice.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from robot_agent_harness.errors import JournalError, JournalUnavailableError
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.keys_in_force import keys_in_force, KEYS_KEPT
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.skills.result import ResultStatus, ToolResult


@dataclass(slots=True)
class First:
    """The call that a key was used for first."""

    tool_call_id: str
    request: str
    """Digest of what was asked."""
    result: asyncio.Future[ToolResult]
    interest: Interest = field(default_factory=Interest)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a call's key says about it."""

    marks: dict[str, str]
    """Digests of the key and of the request, as they are recorded."""
    result: asyncio.Future[ToolResult]
    """The call's result; where it repeats another one, or is refused, it is not carried out."""
    made: First | None = None
    """The claim's own entry, if the call is the first with its key."""
    repeat_of: str | None = None
    """The id of the call that had the key before."""

    @classmethod
    def refused(
        cls, marks: dict[str, str], refusal: ToolResult, *, repeat_of: str | None = None
    ) -> Claim:
        """Return the claim of a call that can be neither carried out nor answered otherwise."""
        result = _pending()
        result.set_result(refusal)
        return cls(marks, result, repeat_of=repeat_of)


class Repeats:
    """The keys in use, and what came of their calls."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._shares: dict[str, OrderedDict[str, First]] = {}
        """By share and by digest of the key, the oldest first."""
        self._recalling = asyncio.Lock()
        self._complete = False

    async def claim(self, marks: dict[str, str], tool_call_id: str, interest: Interest) -> Claim:
        """Say whether a call is the first with its key; it is from now on.

        :param marks: what the key and the request are known by.
        """
        try:
            await self._recalled()
        except JournalError as error:
            why = f'nothing was done: whether this call was made before cannot be read ({error})'
            # It does not take the key: its record must not look like that of the first call.
            return Claim.refused({}, ToolResult(ResultStatus.JOURNAL_UNAVAILABLE, why))
        first = self._first(marks['key'])
        if first is None or first.interest.given_up:
            made = First(tool_call_id, marks['request'], _pending(), interest)
            self._keep(marks, made)
            return Claim(marks, made.result, made=made)
        if first.request != marks['request']:
            why = 'this idempotency key was used before, for another tool or other arguments'
            refusal = ToolResult(ResultStatus.INVALID_ARGUMENTS, why)
            return Claim.refused(marks, refusal, repeat_of=first.tool_call_id)
        interest.join(first.interest)
        return Claim(marks, first.result, repeat_of=first.tool_call_id)

    def settle(self, claim: Claim, result: ToolResult) -> None:
        """Take in the result of a call, for those that repeat it."""
        if claim.made is None:
            return
        claim.made.result.set_result(result)
        key = claim.marks['key']
        if nothing_sent(result.status.value, result.data) and self._first(key) is claim.made:
            self._forget(key)

    def _first(self, key: str) -> First | None:
        return next((kept[key] for kept in self._shares.values() if key in kept), None)

    def _forget(self, key: str) -> None:
        for kept in self._shares.values():
            kept.pop(key, None)

    def _keep(self, marks: Mapping[str, str], first: First) -> None:
        self._forget(marks['key'])
        # Earlier releases recorded no share; their keys have one of their own.
        kept = self._shares.setdefault(marks.get('share', ''), OrderedDict())
        kept[marks['key']] = first
        # A call under way is never forgotten: its repeat would run beside it.
        over = (key for key, known in kept.items() if known.result.done())
        for key in list(islice(over, max(0, len(kept) - KEYS_KEPT))):
            del kept[key]

    async def _recalled(self) -> None:
        """Know the keys of earlier runs, before the first key of this one is used.

        :raises JournalError: the journal cannot be read, or a call of an earlier run has no result
            yet: recovery is about to give it one.
        """
        async with self._recalling:
            if not self._complete:
                for marks, tool_call_id, result in await asyncio.to_thread(_read, self._journal):
                    first = First(tool_call_id, marks['request'], _pending())
                    first.result.set_result(result)
                    self._keep(marks, first)
                self._complete = True


def _pending() -> asyncio.Future[ToolResult]:
    return asyncio.get_running_loop().create_future()


def nothing_sent(status: str, data: Mapping[str, Any]) -> bool:
    """Whether a call ended before anything left for the robot because nobody waited any more."""
    interrupted = status == ResultStatus.INTERRUPTED.value
    return interrupted and ('action_id' not in data or data.get('goal_sent') is False)


def _read(journal: Path) -> list[tuple[dict[str, str], str, ToolResult]]:
    """Return marks, id and result of the calls that hold a key, in their order."""
    with JournalReader(journal) as reader:
        return [
            (call.payload['idempotency'], call.tool_call_id or '', _result_of(call, answer))
            for call, answer in keys_in_force(reader, _holds)
        ]


def _holds(call: RecordedEvent, answer: RecordedEvent | None) -> bool:
    result = _result_of(call, answer)
    return not nothing_sent(result.status.value, result.data)


def _result_of(call: RecordedEvent, answer: RecordedEvent | None) -> ToolResult:
    if answer is None:
        raise JournalUnavailableError(f'call {call.tool_call_id} of an earlier run is still open')
    return _result(answer.payload['structured'])


def _result(structured: Mapping[str, Any]) -> ToolResult:
    data = dict(structured)
    return ToolResult(ResultStatus(data.pop('status')), data.pop('message'), data)
