# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From the records of a run to what came from outside, each with its time and its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
import contextlib
from dataclasses import dataclass, field, replace
from functools import partial
import logging
from pathlib import Path
from typing import Any

import yaml

from robot_agent_harness.assembly import Core, retune
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.errors import HarnessError, JournalUnavailableError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.jsonable import put_non_finite
from robot_agent_harness.parameters import check_parameters, Value
from robot_agent_harness.recovery import adopt, LeftOpen, recover
from robot_agent_harness.replay.clock import GIVEN_CALL
from robot_agent_harness.replay.disk import announcements, goals_of, slow_commits
from robot_agent_harness.replay.journal import ReplayedJournal
from robot_agent_harness.replay.loop import Input, TOGETHER_S
from robot_agent_harness.replay.outside import (
    controller_event,
    RecordedController,
    RecordedModel,
    RecordedServices,
)
from robot_agent_harness.replay.recording import Recording
from robot_agent_harness.skills.call import CallContext, IdempotencyKey
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.world.salient import Salient

logger = logging.getLogger(__name__)

MADE_BY_THE_HARNESS = frozenset({'foreign_goal', 'journal_records_dropped'})
"""Kinds of salient events that follow from what was heard; all others were noticed or said."""
TOGETHER_NS = int(TOGETHER_S * NS_PER_S)
_PLACES_READ = (
    EventType.TOOL_CALL_RECORDED.value,
    EventType.MODEL_TURN_STARTED.value,
    EventType.ACTION_PRECONDITION_CHECKED.value,
)
"""What is recorded whenever the places file has been looked at."""

_MADE_BEFORE = (
    EventType.ACTION_PRECONDITION_CHECKED.value,
    EventType.TOOL_RESULT_RECORDED.value,
)
"""What must be there before an outcome is announced that it knows nothing of."""

_TASKS = frozenset(
    kind.value
    for kind in (
        EventType.HARNESS_STATE_CHANGED,
        EventType.MISSION_STARTED,
        EventType.MODEL_RESPONSE_RECORDED,
        EventType.SERVICE_EVENT_RECEIVED,
        EventType.TOOL_CALL_RECORDED,
    )
)


@dataclass(frozen=True)
class RecordedKey(IdempotencyKey):
    """An idempotency key of which the journal holds digests alone."""

    owner: str = ''
    key: str = ''
    recorded: Mapping[str, str] = field(default_factory=dict)

    def marks(self, name: str, asked: Any, *, acts: bool) -> dict[str, str]:
        """Return the recorded digests."""
        return dict(self.recorded)


class Inputs:
    """Makes the inputs of one run, for a core that is there once the first of them comes.

    :param parameters: all of them, as the core was made with.
    :param pinned: those that keep their value whatever was changed while the run went on.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        core: Core,
        journal: ReplayedJournal,
        controllers: dict[str, RecordedController],
        services: RecordedServices | None,
        model: RecordedModel | None,
        places_file: Path,
        parameters: Mapping[str, Value],
        pinned: Collection[str],
    ) -> None:
        self._recording = recording
        self._core = core
        self._journal = journal
        self._controllers = controllers
        self._services = services
        self._model = model
        self._places_file = places_file
        self._parameters = parameters
        self._pinned = pinned
        self._interests: dict[str, Interest] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._left: LeftOpen | None = None
        self._recovering: asyncio.Task[Any] | None = None
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when everything has come."""

    def script(self) -> list[Input]:
        """Return the inputs in the order in which they come."""
        placed: list[tuple[float, int, int, Callable[[], None]]] = []
        awaited: set[float] = set()
        held: list[RecordedEvent] = []
        shown: dict[tuple[str, str | None], int] = {}
        for record in self._recording.records[1:]:
            if record.payload.get('held'):
                held.append(record)
                continue
            for place, at_ns, after, apply in self._of(record):
                placed.append((place, at_ns, after, apply))
        announced = announcements(self._recording)
        self._journal.hold(announced)
        for action_id, seq in announced.items():
            release = partial(self._journal.release, action_id)
            behind = self._recording.records[seq - self._recording.first_seq]
            after = seq + 1 if behind.type in _MADE_BEFORE else 0
            placed.append((seq + 0.25, self._recording.when(seq), after, release))
        for slow in slow_commits(self._recording):
            awaited.add(slow.place)
            placed.append((slow.place, slow.at_ns, slow.after, self._journal.hold_slow(slow)))
        heard = self._heard_while_closing()
        if heard is not None:
            closing = self._recording.closing
            cancel = closing is not None and bool(closing.payload['cancel_running'])
            close = partial(self._close, cancel)
            placed.append((heard + 0.25, self._recording.when(heard), 0, close))
        placed.sort(key=lambda one: one[0])
        script: list[Input] = []
        latest_ns = self._recording.origin_ns
        for place, at_ns, after, apply in placed:
            latest_ns = max(latest_ns, at_ns)
            while held and (held[0].payload['monotonic_ns'], held[0].seq) < (latest_ns, place):
                # It would have taken the place of what was held back of the same before.
                heard_of = _heard_of(held[0])
                script.append(self._held(held[0], shown.get(heard_of, -1) + 1))
                shown[heard_of] = held.pop(0).seq
            # What runs in a task of its own records nothing at once.
            record = self._recording.records[int(place) - self._recording.first_seq]
            in_tasks = place in awaited or record.type in _TASKS
            upto = after - 1 if after and in_tasks else int(place)
            given = self._input(latest_ns, after, upto, apply, goals_of(record))
            script.append(replace(given, lets_go_on=place in awaited))
        last = self._recording.last_seq
        end_ns = max(latest_ns, self._recording.when(last))
        script.append(self._input(end_ns, last + 1, last, self._end))
        return script

    def _held(self, record: RecordedEvent, after: int) -> Input:
        """Return what was heard before the records in front of it: time gives its place."""
        given = self._input(record.payload['monotonic_ns'], after, 0, self._heard(record))
        shown_ns = self._recording.when(record.seq) - self._recording.origin_ns
        return replace(given, shown_s=shown_ns / NS_PER_S)

    def _end(self) -> None:
        if not self.over.done():
            self.over.set_result(None)

    def _input(
        self,
        at_ns: int,
        after: int,
        upto: int,
        apply: Callable[[], None],
        goals: frozenset[str] = frozenset(),
    ) -> Input:
        at_s = (at_ns - self._recording.origin_ns) / NS_PER_S
        return Input(at_s, after, upto, apply, goals)

    def _of(self, record: RecordedEvent) -> Iterator[tuple[float, int, int, Callable[[], None]]]:
        """Yield place, time, what must have been made before, and deed of what a record shows."""
        apply = None if self._follows_from_closing(record) else self._deed(record)
        if apply is not None:
            at_ns = record.payload.get('monotonic_ns') or self._recording.when(record.seq)
            yield record.seq, at_ns, self._after(record), apply
        if record.type == EventType.HARNESS_STATE_CHANGED and (
            record.payload['state'] == 'reconfigured'
            and 'places' in record.payload['configuration']
        ):
            # The file was changed some time since it was looked at before.
            read = [
                r.seq
                for r in self._recording.records
                if r.type in _PLACES_READ and r.seq < record.seq
            ]
            before = max(read, default=self._recording.first_seq)
            places = record.payload['configuration']['places']
            when_ns = self._recording.when(before)
            yield before + 0.5, when_ns, before + 1, partial(self._write_places, places)
        if _is_verification(record):
            at_ns = record.payload['snapshot']['captured_monotonic_ns']
            look = partial(self._core.tracker.look_again, str(record.action_id))
            yield record.seq, at_ns, self._after(record), look

    def _after(self, record: RecordedEvent) -> int:
        """Return the first record that comes of this input: those before must have been made."""
        records, first = self._recording.records, self._recording.first_seq
        seq = record.seq
        while seq - 1 > first:
            before = records[seq - 1 - first]
            held = _made_with(before, record)
            own = before.type == EventType.WORLD_SNAPSHOT_CAPTURED and (
                (
                    record.type == EventType.SALIENT_EVENT
                    and before.snapshot_id == record.snapshot_id
                )
                or (
                    record.type == EventType.TOOL_CALL_RECORDED
                    and before.tool_call_id == record.tool_call_id
                )
            )
            if not held and not own:
                break
            seq -= 1
        return seq

    def _heard_while_closing(self) -> int | None:
        """Return what was heard last while calls were still being ended; None for nothing."""
        closing = self._recording.closing
        heard = None
        for record in self._recording.records if closing else ():
            if closing is None or record.seq <= closing.seq:
                continue
            if record.type == EventType.ROBOT_ACTION_OUTCOME:
                break
            late_ns = record.payload.get('monotonic_ns', 0) - closing.payload['monotonic_ns']
            if record.type == EventType.CONTROLLER_EVENT_RECEIVED and late_ns > TOGETHER_NS:
                heard = record.seq
        return heard

    def _follows_from_closing(self, record: RecordedEvent) -> bool:
        """Whether the closing of everything has brought this about."""
        closing = self._recording.closing
        ends = (EventType.HARNESS_STATE_CHANGED, EventType.MISSION_CANCEL_REQUESTED)
        return closing is not None and record.seq > closing.seq and record.type in ends

    def _deed(self, record: RecordedEvent) -> Callable[[], None] | None:
        """Return what to do again; None for what the harness does by itself."""
        kind, payload = record.type, record.payload
        if kind == EventType.CONTROLLER_EVENT_RECEIVED:
            return self._heard(record)
        if kind == EventType.SERVICE_EVENT_RECEIVED and self._services is not None:
            if payload['event'] == 'presence':
                there = bool(payload['said']['reachable'])
                return partial(self._services.presence, payload['service'], there)
            return partial(self._services.answer_comes, str(record.tool_call_id))
        if kind == EventType.HARNESS_STATE_CHANGED:
            return self._state(payload)
        if kind == EventType.MODEL_RESPONSE_RECORDED:
            return None if self._model is None else self._model.answer_comes
        if kind == EventType.TOOL_CALL_RECORDED and record.turn_id is None:
            return partial(self._call, record)
        if kind == EventType.TOOL_CALL_WITHDRAWN:
            return partial(self._withdraw, record)
        if kind == EventType.MISSION_STARTED:
            return partial(self._start_mission, record)
        if kind == EventType.MISSION_CANCEL_REQUESTED:
            return partial(self._core.harness.cancel_mission, payload['reason'])
        if kind == EventType.SALIENT_EVENT and payload['kind'] not in MADE_BY_THE_HARNESS:
            return partial(self._notify, record)
        return None

    def _state(self, payload: dict[str, Any]) -> Callable[[], None] | None:
        state = payload['state']
        if state in ('active', 'inactive'):
            return partial(setattr, self._core.dispatcher, 'active', state == 'active')
        if state == 'reconfigured' and 'parameters' in payload['configuration']:
            return partial(self._retune, payload['configuration']['parameters'])
        if state == 'adopted':
            return self._adopt
        if state == 'recovering':
            return self._recover
        if state == 'closing':
            if self._heard_while_closing() is None:
                return partial(self._close, bool(payload['cancel_running']))
            return partial(self._end_calls, bool(payload['cancel_running']))
        return None

    # -- deeds -----------------------------------------------------------------------------------

    def _heard(self, record: RecordedEvent) -> Callable[[], None]:
        controller = self._controllers[record.payload['controller']]
        return partial(controller.say, controller_event(record.payload))

    def _call(self, record: RecordedEvent) -> None:
        call_id, payload = str(record.tool_call_id), record.payload
        if call_id in self._interests:
            return  # made already, since it was withdrawn or repeated before it was recorded
        first = self._recording.calls.get(str(payload.get('repeat_of')))
        if first is not None and first.seq > record.seq:
            self._call(first)
        interest = self._interests[call_id] = Interest()
        marks = payload.get('idempotency')
        context = CallContext(
            client=payload.get('client', {}),
            mission_id=record.mission_id,
            decision_snapshot_id=payload['decision_snapshot_id'],
            purpose=payload['purpose'],
            expected_outcome=payload['expected_outcome'],
            malformed=payload.get('malformed'),
            idempotency=RecordedKey(recorded=marks) if marks else None,
            interest=interest,
        )
        arguments = put_non_finite(payload['arguments'], payload.get('non_finite', []))
        self._spawn(self._called(call_id, payload['name'], arguments, context))

    async def _called(self, call_id: str, name: str, arguments: Any, context: CallContext) -> None:
        GIVEN_CALL.set(call_id)
        await self._core.dispatcher.call(name, arguments, context)

    def _withdraw(self, record: RecordedEvent) -> None:
        call_id = str(record.tool_call_id)
        call = self._recording.calls.get(call_id)
        if record.turn_id is not None or call is None:
            return  # the loop's own call: it follows from the mission's end
        if call_id not in self._interests:
            self._call(call)
        self._interests[call_id].leave()

    def _start_mission(self, record: RecordedEvent) -> None:
        self._spawn(self._mission(record.payload['instruction'], str(record.mission_id)))

    async def _mission(self, instruction: str, mission_id: str) -> None:
        try:
            await self._core.harness.run_mission(instruction, mission_id)
        except HarnessError as error:
            logger.warning('mission %s cannot be run again: %s', mission_id, error)

    def _notify(self, record: RecordedEvent) -> None:
        payload = record.payload
        salient = Salient(payload['kind'], payload['message'], payload.get('details', {}))
        taken = self._recording.snapshots.get(str(record.snapshot_id))
        self._core.harness.notify(salient, taken.snapshot if taken else None)

    def _adopt(self) -> None:
        self._left = adopt(self._core)

    def _recover(self) -> None:
        if self._left is not None:
            self._recovering = self._spawn(self._recovered(self._left))

    async def _recovered(self, left: LeftOpen) -> None:
        with contextlib.suppress(JournalUnavailableError):  # then nothing was taken on
            await recover(self._core, left)

    def _end_calls(self, cancel_running: bool) -> None:
        self._core.states.closing(cancel_running=cancel_running)
        self._spawn(self._core.dispatcher.close())

    def _close(self, cancel_running: bool) -> None:
        if self._recovering is not None:
            self._recovering.cancel()
        self._spawn(self._core.close(cancel_running=cancel_running))

    def _retune(self, changed: dict[str, Any]) -> None:
        kept = {name: value for name, value in changed.items() if name not in self._pinned}
        self._parameters = check_parameters({**self._parameters, **kept})
        retune(self._core, self._parameters, changed)

    def _write_places(self, places: dict[str, Any]) -> None:
        draft = self._places_file.with_suffix('.new')
        draft.write_text(yaml.safe_dump({'places': places}), encoding='utf-8')
        draft.replace(self._places_file)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self.over.done():
            self.over.set_exception(error)  # nothing in the core lets one out: a fault of ours


def _made_with(held: RecordedEvent, record: RecordedEvent) -> bool:
    """Whether a record is of what was held back, and may have been made with the one behind it.

    Feedback takes the place of what is held back of its own goal: somebody's look put that on
    record before. A call is on record before it looks.
    """
    if not held.payload.get('held') or record.type == EventType.TOOL_CALL_RECORDED:
        return False
    fed = record.payload.get('event') == 'feedback'
    return not (fed and _heard_of(held) == _heard_of(record))


def _heard_of(record: RecordedEvent) -> tuple[str, str | None]:
    """Return whose newest word alone is held back: a goal's feedback, or a controller's list."""
    return record.payload['controller'], record.payload['said'].get('goal_id')


def _is_verification(record: RecordedEvent) -> bool:
    return (
        record.type == EventType.WORLD_SNAPSHOT_CAPTURED
        and record.payload['reason'] == 'verification'
        and record.action_id is not None
    )
